/* test_interval.c - the engine `interval` in each of its forms: sets against a list of ids, tables against the twin
 * with every allocation failing in turn, and what is read off a structure about covering.
 *
 * Law: after every change the structures validate; an addition that fails has changed nothing; the answers about what
 * covers a filter and what it covers are those of every value that matters.
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

static const twin_filter *held_as(const twin *t, uint32_t handle) {
    for (uint32_t i = 0; i < TWIN_FILTERS_MAX; i++) {
        if (t->filters[i].bytes != NULL && t->filters[i].handle == handle) {
            return &t->filters[i];
        }
    }
    return NULL;
}

/* Ask what covers a random filter and what it covers; no message contradicts an answer. */
static void ask_covers(const twin *t, tm_table *table, dice *d) {
    static tm_filter parsed;
    static uint32_t found[2][TWIN_FILTERS_MAX];
    size_t counts[2];
    size_t count = 0;
    size_t used = 0;
    random_filter(d, &filter);
    guarded copy = guard(filter.bytes, filter.size);
    CHECK(tm_table_covering(table, copy.bytes, filter.size, found[0], TWIN_FILTERS_MAX, &counts[0]) == TM_OK,
          "covering");
    CHECK(tm_table_covered(table, copy.bytes, filter.size, found[1], TWIN_FILTERS_MAX, &counts[1]) == TM_OK, "covered");
    unguard(&copy);
    CHECK(tm_filter_parse(filter.bytes, filter.size, &parsed) == TM_OK, "parse");
    twin_filter asked = {.parsed = &parsed};
    for (uint32_t way = 0; way < 2; way++) {
        for (size_t i = 0; i < counts[way]; i++) {
            const twin_filter *held = held_as(t, found[way][i]);
            CHECK(held != NULL && tm_table_compares(table, held->handle), "an answer is no filter of a structure");
            for (uint32_t k = 0; k < 20; k++) {
                random_message(d, &message);
                CHECK(tm_attributes_decode(message.bytes, message.size, attributes, &count, &used) == TM_OK, "decode");
                const twin_filter *wide = way == 0 ? held : &asked;
                const twin_filter *narrow = way == 0 ? &asked : held;
                CHECK(!twin_matches(narrow, attributes, count) || twin_matches(wide, attributes, count),
                      "a message contradicts an answer");
            }
        }
    }
}

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
    ask_covers(t, table, d);
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

enum { PROFILES = 60, VALUES = 14 }; /* values are halves, from -0.5 to 6; the last is none */

typedef struct profile {
    double low[2];
    double high[2];
    bool has[2];
    uint32_t type; /* 0: any */
    wire filter;
    uint32_t handle;
    bool is_in;
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
    return a->type == 0 || a->type == b->type;
}

