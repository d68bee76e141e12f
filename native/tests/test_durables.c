/* test_durables.c - durable subscriptions through random histories: faulty disks, crashes, consumers that do anything.
 *
 *     run_test_durables [LIVES [SEED]]
 *
 * Law: as durables_world.h. If allocations fail, nothing breaks and no confirmed message is lost: now and then
 * an allocation of a step fails, and of one short history each in turn.
 */
#include "durables_world.h"

#include <string.h>

#include "durables_lives.h"
#include "log/log.h"
#include "switch/state.h"

#define STEPS 400
#define SHORT_STEPS 60
#define DAMAGED_LIVES 4
#define KINDS DURABLES_ALL_KINDS

/* Lives that have found a bug. */
static const struct {
    uint64_t seed;
    starved starved;
    bool is_slow;
    bool is_damaging;
} FOUND[] = {
    {582, .starved = STARVED_NOBODY}, /* a last batch that failed at its second write was reported as damage */
    {1745, .starved = STARVED_NOBODY},
    {479, .is_slow = true}, /* a full log stayed full: its reserve was used up by crashes */
    {818, .is_slow = true},
    {2025, .is_slow = true},
    {2336, .is_slow = true},
    {545, .is_slow = true}, /* publishers waited for room that no copy could make */
    {1689, .is_slow = true},
    {2078, .is_slow = true},
    {3476, .is_slow = true}, /* segments that were almost half open were copied without end */
    {1375, .is_slow = true},
    {3467, .is_slow = true},     /* batches of deleted segments were missed in the segment before them */
    {3392, .is_damaging = true}, /* a head that was damaged hid that copies were lost */
    {2210, .is_damaging = true}, /* copies that were lost in a life were not reported in the next */
    {5026, .is_damaging = true},
    {338, .starved = STARVED_LOG}, /* the judge: messages that were skipped, but not recorded, are skipped again */
};

static durables_world w;

static void live(uint64_t seed, durables_world of) {
    bool is_hostile = of.is_hostile;
    printf("seed %lu, starved %u%s%s%s\n", (unsigned long)seed, of.starved, is_hostile ? ", hostile" : "",
           of.is_slow ? ", slow" : "", of.is_damaging ? ", damaging" : "");
    fflush(stdout);
    w = of;
    w.kinds = KINDS;
    durables_begin(&w, seed);
    for (int i = 0; i < STEPS; i++) {
        durables_step(&w);
    }
    if (!is_hostile) {
        durables_settle(&w);
    }
    durables_end(&w);
}

/* Run a history in which only allocation `n` of one kind of memory fails. */
static void fail_one(uint64_t seed, starved starved, uint64_t n) {
    w = (durables_world){.starved = starved, .failing = n, .kinds = KINDS};
    durables_begin(&w, seed);
    for (int i = 0; i < SHORT_STEPS; i++) {
        durables_step(&w);
    }
    durables_settle(&w);
    durables_end(&w);
}

/* ---- an ACK without memory ---- */

static frame out;

static void feed(uint32_t connection) {
    const tm_event *events;
    size_t count;
    wire_store32(out.bytes, out.size);
    CHECK(tm_switch_feed(w.sw, connection, out.bytes, out.size, &events, &count) == TM_OK, "feed");
}

static void put_number(uint64_t number) {
    put_byte(&out, 0xcf);
    for (int shift = 56; shift >= 0; shift -= 8) {
        put_byte(&out, (unsigned)(number >> shift & 0xff));
    }
}

static void acknowledge(uint32_t connection, uint32_t consumer, uint64_t n, uint32_t request) {
    begin(&out, WIRE_ACK);
    put_byte(&out, 0x98);
    put_byte(&out, WIRE_ACK_OF_DELIVER);
    put_number(request);
    put_byte(&out, 0x91);
    put_byte(&out, 0x92);
    put_number(n);
    put_number(n);
    put_byte(&out, 0x90);
    put_byte(&out, 0); /* done */
    put_number(consumer);
    put_byte(&out, 0);
    put_byte(&out, 0xa0);
    feed(connection);
}

static void commit(void) {
    const tm_event *events;
    size_t count;
    for (unsigned i = 0; i < 4; i++) {
        CHECK(tm_switch_poll(w.sw, 0, &events, &count) == TM_OK, "poll");
        CHECK(tm_switch_tick(w.sw, &events, &count) == TM_OK, "tick");
        tm_log_commit(w.log);
    }
}

/* Return the next frame of a kind to a connection; NULL if there is none. Borrowed until the next one. */
static const uint8_t *next_of(uint32_t connection, uint8_t kind) {
    static uint8_t copy[1 << 16];
    const uint8_t *bytes;
    size_t size;
    const uint8_t *found = NULL;
    while (tm_switch_output(w.sw, connection, &bytes, &size) == TM_OK && size > 0) {
        for (size_t at = 0; at < size; at += tm_load32(bytes + at)) {
            if (bytes[at + WIRE_KIND] == kind) {
                memcpy(copy, bytes + at, tm_load32(bytes + at));
                found = copy;
            }
        }
        CHECK(tm_switch_sent(w.sw, connection, size) == TM_OK, "sent");
    }
    return found;
}

