/* test_crowds.c - buckets that fill up are opened, and close again, against the twin.
 *
 * Law under test: filters of few names and few values crowd in every bucket that there is. At every moment no bucket
 * has more of them than need to stand there (the table validates), the answers are the twin's, and an addition that
 * runs out of memory, at any of its allocations, has not happened.
 */
#include <string.h>

#include "engines/onepath/placing/tidy.h"
#include "engines/onepath/placing/work.h"
#include "support.h"

#define STEPS 900
#define MESSAGES 4 /* looked at after each step of some */

static const char *const NAMES[] = {"a", "b", "ab", "price"};
static const char *const WORDS[] = {"x", "y", "xy"};

static tm_attribute attributes[TM_ATTRIBUTES_MAX];
static wire message;
static wire filter;

static void put_operand(dice *d, wire *out, bool is_text) {
    if (is_text || below(d, 2)) {
        const char *word = WORDS[below(d, 3)];
        put_string(out, word, (uint32_t)strlen(word));
    } else {
        below(d, 4) ? put_integer(out, below(d, 2)) : put_real(out, 0.5);
    }
}

static void put_test(dice *d, wire *out, const char *name) {
    static const uint8_t ops[] = {TM_OP_EQ, TM_OP_EQ, TM_OP_EQ, TM_OP_PREFIX, TM_OP_IN, TM_OP_NE, TM_OP_LE};
    uint8_t op = ops[below(d, sizeof ops)];
    uint32_t count = op == TM_OP_IN ? 2 : 1;
    put_array(out, 2 + count);
    put_string(out, name, (uint32_t)strlen(name));
    put_integer(out, op | (below(d, 12) == 0 ? TM_OP_NEGATED : 0));
    for (uint32_t i = 0; i < count; i++) {
        put_operand(d, out, op == TM_OP_PREFIX);
    }
}

static void crowd_filter(dice *d, wire *out) {
    uint32_t names = 1 + below(d, 15);
    out->size = 0;
    put_array(out, (uint32_t)__builtin_popcount(names));
    for (uint32_t i = 0; i < 4; i++) {
        if (names >> i & 1) {
            put_test(d, out, NAMES[i]);
        }
    }
}

static void crowd_message(dice *d, wire *out) {
    out->size = 0;
    put_map(out, 4);
    for (uint32_t i = 0; i < 4; i++) {
        put_string(out, NAMES[i], (uint32_t)strlen(NAMES[i]));
        put_operand(d, out, false);
    }
}

static void check_answers(const twin *t, tm_table *table, dice *d) {
    size_t count = 0;
    size_t used = 0;
    check_valid(table);
    for (int i = 0; i < MESSAGES; i++) {
        crowd_message(d, &message);
        CHECK(tm_attributes_decode(message.bytes, message.size, attributes, &count, &used) == TM_OK, "decode");
        compare_all(t, table, d, attributes, count);
    }
}

static void add(twin *t, tm_table *table, dice *d, bool fails) {
    uint32_t interface = below(d, TWIN_INTERFACES_MAX);
    uint32_t handle = 0;
    crowd_filter(d, &filter);
    for (uint64_t n = fails ? 1 : 0;; n++) {
        tm_table_fail_allocation(table, n);
        int result = tm_table_add(table, filter.bytes, filter.size, interface, &handle);
        tm_table_fail_allocation(table, 0);
        if (result == TM_OK) {
            break;
        }
        CHECK(fails && result == TM_NO_MEMORY, "allocation %lu: %d", (unsigned long)n, result);
        check_valid(table);
    }
    twin_add(t, &filter, interface, handle);
}

static void remove_one(twin *t, tm_table *table, dice *d) {
    uint32_t place = twin_pick(t, d);
    CHECK(tm_table_remove(table, t->filters[place].handle) == TM_OK, "remove");
    twin_remove(t, place);
    uint64_t left = 1;
    while (left > 0) {
        CHECK(tm_table_settle(table, 100, &left) == TM_OK, "settle");
    }
}

/* Fill, churn, and empty to the last filter. */
static void walk(uint32_t engine, uint64_t seed) {
    static twin t;
    dice d = {seed};
    tm_table *table = new_table(engine);
    t = (twin){0};
    for (int step = 0; step < STEPS; step++) {
        uint32_t wanted = step < STEPS / 2 ? TWIN_FILTERS_MAX - 1 : TWIN_FILTERS_MAX / 2;
        if (t.live > 0 && (t.live >= wanted || below(&d, 4) == 0)) {
            remove_one(&t, table, &d);
        } else {
            add(&t, table, &d, step % 3 == 0);
        }
        if (step % 16 == 0) {
            check_answers(&t, table, &d);
        }
    }
    while (t.live > 0) {
        remove_one(&t, table, &d);
        check_valid(table);
    }
    twin_clear(&t);
    tm_table_free(table);
}

/* Work past the bound is dropped, and what is left is done: here of handles that no filter has. */
static void test_work_is_bounded(void) {
    static onepath_record records[2 * ONEPATH_WORK_MAX];
    static tm_engine engine;
    engine.records = records;
    for (uint32_t handle = 0; handle < 2 * ONEPATH_WORK_MAX; handle++) {
        onepath_work_add(&engine, handle % 2 == 0 ? ONEPATH_GATHER : ONEPATH_SCATTER, handle);
    }
    CHECK(engine.work.count == ONEPATH_WORK_MAX, "%u items", engine.work.count);
    CHECK(engine.work.items[ONEPATH_WORK_MAX - 1].handle == ONEPATH_WORK_MAX - 1, "the first items changed");
    onepath_tidy(&engine);
    CHECK(engine.work.count == 0, "%u items are left", engine.work.count);
}

int main(void) {
    test_work_is_bounded();
    for (uint32_t engine = 0; engine < engines(); engine++) {
        for (uint64_t seed = 1; seed <= 4; seed++) {
            printf("engine %s seed %lu\n", tm_engine_name(engine), (unsigned long)seed);
            fflush(stdout);
            walk(engine, seed);
        }
    }
    return 0;
}
