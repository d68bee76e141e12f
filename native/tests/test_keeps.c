/* test_keeps.c - keeps of a switch through random histories: faulty disks, crashes, members that do anything.
 *
 *     run_test_keeps [LIVES [SEED]]
 *
 * Law: as keeps_world.h. With memory that fails, nothing breaks and nothing that was confirmed is lost: now and then an
 * allocation of a step fails, and of one short history each in turn.
 */
#include "keeps_world.h"

#define STEPS 400
#define SHORT_STEPS 60
#define DAMAGED_LIVES 4
#define KINDS KEEPS_ALL_KINDS

/* Lives that have found a fault: a last batch that came to no disk at its second try either was told as damage. */
static const uint64_t FOUND[] = {582, 1745};

static keeps_world w;

static void live(uint64_t seed, keeps_world of) {
    bool is_hostile = of.is_hostile;
    printf("seed %lu, starved %u%s%s%s\n", (unsigned long)seed, of.starved, is_hostile ? ", hostile" : "",
           of.is_slow ? ", slow" : "", of.is_damaging ? ", damaging" : "");
    fflush(stdout);
    w = of;
    w.kinds = KINDS;
    keeps_begin(&w, seed);
    for (int i = 0; i < STEPS; i++) {
        keeps_step(&w);
    }
    if (!is_hostile) {
        keeps_settle(&w);
    }
    keeps_end(&w);
}

/* A history in which allocation `n` of one kind of memory fails, and no other. */
static void fail_one(uint64_t seed, starved starved, uint64_t n) {
    w = (keeps_world){.starved = starved, .failing = n, .kinds = KINDS};
    keeps_begin(&w, seed);
    for (int i = 0; i < SHORT_STEPS; i++) {
        keeps_step(&w);
    }
    keeps_settle(&w);
    keeps_end(&w);
}

int main(int count, char **values) {
    uint64_t lives = count > 1 ? strtoull(values[1], NULL, 10) : 20;
    uint64_t first = count > 2 ? strtoull(values[2], NULL, 10) : 1;
    uint64_t deliveries = 0;
    uint64_t confirmed = 0;
    uint64_t crashes = 0;
    uint64_t taken_over = 0;
    uint64_t holds = 0;
    uint64_t damages = 0;
    uint64_t damaged = 0;
    uint64_t doubts = 0;
    uint64_t missed_told = 0;
    for (uint64_t seed = first; seed < first + lives; seed++) {
        for (starved starved = STARVED_NOBODY; starved <= STARVED_TABLE; starved++) {
            live(seed, (keeps_world){.starved = starved});
            deliveries += w.deliveries;
            confirmed += w.confirmed;
            crashes += w.crashes;
            taken_over += w.taken_over;
            missed_told += w.missed_told;
        }
        live(seed, (keeps_world){.is_hostile = true});
        live(seed, (keeps_world){.is_slow = true});
        holds += w.holds;
        for (uint64_t i = 0; i < DAMAGED_LIVES; i++) {
            live(seed * DAMAGED_LIVES + i, (keeps_world){.is_damaging = true});
            damages += w.damages;
            damaged += w.damaged;
            doubts += w.doubts;
        }
    }
    for (const uint64_t *seed = FOUND; seed < FOUND + sizeof FOUND / sizeof *FOUND; seed++) {
        live(*seed, (keeps_world){.starved = STARVED_NOBODY});
    }
    for (starved starved = STARVED_KEEPS; starved <= STARVED_TABLE; starved++) {
        for (uint64_t n = 1; n <= 300; n += starved == STARVED_KEEPS ? 1 : 7) {
            fail_one(first, starved, n);
        }
    }
    CHECK(lives < 10 || (deliveries > 10 * lives && confirmed > 10 * lives && crashes > lives && taken_over > lives),
          "nothing happened");
    CHECK(lives < 10 || holds > lives, "no disk was behind");
    CHECK(lives < 10 || missed_told > lives, "nothing was missed of other routers");
    CHECK(lives < 20 || (damages > lives && damaged > 0 && doubts > 0), "nothing was damaged, or nothing lost by it");
    printf("%lu lives: %lu messages confirmed, %lu deliveries, %lu crashes; the disk was behind %lu times; %lu bits "
           "flipped, by which %lu messages were lost, and %lu doubts told; %lu more of other routers\n",
           (unsigned long)lives, (unsigned long)confirmed, (unsigned long)deliveries, (unsigned long)crashes,
           (unsigned long)holds, (unsigned long)damages, (unsigned long)damaged, (unsigned long)doubts,
           (unsigned long)missed_told);
    return 0;
}