/* Draw a profile, and its filter. */
static void draw_profile(dice *d, profile *p) {
    static const char *const names[] = {"x", "y"};
    static const char *const types[] = {"", "room", "hall"};
    wire *out = &p->filter;
    for (uint32_t axis = 0; axis < 2; axis++) {
        p->has[axis] = below(d, 4) != 0;
        p->low[axis] = below(d, 5);
        p->high[axis] = p->low[axis] + below(d, 3);
    }
    p->type = below(d, 3);
    out->size = 0;
    put_array(out, (uint32_t)p->has[0] + p->has[1] + (p->type != 0));
    if (p->type != 0) {
        put_array(out, 3);
        put_string(out, TM_TYPE_NAME, TM_TYPE_NAME_LENGTH);
        put_integer(out, TM_OP_EQ);
        put_string(out, types[p->type], (uint32_t)strlen(types[p->type]));
    }
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

static bool is_among(const uint32_t *handles, size_t count, uint32_t handle) {
    for (size_t i = 0; i < count; i++) {
        if (handles[i] == handle) {
            return true;
        }
    }
    return false;
}

/* Compare both answers about a profile, which may be in the table or not, with all profiles of the table. */
static void compare_answers(tm_table *table, const profile *all, const profile *asked) {
    uint32_t above[PROFILES];
    uint32_t under[PROFILES];
    size_t above_count = 0;
    size_t under_count = 0;
    size_t none = 0;
    const wire *it = &asked->filter;
    CHECK(tm_table_covering(table, it->bytes, it->size, above, PROFILES, &above_count) == TM_OK, "covering");
    CHECK(tm_table_covered(table, it->bytes, it->size, under, PROFILES, &under_count) == TM_OK, "covered");
    size_t above_expected = 0;
    size_t under_expected = 0;
    for (uint32_t i = 0; i < PROFILES; i++) {
        bool is_above = all[i].is_in && covers(&all[i], asked);
        bool is_under = all[i].is_in && covers(asked, &all[i]);
        CHECK(!is_above || is_among(above, above_count, all[i].handle), "a covering filter is missing");
        CHECK(!is_under || is_among(under, under_count, all[i].handle), "a covered filter is missing");
        above_expected += is_above;
        under_expected += is_under;
    }
    CHECK(above_count == above_expected && under_count == under_expected, "there are other answers");
    CHECK(tm_table_covering(table, it->bytes, it->size, above, 1, &none) == TM_OK && none == (above_count > 0), "one");
    CHECK(tm_table_covered(table, it->bytes, it->size, under, 1, &none) == TM_OK && none == (under_count > 0), "one");
}

/* Profiles come and go; each time all are asked about. */
static void check_covering(uint64_t seed, uint64_t dense_from, uint64_t partition) {
    static profile all[PROFILES];
    dice d = {seed};
    tm_table *table = NULL;
    tm_option named[] = {{"dense_from", dense_from}, {"partition", partition}};
    tm_options options = {.named = named, .named_count = 2};
    CHECK(tm_table_new(engine_number(), &options, &table) == TM_OK, "new");
    memset(all, 0, sizeof all);
    for (uint32_t round = 0; round < 8; round++) {
        for (uint32_t i = 0; i < PROFILES; i++) {
            if (all[i].is_in && below(&d, 2) == 0) {
                CHECK(tm_table_remove(table, all[i].handle) == TM_OK, "remove");
                CHECK(!tm_table_compares(table, all[i].handle), "a removed filter is compared");
                all[i].is_in = false;
            } else if (!all[i].is_in) {
                draw_profile(&d, &all[i]);
                all[i].is_in = below(&d, 5) != 0;
            } else {
                continue;
            }
            const wire *it = &all[i].filter;
            CHECK(!all[i].is_in || tm_table_add(table, it->bytes, it->size, i, &all[i].handle) == TM_OK, "add");
            CHECK(!all[i].is_in || tm_table_compares(table, all[i].handle), "a profile is not in a structure");
        }
        for (uint32_t i = 0; i < PROFILES; i++) {
            compare_answers(table, all, &all[i]);
        }
    }
    tm_table_free(table);
}

/* Engines that do not compare, and filters that are none. */
static void check_refusals(void) {
    uint8_t bad = 0xc1;
    uint8_t everything = 0x90;
    uint32_t handle = 0;
    size_t count = 0;
    for (uint32_t engine = 0; tm_engine_name(engine) != NULL; engine++) {
        tm_table *table = NULL;
        tm_options options = {0};
        CHECK(tm_table_new(engine, &options, &table) == TM_OK, "new");
        bool compares = engine == engine_number();
        CHECK(tm_engine_compares(engine) == compares, "%s compares", tm_engine_name(engine));
        CHECK(tm_table_add(table, &everything, 1, 0, &handle) == TM_OK, "add");
        CHECK(tm_table_compares(table, handle) == compares && !tm_table_compares(table, handle + 1), "compares");
        int expected = compares ? TM_OK : TM_MISUSED;
        CHECK(tm_table_covering(table, &everything, 1, &handle, 1, &count) == expected && count == compares, "own");
        CHECK(tm_table_covered(table, &everything, 1, &handle, 0, &count) == expected && count == 0, "no room");
        expected = compares ? TM_MALFORMED : TM_MISUSED;
        CHECK(tm_table_covered(table, &bad, 1, &handle, 1, &count) == expected && count == 0, "malformed");
        tm_table_free(table);
    }
    CHECK(!tm_engine_compares(1000), "there is no such engine");
}

int main(void) {
    for (uint32_t seed = 1; seed <= 4; seed++) {
        walk_set(seed, seed % 2 == 0 ? TM_DENSE_WHOLE / 32 : TM_DENSE_WHOLE / 4, 25 * seed - 25, 30 * seed - 30);
    }
    walk_set(5, 0, 25, 25);
    walk_set(6, TM_DENSE_WHOLE + 1, 25, 25);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        check_covering(seed, seed % 3 == 0 ? 0 : TM_DENSE_WHOLE / 4, seed % 2);
    }
    check_refusals();
    walk_tables();
    return 0;
}
