/* test_publishers.c - what is remembered of publishers, beside lists that forget nothing; and publishes that wait. */
#include <string.h>

#include "frames.h"
#include "network/publishers.h"

#define STEPS 400U
#define HOUR UINT64_C(3600000000000)

#define MARK_STORED MARKS

/* Every counter of one publisher that was marked, or stored. */
typedef struct plain {
    uint64_t counters[MARKS + 1][STEPS];
    uint32_t counts[MARKS + 1];
} plain;

static bool plain_has(const plain *known, unsigned mark, uint64_t counter) {
    for (uint32_t i = 0; i < known->counts[mark]; i++) {
        if (known->counters[mark][i] == counter) {
            return true;
        }
    }
    return false;
}

static void plain_add(plain *known, unsigned mark, uint64_t counter) {
    known->counters[mark][known->counts[mark]++] = counter;
}

static tm_storage plain_stored(const plain *known, uint64_t counter) {
    return !plain_has(known, MARK_ENTERED, counter) ? STORED_UNKNOWN
           : plain_has(known, MARK_STORED, counter) ? STORED
                                                    : STORED_NOT;
}

/* One that entered is stored by a keep, or by none; of what came from another router before, it is forgotten that it
 * entered. */
static void take(dice *chance, tm_publishers *publishers, plain *known, uint64_t counter, bool was_delivered) {
    if (was_delivered && below(chance, 2) > 0) {
        tm_publishers_note_moved(publishers, 7, counter);
        return;
    }
    plain_add(known, MARK_ENTERED, counter);
    if (!was_delivered) {
        plain_add(known, MARK_DELIVERED, counter);
        if (below(chance, 2) > 0) {
            tm_publishers_note_stored(publishers, 7, counter);
            plain_add(known, MARK_STORED, counter);
        }
    }
}

/* One publisher in few runs, whose second tries are of lately: what is known is known exactly. */
static void walk(dice *chance, bool fails) {
    tm_memory memory = {0};
    tm_publishers publishers;
    static plain known;
    memset(&known, 0, sizeof known);
    uint64_t next[RUNS_MAX];
    uint32_t row = PUBLISHER_NONE;
    tm_publishers_init(&publishers, &memory, 3);
    for (uint32_t run = 0; run < RUNS_MAX; run++) {
        next[run] = UINT64_C(1000000000000000000) + HOUR * run;
    }
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t run = below(chance, RUNS_MAX);
        uint64_t counter = below(chance, 4) > 0 ? ++next[run] : next[run] - below(chance, 30);
        bool fresh = false;
        memory.fail_in = fails && below(chance, 3) == 0 ? 1 : 0;
        if (below(chance, 2) > 0) {
            if (tm_publishers_deliver(&publishers, 7, counter, &fresh)) {
                CHECK(fresh == !plain_has(&known, MARK_DELIVERED, counter), "step %u", step);
                plain_add(&known, MARK_DELIVERED, counter);
            }
        } else {
            bool entered = plain_has(&known, MARK_ENTERED, counter);
            bool delivered = plain_has(&known, MARK_DELIVERED, counter);
            tm_counter found = tm_publishers_enter(&publishers, 7, counter, UINT64_MAX, &row);
            CHECK(found == COUNTER_TOO_OLD || found == COUNTER_NO_MEMORY || (found == COUNTER_DUPLICATE) == entered,
                  "step %u: %d", step, (int)found);
            if (found == COUNTER_NEW || found == COUNTER_NEW_BUT_DELIVERED) {
                CHECK((found == COUNTER_NEW_BUT_DELIVERED) == delivered, "step %u", step);
                take(chance, &publishers, &known, counter, delivered);
            }
        }
        CHECK(tm_publishers_stored(&publishers, 7, counter) == plain_stored(&known, counter), "step %u", step);
        memory.fail_in = 0;
        CHECK(tm_publishers_are_sound(&publishers), "step %u", step);
    }
    tm_publishers_clear(&publishers);
    CHECK(memory.bytes == 0, "left %zu", (size_t)memory.bytes);
}

