/* test_small_plan.c - plans for few filters are compared with the filters asked one by one.
 *
 * Law: a plan comes once enough messages of one shape have been seen and answers as the filters do; it is gone with the
 * first change of either, and with many filters there is none.
 */
#include <string.h>

#include "support.h"
#include "switch/matching/small_plan.h"
#include "switch/subscribers/subscriptions.h"

#define SUBSCRIPTIONS 45 /* of one filter each */

typedef struct asked {
    bool live;
    wire *packed; /* owned */
    tm_filter *parsed;
} asked;

static tm_memory memory = {.key = {.low = 1, .high = 3, .factor = 5}};
static tm_table *table;
static tm_subscriptions subscriptions;
static tm_shape shape;
static tm_small_plan plan;
static asked filters[SUBSCRIPTIONS];
static uint32_t lists[SUBSCRIPTIONS];
static tm_attribute attributes[TM_ATTRIBUTES_MAX];
static tm_attribute all[TM_ATTRIBUTES_MAX];
static wire message;

static void change(dice *d, uint32_t id) {
    asked *at = &filters[id];
    if (at->live) {
        uint32_t row = tm_subscriptions_find(&subscriptions, id, id);
        CHECK(tm_subscriptions_end(&subscriptions, row, &lists[id]) == 1, "a subscription without its one filter");
        at->live = false;
        return;
    }
    uint32_t row;
    random_filter(d, at->packed);
    CHECK(tm_filter_parse(at->packed->bytes, at->packed->size, at->parsed) == TM_OK, "a generated filter");
    CHECK(tm_subscriptions_begin(&subscriptions, id, id, false, &lists[id], &row) == TM_OK, "begin");
    CHECK(tm_subscriptions_add(&subscriptions, row, at->packed->bytes, (uint32_t)at->packed->size) == TM_OK, "add");
    at->live = true;
}

/* What the switch does with a message; returns the attributes handed on. */
static size_t decode(void) {
    size_t count;
    const uint64_t unknown[SHAPE_TABLES] = {tm_table_unknown(table), SHAPE_NO_TABLE, SHAPE_NO_TABLE, SHAPE_NO_TABLE,
                                            SHAPE_NO_TABLE};
    memset(message.bytes + message.size, 0, TM_SHAPE_SLACK);
    if (unknown[0] != shape.unknown[0]) {
        tm_shape_want_all(&shape, unknown);
    }
    CHECK(tm_shape_decode(&shape, message.bytes, message.size, attributes, &count) == TM_OK, "decode");
    return count;
}

/* The table is asked where there is no plan, for what it remembers of names. */
static void ask_table(size_t count) {
    static uint32_t links[SUBSCRIPTIONS];
    static uint32_t handles[SUBSCRIPTIONS];
    tm_query query = {.group_count = SUBSCRIPTIONS, .mode = TM_MATCH_ALL, .memo = shape.memo[0]};
    tm_hits hits = {.groups = links, .handles = handles, .capacity = SUBSCRIPTIONS};
    CHECK(tm_table_match(table, attributes, count, &query, &hits) == TM_OK, "match");
    tm_shape_note_asked(&shape, 0);
    if (!shape.is_trimmed) {
        tm_shape_trim(&shape, NULL, NULL);
    }
}

static void ask_plan(void) {
    uint32_t interfaces[SMALL_PLAN_FILTERS_MAX];
    uint32_t handles[SMALL_PLAN_FILTERS_MAX];
    bool found[SUBSCRIPTIONS] = {false};
    tm_work work = {.steps_max = UINT64_MAX};
    size_t count = tm_small_plan_match(&plan, attributes, interfaces, handles, &work);
    for (size_t i = 0; i < count; i++) {
        uint32_t row = subscriptions.kept[handles[i]].subscription;
        CHECK(row != SUBSCRIPTION_NONE && subscriptions.rows[row].id == interfaces[i], "a row of another filter");
        CHECK(!found[interfaces[i]], "a filter is found twice");
        found[interfaces[i]] = true;
    }
    size_t all_count;
    size_t used;
    CHECK(tm_attributes_decode(message.bytes, message.size, all, &all_count, &used) == TM_OK, "decode");
    for (uint32_t id = 0; id < SUBSCRIPTIONS; id++) {
        twin_filter twin = {.parsed = filters[id].parsed};
        CHECK(found[id] == (filters[id].live && twin_matches(&twin, all, all_count)), "filter %u", id);
    }
}

