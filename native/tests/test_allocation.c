/* test_allocation.c - an addition may fail at any of its allocations, and then has not happened.
 *
 * Law: with the n-th allocation failing, for n = 1, 2, ... until the addition succeeds, the table validates, counts
 * what it counted and answers as the twin does; a limit on memory is checked in the same way.
 */
#include "support.h"

static tm_attribute attributes[TM_ATTRIBUTES_MAX];
static wire message;
static wire filter;

static void check_unchanged(const twin *t, tm_table *table, dice *d) {
    tm_stats stats;
    size_t count = 0;
    size_t used = 0;
    tm_table_stats(table, &stats);
    CHECK(stats.filters == t->live, "%lu filters of %u", (unsigned long)stats.filters, t->live);
    check_valid(table);
    random_message(d, &message);
    CHECK(tm_attributes_decode(message.bytes, message.size, attributes, &count, &used) == TM_OK, "decode");
    compare_all(t, table, d, attributes, count);
}

static void add_with_failures(twin *t, tm_table *table, dice *d, uint32_t interface) {
    uint32_t handle = 0;
    random_filter(d, &filter);
    for (uint64_t n = 1;; n++) {
        tm_table_fail_allocation(table, n);
        int result = tm_table_add(table, filter.bytes, filter.size, interface, &handle);
        tm_table_fail_allocation(table, 0);
        if (result == TM_OK) {
            break;
        }
        CHECK(result == TM_NO_MEMORY, "allocation %lu: %d", (unsigned long)n, result);
        check_unchanged(t, table, d);
    }
    twin_add(t, &filter, interface, handle);
    check_unchanged(t, table, d);
}

static void remove_with_failure(twin *t, tm_table *table, dice *d) {
    uint32_t place = twin_pick(t, d);
    tm_table_fail_allocation(table, 1 + below(d, 3));
    int result = tm_table_remove(table, t->filters[place].handle);
    tm_table_fail_allocation(table, 0);
    CHECK(result == TM_OK, "a removal needs no memory: %d", result);
    twin_remove(t, place);
    uint64_t left = 1;
    while (left > 0) {
        CHECK(tm_table_settle(table, 100, &left) == TM_OK, "settle");
    }
    check_unchanged(t, table, d);
}

static void fail_everywhere(uint32_t engine, uint64_t seed) {
    static twin t;
    dice d = {seed};
    tm_table *table = new_table(engine);
    t = (twin){0};
    for (int step = 0; step < 60; step++) {
        if (t.live > 10 && below(&d, 3) == 0) {
            remove_with_failure(&t, table, &d);
        } else {
            add_with_failures(&t, table, &d, below(&d, TWIN_INTERFACES_MAX));
        }
    }
    twin_clear(&t);
    tm_table_free(table);
}

/* How many links a query has is known only by the query: the one array a match may make longer is long enough now. */
static void reserve_links(tm_table *table) {
    uint32_t link = 0;
    uint32_t handle = 0;
    tm_query query = {.group_count = 256, .mode = TM_MATCH_WHICH};
    CHECK(tm_table_view(table, &link, 1, &query.view) == TM_OK, "view");
    tm_hits hits = {.groups = &link, .handles = &handle, .capacity = 1};
    CHECK(tm_table_match(table, NULL, 0, &query, &hits) == TM_OK, "match");
    CHECK(tm_table_drop_view(table, query.view) == TM_OK, "drop");
}

/* A table with a bound fills up, never passes it, and goes on to work. */
static void fill_up(uint32_t engine) {
    static twin t;
    dice d = {7};
    tm_table *table = NULL;
    tm_stats stats;
    tm_options options = {.memory_bytes_max = 200000};
    t = (twin){0};
    CHECK(tm_table_new(engine, &options, &table) == TM_OK, "new");
    uint32_t refused = 0;
    for (int step = 0; step < 3000 && t.live < TWIN_FILTERS_MAX; step++) {
        uint32_t handle = 0;
        random_filter(&d, &filter);
        int result = tm_table_add(table, filter.bytes, filter.size, 1, &handle);
        CHECK(result == TM_OK || result == TM_NO_MEMORY, "add: %d", result);
        refused += result == TM_NO_MEMORY;
        if (result == TM_OK) {
            twin_add(&t, &filter, 1, handle);
        }
        if (t.live == 1) {
            reserve_links(table);
        }
        tm_table_stats(table, &stats);
        CHECK(stats.memory_bytes <= options.memory_bytes_max, "%lu bytes", (unsigned long)stats.memory_bytes);
    }
    CHECK(refused > 0, "the memory limit was never reached");
    check_unchanged(&t, table, &d);
    twin_clear(&t);
    tm_table_free(table);
}

int main(int argc, char **argv) {
    uint32_t first = argc > 1 ? (uint32_t)atoi(argv[1]) : 0;
    uint32_t last = argc > 1 ? first : engines() - 1;
    for (uint32_t engine = first; engine <= last; engine++) {
        for (uint64_t seed = 1; seed <= 3; seed++) {
            printf("engine %s seed %lu\n", tm_engine_name(engine), (unsigned long)seed);
            fflush(stdout);
            fail_everywhere(engine, seed);
        }
        fill_up(engine);
    }
    return 0;
}