/* Any counters of any publishers, more than there is room for. */
static void wander(dice *chance) {
    tm_memory memory = {0};
    tm_publishers publishers;
    bool fresh;
    tm_publishers_init(&publishers, &memory, 3);
    for (uint32_t step = 0; step < 2000; step++) {
        uint64_t counter = below(chance, 2) > 0 ? roll(chance) : UINT64_MAX - below(chance, 5000);
        uint64_t number = 1 + below(chance, 5);
        CHECK(tm_publishers_deliver(&publishers, number, counter, &fresh), "memory");
        CHECK(tm_publishers_deliver(&publishers, number, counter, &fresh) && !fresh, "a repeated counter is fresh");
        CHECK(tm_publishers_newest(&publishers, number, UINT64_MAX) >= counter, "newest");
        CHECK(publishers.count <= 3 && tm_publishers_are_sound(&publishers), "step %u", step);
    }
    tm_publishers_clear(&publishers);
    CHECK(memory.bytes == 0, "left %zu", (size_t)memory.bytes);
}

/* ---- waiting ---- */

static void resume(tm_switch *sw) {
    const tm_event *events;
    size_t count;
    for (uint32_t left = 1; left > 0;) {
        CHECK(tm_switch_resume(sw, 1, &left, &events, &count) == TM_OK, "resume");
    }
}

/* A stream of publishes in any pieces, while the router is in step and not: each is taken once. */
static void wait_and_go_on(dice *chance) {
    tm_options table_options = {0};
    tm_switch_options options = {.number = 1,
                                 .epoch = 1,
                                 .connections_max = 2,
                                 .frame_bytes_max = 1 << 20,
                                 .greeting_bytes_max = 4096,
                                 .publishers_max = 2,
                                 .hop_limit = 3};
    tm_admission admission = {.number = 7,
                              .queue_bytes_max = 1 << 20,
                              .credit_bytes = 1 << 30,
                              .credit_frames = 1 << 20,
                              .frame_bytes_max = 1 << 20,
                              .policy = TM_SLOW_DROP_NEWEST,
                              .version = 2};
    tm_table *table;
    tm_switch *sw;
    uint32_t id;
    tm_switch_stats stats;
    const char *reason;
    CHECK(tm_table_new(TM_ENGINE_DEFAULT, &table_options, &table) == TM_OK, "table");
    CHECK(tm_switch_new(&options, table, &sw) == TM_OK, "switch");
    CHECK(tm_switch_open(sw, -1, &id) == TM_OK && tm_switch_admit(sw, id, &admission) == TM_OK, "client");
    static frame out;
    static wire message;
    message.size = 0;
    put_map(&message, 1);
    put_string(&message, "x", 1);
    put_integer(&message, 3);
    for (uint32_t counter = 1; counter <= 60; counter++) {
        const tm_event *events;
        size_t count;
        bool confirm = below(chance, 2) > 0;
        publish_frame(&out, 7, counter, confirm, &message, below(chance, 8) > 0 ? 9 : 80000);
        for (uint32_t at = 0; at < out.size;) {
            uint32_t piece = 1 + below(chance, below(chance, 2) > 0 ? 100 : 100000);
            piece = piece < out.size - at ? piece : out.size - at;
            CHECK(tm_switch_feed(sw, id, out.bytes + at, piece, &events, &count) == TM_OK, "feed");
            at += piece;
        }
        if (below(chance, 4) == 0) {
            CHECK(tm_switch_step(sw, below(chance, 2) > 0 ? TM_STEP_WAIT : TM_STEP_IN) == TM_OK, "step");
            resume(sw);
        }
        CHECK(tm_switch_validate(sw, &reason) == TM_OK, "%s", reason);
    }
    CHECK(tm_switch_step(sw, TM_STEP_IN) == TM_OK, "step");
    resume(sw);
    tm_switch_figures(sw, &stats);
    CHECK(stats.messages_in == 60 && stats.dropped[TM_DROP_UNMATCHED] == 60 && stats.faults == 0, "%llu accepted",
          (unsigned long long)stats.messages_in);
    tm_switch_free(sw);
    tm_table_free(table);
}

int main(void) {
    for (uint64_t seed = 1; seed <= 40; seed++) {
        dice chance = {seed};
        walk(&chance, seed % 2 == 0);
        wander(&chance);
        wait_and_go_on(&chance);
    }
    puts("40 lives of publishers");
    return 0;
}
