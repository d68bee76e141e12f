/* test_interval.c - the engine `interval` in each of its forms: sets against a list of ids, tables against the twin
 * with every allocation failing in turn, and what is read off a structure about covering.
 *
 * Law: after every change the structures validate; an addition that fails has changed nothing; what a filter is said to
 * cover is what holds of every value that matters.
 */
#include "engines/interval/engine.h"
#include "engines/registry.h"
#include "support.h"

static uint32_t engine_number(void) {
    uint32_t engine = 0;
    while (strcmp(tm_engine_name(engine), "interval") != 0) {
        engine++;
    }
    return engine;
}

/* ---- sets ---- */

#define IDS_MAX 700U

static void check_set(const tm_interval_set *set, const bool *held, uint32_t count) {
    CHECK(set->count == count, "%u ids, not %u", set->count, count);
    for (uint32_t id = 0; id < IDS_MAX; id++) {
        CHECK(tm_set_has(set, id) == held[id], "id %u", id);
    }
}

/* Ids come and go; allocations fail now and then. */
static void walk_set(uint64_t seed, uint32_t dense_from, uint32_t grow, uint32_t spare) {
    static bool held[IDS_MAX];
    dice d = {seed};
    tm_memory memory = {.key = {1, 2, 3}};
    tm_interval_store store = {.memory = &memory, .grow = grow, .spare = spare};
    tm_interval_set set = {0};
    uint32_t count = 0;
    memset(held, 0, sizeof held);
    for (uint32_t step = 0; step < 6000; step++) {
        uint32_t id = below(&d, IDS_MAX);
        tm_density density = {dense_from, IDS_MAX};
        bool growing = step / 1000 % 2 == 0;
        memory.fail_in = below(&d, 5) == 0 ? 1 : 0;
        if (!held[id] && (growing || below(&d, 4) == 0)) {
            held[id] = tm_set_add(&set, &store, id, density);
            CHECK(held[id] || memory.fail_in == 0, "an id was refused without a reason");
            count += held[id];
        } else if (held[id] && (!growing || below(&d, 4) == 0)) {
            tm_set_remove(&set, &store, id, density);
            held[id] = false;
            count--;
        }
        memory.fail_in = 0;
        if (step % 50 == 0) {
            check_set(&set, held, count);
            CHECK(store.bytes == memory.bytes, "%lu bytes are counted", (unsigned long)store.bytes);
        }
    }
    tm_set_free(&set, &store);
    CHECK(memory.bytes == 0 && store.bytes == 0, "%lu bytes are left", (unsigned long)memory.bytes);
}

/* ---- tables ---- */

static wire filter;
static wire message;
static tm_attribute attributes[TM_ATTRIBUTES_MAX];

static void ask(const twin *t, tm_table *table, dice *d) {
    size_t count = 0;
    size_t used = 0;
    check_valid(table);
    random_message(d, &message);
    CHECK(tm_attributes_decode(message.bytes, message.size, attributes, &count, &used) == TM_OK, "decode");
    compare_all(t, table, d, attributes, count);
    tm_table_fail_allocation(table, 1 + below(d, 4)); /* a tree that cannot grow */
    compare_all(t, table, d, attributes, count);
    tm_table_fail_allocation(table, 0);
}

static void add_with_failures(twin *t, tm_table *table, dice *d) {
    uint32_t handle = 0;
    uint32_t interface = below(d, TWIN_INTERFACES_MAX);
    int result = TM_NO_MEMORY;
    random_filter(d, &filter);
    for (uint64_t n = 1; result != TM_OK; n++) {
        tm_table_fail_allocation(table, n);
        result = tm_table_add(table, filter.bytes, filter.size, interface, &handle);
        tm_table_fail_allocation(table, 0);
        CHECK(result == TM_OK || result == TM_NO_MEMORY, "allocation %lu: %d", (unsigned long)n, result);
        check_valid(table);
    }
    twin_add(t, &filter, interface, handle);
}

static void walk_table(uint64_t seed, const tm_option *named, size_t count) {
    static twin t;
    dice d = {seed};
    tm_table *table = NULL;
    tm_options options = {.named = named, .named_count = count};
    CHECK(tm_table_new(engine_number(), &options, &table) == TM_OK, "new");
    t = (twin){0};
    for (uint32_t step = 0; step < 400; step++) {
        uint64_t left = 0;
        bool growing = step / 100 % 2 == 0;
        if (t.live > 0 && (below(&d, 4) == 0) == growing) {
            uint32_t place = twin_pick(&t, &d);
            tm_table_fail_allocation(table, 1 + below(&d, 2));
            CHECK(tm_table_remove(table, t.filters[place].handle) == TM_OK, "remove");
            tm_table_fail_allocation(table, 0);
            twin_remove(&t, place);
        } else {
            add_with_failures(&t, table, &d);
        }
        if (step % 7 == 0) {
            CHECK(tm_table_settle(table, 1 + below(&d, 200), &left) == TM_OK && left == 0, "settle");
        }
        if (step % 4 == 0) {
            ask(&t, table, &d);
        }
    }
    twin_clear(&t);
    tm_table_free(table);
}

