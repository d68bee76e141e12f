/* test_engines.c - every engine against the twin, over random additions and removals.
 *
 * Law: after every few steps each table validates, and answers every kind of query as the twin does.
 */
#include "support.h"

static void add_one(twin *t, tm_table *table, dice *d, uint32_t interfaces) {
    static wire filter;
    uint32_t handle = 0;
    uint32_t interface = below(d, interfaces);
    random_filter(d, &filter);
    CHECK(tm_table_add(table, filter.bytes, filter.size, interface, &handle) == TM_OK, "add");
    twin_add(t, &filter, interface, handle);
}

static void remove_one(twin *t, tm_table *table, dice *d) {
    uint32_t place = twin_pick(t, d);
    CHECK(tm_table_remove(table, t->filters[place].handle) == TM_OK, "remove");
    twin_remove(t, place);
}

static void settle(tm_table *table) {
    uint64_t left = 1;
    while (left > 0) {
        CHECK(tm_table_settle(table, 10, &left) == TM_OK, "settle");
    }
}

static void match_some(const twin *t, tm_table *table, dice *d) {
    static wire message;
    for (int i = 0; i < 3; i++) {
        tm_attribute attributes[TM_ATTRIBUTES_MAX];
        size_t count = 0;
        size_t used = 0;
        random_message(d, &message);
        CHECK(tm_attributes_decode(message.bytes, message.size, attributes, &count, &used) == TM_OK, "decode");
        compare_all(t, table, d, attributes, count);
    }
}

static void check_stats(const twin *t, const tm_table *table) {
    tm_stats stats;
    uint64_t constraints = 0;
    tm_table_stats(table, &stats);
    for (uint32_t i = 0; i < TWIN_FILTERS_MAX; i++) {
        constraints += t->filters[i].bytes != NULL ? t->filters[i].parsed->count : 0;
    }
    CHECK(stats.filters == t->live, "%lu filters of %u", (unsigned long)stats.filters, t->live);
    CHECK(stats.constraints == constraints, "%lu constraints", (unsigned long)stats.constraints);
    CHECK(stats.tombstones == 0, "%lu tombstones", (unsigned long)stats.tombstones);
}

static void walk(uint32_t engine, uint64_t seed, uint32_t interfaces, uint32_t filters) {
    static twin t;
    dice d = {seed};
    t = (twin){0};
    tm_table *table = new_table(engine);
    for (uint32_t i = 0; i < interfaces; i += seed % 2 == 0 ? 1 : 2) { /* all, or every other one */
        t.clients[i] = true;
        CHECK(tm_table_set_interface(table, i, TM_INTERFACE_CLIENT) == TM_OK, "client %u", i);
    }
    for (uint32_t step = 0; step < 6 * filters; step++) {
        bool growing = step / filters % 2 == 0;
        if (t.live > 0 && (t.live >= filters || below(&d, 4) == 0) == growing) {
            remove_one(&t, table, &d);
        } else if (t.live < filters) {
            add_one(&t, table, &d, interfaces);
        }
        if (step % 5 == 0) {
            settle(table);
            check_valid(table);
            check_stats(&t, table);
            match_some(&t, table, &d);
        }
    }
    while (t.live > 0) {
        remove_one(&t, table, &d);
    }
    settle(table);
    check_valid(table);
    tm_table_free(table);
}

/* An engine may be named to walk only that one, and a seed to start from. */
int main(int argc, char **argv) {
    uint32_t first = argc > 1 ? (uint32_t)atoi(argv[1]) : 0;
    uint32_t last = argc > 1 ? first : engines() - 1;
    uint64_t start = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    uint64_t walks = argc > 3 ? strtoull(argv[3], NULL, 0) : 6;
    for (uint32_t engine = first; engine <= last; engine++) {
        for (uint64_t seed = start; seed < start + walks; seed++) {
            printf("engine %s seed %lu\n", tm_engine_name(engine), (unsigned long)seed);
            fflush(stdout);
            walk(engine, seed, 1 + (uint32_t)(seed * 7 % 20), 5 + (uint32_t)(seed * 31 % 80));
            walk(engine, seed, 2, 200);
            walk(engine, seed, TWIN_INTERFACES_MAX, 300);
        }
    }
    return 0;
}
