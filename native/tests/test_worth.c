/* test_worth.c - sets are written where they cost less, whatever things cost, and trying costs next to nothing. */
#include "switch/forwarding/worth.h"

#include "base/bits.h"
#include "support.h"

#define ROUTERS 40U
#define MESSAGES 40000U

/* What messages cost in a world, in nanoseconds. */
typedef struct costs {
    uint64_t links;
    uint64_t set;
    uint64_t onward;
    uint64_t inner; /* routers on the way */
} costs;

/* Numbers 2 to ROUTERS + 1, each behind the one before: this one is router 1. */
static void make_line(tm_worth *worth, tm_places *places, tm_memory *memory) {
    uint64_t numbers[ROUTERS];
    uint64_t before[ROUTERS];
    for (uint64_t i = 0; i < ROUTERS; i++) {
        numbers[i] = i + 2;
        before[i] = i + 1;
    }
    tm_worth_init(worth, memory);
    tm_places_init(places, memory);
    CHECK(tm_worth_set(worth, numbers, before, ROUTERS) == TM_OK, "a line");
    CHECK(tm_places_set(places, numbers, ROUTERS) == TM_OK, "places");
}

/* One in 500 takes twenty times as long, as where something else ran meanwhile. */
static uint64_t measured(dice *chance, uint64_t ns) {
    uint64_t around = ns - ns / 5 + below(chance, (uint32_t)(ns / 5 * 2 + 1));
    return below(chance, 500) == 0 ? around * 20 : around;
}

/* What all routers spend on so many messages, if each costs exactly what it does in `world`. */
static uint64_t spend(tm_worth *worth, const tm_places *places, dice *chance, const costs *world, uint32_t messages,
                      uint32_t *sets) {
    uint64_t members[1] = {0};
    uint64_t spent = 0;
    if (world->inner > 0) { /* the last router of the line that a message goes to */
        tm_bit_set(members, (uint32_t)world->inner - 1);
    }
    for (uint32_t i = 0; i < messages; i++) {
        tm_trial trial = tm_worth_next(worth);
        spent += trial.is_by_set ? world->set + world->inner * world->onward : world->links * (1 + world->inner);
        *sets += trial.is_by_set;
        if (trial.is_timed && trial.is_by_set) {
            uint64_t set = measured(chance, world->set);
            tm_worth_note_set(worth, set, measured(chance, world->onward), places, members);
        } else if (trial.is_timed) {
            tm_worth_note_links(worth, measured(chance, world->links));
        }
    }
    return spent;
}

static uint64_t least(const costs *world, uint32_t messages) {
    uint64_t by_links = world->links * (1 + world->inner);
    uint64_t by_set = world->set + world->inner * world->onward;
    return messages * (by_links < by_set ? by_links : by_set);
}

/* In a world, and then in another one: at most 3 % more than never, and 30 % more than the better of both ways. */
static void live(dice *chance) {
    tm_memory memory = {0};
    tm_worth worth;
    tm_places places;
    make_line(&worth, &places, &memory);
    for (int world = 0; world < 2; world++) {
        costs costs = {.links = 300 + below(chance, 4000)};
        costs.inner = below(chance, ROUTERS - 1);
        costs.onward = 200 + below(chance, 800);
        costs.set = costs.links + below(chance, 9000);
        uint32_t sets = 0;
        spend(&worth, &places, chance, &costs, MESSAGES, &sets); /* what it knows is of the world before */
        uint64_t spent = spend(&worth, &places, chance, &costs, MESSAGES, &sets);
        uint64_t never = costs.links * (1 + costs.inner) * MESSAGES;
        CHECK(spent * 100 <= never * 103,
              "world %d, links %llu, set %llu, onward %llu, inner %llu: %llu by links, %llu", world,
              (unsigned long long)costs.links, (unsigned long long)costs.set, (unsigned long long)costs.onward,
              (unsigned long long)costs.inner, (unsigned long long)never, (unsigned long long)spent);
        CHECK(spent * 100 <= least(&costs, MESSAGES) * 130,
              "world %d, links %llu, set %llu, onward %llu, inner %llu: %llu at best, %llu", world,
              (unsigned long long)costs.links, (unsigned long long)costs.set, (unsigned long long)costs.onward,
              (unsigned long long)costs.inner, (unsigned long long)least(&costs, MESSAGES), (unsigned long long)spent);
        CHECK(sets > 0 && sets < 2 * MESSAGES, "%u sets", sets);
    }
    tm_worth_clear(&worth);
    tm_places_clear(&places);
    CHECK(memory.bytes == 0, "%llu bytes are left", (unsigned long long)memory.bytes);
}

static void know_trees(void) {
    tm_memory memory = {0};
    tm_worth worth;
    const uint64_t star[] = {2, 3, 4};
    const uint64_t from_me[] = {1, 1, 1};
    const uint64_t wrong[] = {2, 2, 4};
    tm_worth_init(&worth, &memory);
    CHECK(tm_worth_next(&worth).is_by_set, "without a tree each message gets a set");
    CHECK(tm_worth_set(&worth, star, from_me, 3) == TM_OK, "a star");
    for (int i = 0; i < 1000; i++) {
        tm_trial trial = tm_worth_next(&worth);
        CHECK(!trial.is_by_set && !trial.is_timed, "a star has inner routers");
    }
    CHECK(tm_worth_set(&worth, wrong, from_me, 3) == TM_MISUSED, "no order");
    CHECK(tm_worth_next(&worth).is_by_set, "an invalid tree is used");
    memory.fail_in = 1;
    tm_worth_clear(&worth);
    CHECK(tm_worth_set(&worth, star, from_me, 3) == TM_NO_MEMORY, "no memory");
    CHECK(tm_worth_next(&worth).is_by_set, "a tree is used without memory");
    tm_worth_clear(&worth);
}

int main(void) {
    know_trees();
    for (uint64_t seed = 1; seed <= 200; seed++) {
        dice chance = {seed};
        live(&chance);
    }
    puts("200 worlds of costs, and as many after them");
    return 0;
}