static void walk_tables(void) {
    for (uint64_t form = 0; form <= TM_FORM_WHOLE; form++) {
        for (uint64_t seed = 1; seed <= 3; seed++) {
            static const uint64_t dense_from[] = {0, 3125, 100001};
            tm_option named[] = {
                {"form", form},          {"dense_from", dense_from[seed - 1]}, {"reorder", seed % 3},
                {"partition", seed % 2}, {"grow_percent", 40 * (seed - 1)},    {"spare_percent", 50 * (seed - 1)},
                {"tree_bytes", 1 << 16}};
            printf("form %lu seed %lu\n", (unsigned long)form, (unsigned long)seed);
            fflush(stdout);
            walk_table(seed, named, sizeof named / sizeof *named);
        }
    }
}

/* ---- covering ---- */

enum { PROFILES = 40, VALUES = 14 }; /* values are halves, from -0.5 to 6; the last is none */

typedef struct profile {
    double low[2];
    double high[2];
    bool has[2];
} profile;

static bool wants(const profile *p, uint32_t axis, uint32_t value) {
    double number = value / 2.0 - 0.5;
    return !p->has[axis] || (value < VALUES && number >= p->low[axis] && number <= p->high[axis]);
}

static bool covers(const profile *a, const profile *b) {
    for (uint32_t axis = 0; axis < 2; axis++) {
        for (uint32_t value = 0; value <= VALUES; value++) {
            if (wants(b, axis, value) && !wants(a, axis, value)) {
                return false;
            }
        }
    }
    return true;
}

/* A profile, and its filter. */
static void draw_profile(dice *d, profile *p, wire *out) {
    static const char *const names[] = {"x", "y"};
    for (uint32_t axis = 0; axis < 2; axis++) {
        p->has[axis] = below(d, 4) != 0;
        p->low[axis] = below(d, 5);
        p->high[axis] = p->low[axis] + below(d, 3);
    }
    out->size = 0;
    put_array(out, (uint32_t)p->has[0] + p->has[1]);
    for (uint32_t axis = 0; axis < 2; axis++) {
        if (p->has[axis]) {
            put_array(out, 4);
            put_string(out, names[axis], 1);
            put_integer(out, TM_OP_BETWEEN);
            put_integer(out, (int64_t)p->low[axis]);
            put_integer(out, (int64_t)p->high[axis]);
        }
    }
}

static void check_covering(uint64_t seed, uint64_t dense_from) {
    static profile profiles[PROFILES];
    static wire filter;
    dice d = {seed};
    tm_table *table = NULL;
    tm_option named = {"dense_from", dense_from};
    tm_options options = {.named = &named, .named_count = 1};
    uint32_t handles[PROFILES];
    uint32_t told[PROFILES];
    size_t count = 0;
    CHECK(tm_table_new(engine_number(), &options, &table) == TM_OK, "new");
    for (uint32_t i = 0; i < PROFILES; i++) {
        draw_profile(&d, &profiles[i], &filter);
        CHECK(tm_table_add(table, filter.bytes, filter.size, i, &handles[i]) == TM_OK, "add");
    }
    for (uint32_t a = 0; a < PROFILES; a++) {
        tm_table_fail_allocation(table, 1);
        CHECK(tm_table_covered(table, handles[a], told, PROFILES, &count) == TM_NO_MEMORY, "without memory");
        tm_table_fail_allocation(table, 0);
        CHECK(tm_table_covered(table, handles[a], told, PROFILES, &count) == TM_OK, "covered");
        for (uint32_t b = 0; b < PROFILES; b++) {
            bool is_told = false;
            for (size_t i = 0; i < count; i++) {
                is_told |= told[i] == handles[b];
            }
            bool expected = a != b && covers(&profiles[a], &profiles[b]);
            CHECK(is_told == expected, "%u covers %u: %d", a, b, expected);
        }
    }
    CHECK(tm_table_remove(table, handles[0]) == TM_OK, "remove");
    CHECK(tm_table_covered(table, handles[0], told, PROFILES, &count) == TM_ABSENT,
          "a removed handle has covered filters");
    tm_table_free(table);
}

int main(void) {
    for (uint32_t seed = 1; seed <= 4; seed++) {
        walk_set(seed, seed % 2 == 0 ? TM_DENSE_WHOLE / 32 : TM_DENSE_WHOLE / 4, 25 * seed - 25, 30 * seed - 30);
    }
    walk_set(5, 0, 25, 25);
    walk_set(6, TM_DENSE_WHOLE + 1, 25, 25);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        check_covering(seed, seed % 3 == 0 ? 0 : TM_DENSE_WHOLE / 4);
    }
    walk_tables();
    return 0;
}