/* Acknowledge without memory, then again with memory: a confirmed acknowledgement is on disk. */
static void what_is_confirmed_was_noted(void) {
    static const uint8_t attributes[] = {0x82, 0xa1, 'k', 0x01, 0xa1, 'v', 0x00};
    static wire message;
    uint32_t body[2] = {5, 1}; /* of messages with k = 1 */
    uint64_t catalog;
    uint32_t consumer = 1;
    w = (durables_world){.kinds = 0};
    durables_begin(&w, 1);
    CHECK(tm_durables_append(w.sw, RECORD_OF_DURABLE, (const uint8_t *)body, sizeof body, &catalog) == TM_OK,
          "the catalog differs");
    CHECK(durables_open(&w, body[0], body[1], 0) == TM_OK, "a durable subscription cannot be opened");
    commit();
    uint32_t connection = durables_connect(&w, 1001);
    CHECK(tm_durable_consume(w.sw, body[1], connection, consumer, 9, 0, false) == TM_OK, "attach");
    message.size = 0;
    for (size_t i = 0; i < sizeof attributes; i++) {
        message.bytes[message.size++] = attributes[i];
    }
    publish_frame(&out, PUBLISHER, 1, true, &message, 20);
    out.bytes[WIRE_FLAGS] |= WIRE_FLAG_DURABLE;
    feed(w.publisher);
    commit();
    const uint8_t *deliver = next_of(connection, WIRE_DELIVER);
    CHECK(deliver != NULL, "the message is not delivered");
    uint64_t n = tm_load64(deliver + WIRE_HEADER_BYTES + 12);
    tm_durables_fail_allocation(w.sw, 1);
    acknowledge(connection, consumer, n, 0);
    tm_durables_fail_allocation(w.sw, 0);
    acknowledge(connection, consumer, n, 7);
    commit();
    CHECK(next_of(connection, WIRE_ACK) != NULL, "the frame is not answered");
    uint64_t done;
    tm_log_range above[4];
    size_t ranges = tm_log_done_with(w.log, body[1] | DURABLE_UNACKED, 0, &done, above, 4);
    bool is_done = done >= n;
    for (size_t i = 0; i < ranges; i++) {
        is_done = is_done || (above[i].first <= n && above[i].last >= n);
    }
    CHECK(is_done, "a confirmed acknowledgement is open on disk");
    durables_end(&w);
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
    uint64_t unknowns = 0;
    uint64_t missed_told = 0;
    for (uint64_t seed = first; seed < first + lives; seed++) {
        for (starved starved = STARVED_NOBODY; starved <= STARVED_TABLE; starved++) {
            live(seed, (durables_world){.starved = starved});
            deliveries += w.deliveries;
            confirmed += w.confirmed;
            crashes += w.crashes;
            taken_over += w.taken_over;
            missed_told += w.missed_told;
        }
        live(seed, (durables_world){.is_hostile = true});
        live(seed, (durables_world){.is_slow = true});
        holds += w.holds;
        for (uint64_t i = 0; i < DAMAGED_LIVES; i++) {
            live(seed * DAMAGED_LIVES + i, (durables_world){.is_damaging = true});
            damages += w.damages;
            damaged += w.damaged;
            unknowns += w.unknowns;
        }
    }
    what_is_confirmed_was_noted();
    for (size_t i = 0; i < sizeof FOUND / sizeof *FOUND; i++) {
        durables_world of = {
            .starved = FOUND[i].starved, .is_slow = FOUND[i].is_slow, .is_damaging = FOUND[i].is_damaging};
        live(FOUND[i].seed, of);
    }
    for (starved starved = STARVED_DURABLES; starved <= STARVED_TABLE; starved++) {
        for (uint64_t n = 1; n <= 300; n += starved == STARVED_DURABLES ? 1 : 7) {
            fail_one(first, starved, n);
        }
    }
    CHECK(lives < 10 || (deliveries > 10 * lives && confirmed > 10 * lives && crashes > lives && taken_over > lives),
          "too few events happened");
    CHECK(lives < 10 || holds > lives, "no disk was ever slow");
    CHECK(lives < 10 || missed_told > lives, "no message of other routers was missed");
    CHECK(lives < 20 || (damages > lives && damaged > 0 && unknowns > 0),
          "no segment was damaged, or no damage lost a message");
    printf("%lu lives: %lu messages confirmed, %lu deliveries, %lu crashes; the disk was behind %lu times; %lu bits "
           "flipped, by which %lu messages were lost, and %lu unknown ranges reported; %lu more of other routers\n",
           (unsigned long)lives, (unsigned long)confirmed, (unsigned long)deliveries, (unsigned long)crashes,
           (unsigned long)holds, (unsigned long)damages, (unsigned long)damaged, (unsigned long)unknowns,
           (unsigned long)missed_told);
    return 0;
}