/* Messages of one shape; returns how many a plan answered. */
static uint32_t look(dice *d, uint32_t present, uint32_t messages) {
    uint32_t planned = 0;
    for (uint32_t i = 0; i < messages; i++) {
        random_values(d, present, &message);
        size_t count = decode();
        if (tm_small_plan_is_ready(&plan, &subscriptions, &shape)) {
            CHECK(subscriptions.filters <= SMALL_PLAN_FILTERS_MAX, "a plan for %u filters", subscriptions.filters);
            ask_plan();
            planned++;
        } else {
            ask_table(count);
        }
    }
    return planned;
}

static void start(uint32_t engine) {
    table = new_table(engine);
    memset(&shape, 0, sizeof shape);
    memset(&plan, 0, sizeof plan);
    memset(filters, 0, sizeof filters);
    tm_subscriptions_init(&subscriptions, &memory, table);
    for (uint32_t id = 0; id < SUBSCRIPTIONS; id++) {
        lists[id] = SUBSCRIPTION_NONE;
        filters[id].packed = malloc(sizeof(wire));
        filters[id].parsed = malloc(sizeof(tm_filter));
        CHECK(filters[id].packed != NULL && filters[id].parsed != NULL, "out of memory");
        CHECK(tm_table_set_interface(table, id, TM_INTERFACE_CLIENT) == TM_OK, "a client");
    }
}

static void stop(void) {
    for (uint32_t id = 0; id < SUBSCRIPTIONS; id++) {
        free(filters[id].packed);
        free(filters[id].parsed);
    }
    tm_subscriptions_clear(&subscriptions);
    tm_table_free(table);
    CHECK(memory.bytes == 0, "%lu bytes are left", (unsigned long)memory.bytes);
}

static void live(uint32_t engine, uint64_t seed) {
    dice d = {seed};
    uint32_t planned = 0;
    start(engine);
    for (int i = 0; i < 300; i++) {
        for (uint32_t changes = below(&d, 4); changes > 0; changes--) {
            change(&d, below(&d, SUBSCRIPTIONS));
        }
        planned += look(&d, below(&d, RANDOM_SHAPES), 20 + SMALL_PLAN_FILTERS_MAX);
    }
    CHECK(planned > 1000, "only %u messages were answered by a plan", planned);
    for (uint32_t id = 0; id < SUBSCRIPTIONS; id++) {
        if (!filters[id].live) {
            change(&d, id);
        }
    }
    CHECK(look(&d, 3, 100) == 0, "there are too many filters for a plan");
    stop();
}

/* A plan that cannot be made is not tried again before something changes. */
static void without_memory(void) {
    dice d = {7};
    start(TM_ENGINE_DEFAULT);
    change(&d, 0);
    look(&d, 1, 2);
    memory.fail_in = 1;
    CHECK(look(&d, 1, 50) == 0 && memory.fail_in == 0, "no memory for a plan");
    CHECK(look(&d, 1, 50) == 0, "a plan is tried again without a change");
    change(&d, 1);
    CHECK(look(&d, 1, 50) > 0, "no plan after a change");
    stop();
}

int main(void) {
    for (uint32_t engine = 0; engine < engines(); engine++) {
        for (uint64_t seed = 1; seed <= 4; seed++) {
            live(engine, seed);
        }
    }
    without_memory();
    printf("plans for few filters answer as the filters do\n");
    return 0;
}
