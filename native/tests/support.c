/* support.c - see support.h. */
#define _DEFAULT_SOURCE
#include <string.h>
#include <sys/mman.h>

#include "support.h"

/* ---- randomness ---- */

uint64_t roll(dice *d) {
    uint64_t z = d->state += 0x9e3779b97f4a7c15U;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
}

uint32_t below(dice *d, uint32_t bound) {
    return (uint32_t)(roll(d) >> 33) % bound;
}

/* ---- bytes of the wire ---- */

static void put_big_endian(wire *out, uint8_t tag, uint64_t value, unsigned width) {
    out->bytes[out->size++] = tag;
    while (width > 0) {
        out->bytes[out->size++] = (uint8_t)(value >> 8 * --width);
    }
}

void put_array(wire *out, uint32_t count) {
    put_big_endian(out, 0xdc, count, 2);
}

void put_map(wire *out, uint32_t count) {
    put_big_endian(out, 0xde, count, 2);
}

void put_integer(wire *out, int64_t value) {
    put_big_endian(out, 0xd3, (uint64_t)value, 8);
}

void put_real(wire *out, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_big_endian(out, 0xcb, bits, 8);
}

void put_boolean(wire *out, bool value) {
    out->bytes[out->size++] = value ? 0xc3 : 0xc2;
}

void put_string(wire *out, const void *bytes, uint32_t length) {
    if (length < 32) {
        out->bytes[out->size++] = (uint8_t)(0xa0 | length);
    } else {
        unsigned width = length <= UINT8_MAX ? 1 : length <= UINT16_MAX ? 2 : 4;
        put_big_endian(out, (uint8_t)(0xd9 + width / 2), length, width);
    }
    if (length > 0) {
        memcpy(out->bytes + out->size, bytes, length);
    }
    out->size += length;
}

guarded guard(const void *bytes, size_t size) {
    size_t page = 4096;
    size_t room = (size + page - 1) / page * page + page;
    uint8_t *start = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(start != MAP_FAILED, "mmap");
    CHECK(mprotect(start + room - page, page, PROT_NONE) == 0, "mprotect");
    guarded copy = {start + room - page - size, start, room};
    if (size > 0) {
        memcpy(copy.bytes, bytes, size);
    }
    return copy;
}

void unguard(guarded *copy) {
    munmap(copy->mapping, copy->mapped);
}

/* ---- random content ---- */

static void put_name(dice *d, wire *out) {
    static const char *const names[] = {"a", "b", "ab", "price", "a-much-longer-name-than-the-others"};
    const char *name = names[below(d, sizeof names / sizeof *names)];
    put_string(out, name, (uint32_t)strlen(name));
}

/* Short words over two letters, sometimes with a long common beginning. */
static void put_word(dice *d, wire *out, uint32_t length_max) {
    char word[40];
    uint32_t length = below(d, length_max + 1);
    uint32_t start = 0;
    if (below(d, 6) == 0 && length_max > 3) {
        start = 9 + below(d, 3);
        memcpy(word, "aaaaaaaaabbb", 12);
    }
    for (uint32_t i = 0; i < length; i++) {
        word[start + i] = (char)('a' + below(d, 2));
    }
    put_string(out, word, start + length);
}

static void put_number(dice *d, wire *out) {
    static const double reals[] = {0.5,    -0.5,   1.5, -1e300, 1e300, 0x1p63, -0x1.8p63, 9007199254740992.0,
                                   5e-324, -5e-324};
    static const int64_t integers[] = {INT64_MIN, INT64_MAX, 9007199254740993, -1, INT64_MAX - 1};
    switch (below(d, 6)) {
    case 0:
        put_real(out, reals[below(d, sizeof reals / sizeof *reals)]);
        break;
    case 1:
        put_integer(out, integers[below(d, sizeof integers / sizeof *integers)]);
        break;
    default:
        put_integer(out, below(d, 6));
    }
}

static void put_value(dice *d, wire *out) {
    switch (below(d, 8)) {
    case 0:
        put_boolean(out, below(d, 2));
        break;
    case 1:
    case 2:
    case 3:
        put_number(d, out);
        break;
    default:
        put_word(d, out, 5);
    }
}

static void put_operands(dice *d, wire *out, uint8_t op) {
    if (op >= TM_OP_PREFIX) {
        put_word(d, out, 3);
    } else if (op >= TM_OP_BETWEEN && op <= TM_OP_LE) {
        below(d, 2) ? put_number(d, out) : put_word(d, out, 4);
    } else {
        put_value(d, out);
    }
}

static void put_between(dice *d, wire *out) {
    static const double steps[] = {-1e300, -0x1p63, -9007199254740994.0, -0.75,  -0.5, 0.0, 0.1, 0.5, 1.0, 1.5, 2.0,
                                   4.5,    0x1p31,  9007199254740992.0,  0x1p63, 1e300};
    uint32_t low = below(d, sizeof steps / sizeof *steps);
    switch (below(d, 4)) {
    case 0:
        put_integer(out, low);
        put_integer(out, low + below(d, 3));
        break;
    case 1:
        put_integer(out, 9007199254740991 + (int64_t)below(d, 2));
        put_integer(out, 9007199254740992 + (int64_t)below(d, 3));
        break;
    case 2:
        put_real(out, steps[low]);
        put_real(out, steps[low + below(d, sizeof steps / sizeof *steps - low)]);
        break;
    default:
        put_string(out, "ab", 1 + below(d, 2));
        put_string(out, "bba", 1 + below(d, 3));
    }
}

static void put_constraint(dice *d, wire *out) {
    uint8_t op = (uint8_t)below(d, TM_OP_CONTAINS + 1);
    uint32_t count = op == TM_OP_EXISTS ? 0 : op == TM_OP_BETWEEN ? 2 : op == TM_OP_IN ? 1 + below(d, 5) : 1;
    put_array(out, 2 + count);
    put_name(d, out);
    put_integer(out, op | (below(d, 5) == 0 ? TM_OP_NEGATED : 0));
    if (op == TM_OP_BETWEEN) {
        put_between(d, out);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        put_operands(d, out, op);
    }
}

void random_filter(dice *d, wire *out) {
    uint32_t count = below(d, 40) == 0 ? TM_CONSTRAINTS_MAX : below(d, 5);
    out->size = 0;
    put_array(out, count);
    for (uint32_t i = 0; i < count; i++) {
        put_constraint(d, out);
    }
}

void random_message(dice *d, wire *out) {
    random_values(d, below(d, RANDOM_SHAPES), out);
}

void random_values(dice *d, uint32_t present, wire *out) {
    static const char *const names[] = {"a", "b", "ab", "price", "a-much-longer-name-than-the-others", "unknown"};
    uint32_t count = (uint32_t)__builtin_popcount(present);
    out->size = 0;
    put_map(out, count);
    for (uint32_t i = 0; i < 6; i++) {
        if (present >> i & 1) {
            put_string(out, names[i], (uint32_t)strlen(names[i]));
            put_value(d, out);
        }
    }
}

/* ---- the twin ---- */

void twin_add(twin *t, const wire *filter, uint32_t interface, uint32_t handle) {
    uint32_t place = 0;
    while (t->filters[place].bytes != NULL) {
        place++;
    }
    twin_filter *kept = &t->filters[place];
    *kept = (twin_filter){.bytes = malloc(filter->size), .parsed = malloc(sizeof(tm_filter)), .interface = interface};
    CHECK(kept->bytes != NULL && kept->parsed != NULL, "out of memory");
    memcpy(kept->bytes, filter->bytes, filter->size);
    CHECK(tm_filter_parse(kept->bytes, filter->size, kept->parsed) == TM_OK, "a generated filter is refused");
    kept->handle = handle;
    t->live++;
}

void twin_remove(twin *t, uint32_t place) {
    free(t->filters[place].bytes);
    free(t->filters[place].parsed);
    t->filters[place] = (twin_filter){0};
    t->live--;
}

void twin_clear(twin *t) {
    for (uint32_t i = 0; i < TWIN_FILTERS_MAX; i++) {
        if (t->filters[i].bytes != NULL) {
            twin_remove(t, i);
        }
    }
}

uint32_t twin_pick(const twin *t, dice *d) {
    uint32_t place = below(d, TWIN_FILTERS_MAX);
    while (t->filters[place].bytes == NULL) {
        place = (place + 1) % TWIN_FILTERS_MAX;
    }
    return place;
}

static const tm_attribute *attribute_of(const tm_constraint *constraint, const tm_attribute *attributes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (attributes[i].name_length == constraint->name_length &&
            memcmp(attributes[i].name, constraint->name, constraint->name_length) == 0) {
            return &attributes[i];
        }
    }
    return NULL;
}

bool twin_matches(const twin_filter *filter, const tm_attribute *attributes, size_t count) {
    for (size_t i = 0; i < filter->parsed->count; i++) {
        const tm_constraint *constraint = &filter->parsed->constraints[i];
        if (!tm_constraint_holds(constraint, attribute_of(constraint, attributes, count))) {
            return false;
        }
    }
    return true;
}

/* ---- comparing ---- */

/* A query, and the grouping behind its view. */
typedef struct question {
    tm_query query;
    const uint32_t *grouping; /* NULL: none */
    uint32_t grouping_count;
} question;

/* What the twin says for one query: per link whether it matches, per filter whether a handle of it may be reported. */
typedef struct answer {
    bool links[256];
    bool filters[TWIN_FILTERS_MAX];
    size_t rows;
} answer;

static bool is_candidate(const question *asked, uint32_t link) {
    const tm_query *query = &asked->query;
    return link < query->group_count && (query->candidates == NULL || query->candidates[link / 64] >> link % 64 & 1);
}

/* The link of an interface, or UINT32_MAX for none. */
static uint32_t link_of(const question *asked, uint32_t interface) {
    if (asked->grouping == NULL || asked->query.mode == TM_MATCH_ALL) {
        return interface;
    }
    return interface < asked->grouping_count ? asked->grouping[interface] : UINT32_MAX;
}

static void ask_twin(const twin *t, const question *asked, const tm_attribute *attributes, size_t count, answer *out) {
    *out = (answer){0};
    for (uint32_t i = 0; i < TWIN_FILTERS_MAX; i++) {
        const twin_filter *filter = &t->filters[i];
        if (filter->bytes == NULL || !twin_matches(filter, attributes, count)) {
            continue;
        }
        uint32_t link = link_of(asked, filter->interface);
        if (link == UINT32_MAX || !is_candidate(asked, link) ||
            (asked->query.mode == TM_MATCH_ALL && !t->clients[filter->interface])) {
            continue;
        }
        out->rows += asked->query.mode == TM_MATCH_ALL || !out->links[link];
        out->links[link] = true;
        out->filters[i] = true;
    }
}

/* The twin's filter of that handle must match and stand for that link; each handle comes once. */
static void check_row(const twin *t, const question *asked, answer *expected, uint32_t link, uint32_t handle) {
    for (uint32_t i = 0; i < TWIN_FILTERS_MAX; i++) {
        if (t->filters[i].bytes != NULL && t->filters[i].handle == handle) {
            CHECK(expected->filters[i], "handle %u does not match or came twice", handle);
            CHECK(link_of(asked, t->filters[i].interface) == link, "handle %u is not of link %u", handle, link);
            expected->filters[i] = false;
            return;
        }
    }
    CHECK(false, "handle %u is not in use", handle);
}

static void compare_list(const twin *t, tm_table *table, const question *asked, const tm_attribute *attributes,
                         size_t count) {
    answer expected;
    uint32_t links[TWIN_FILTERS_MAX];
    uint32_t handles[TWIN_FILTERS_MAX];
    bool seen[256] = {false};
    tm_hits hits = {.groups = links, .capacity = TWIN_FILTERS_MAX};
    hits.handles = asked->query.mode == TM_MATCH_INTERFACES ? NULL : handles;
    ask_twin(t, asked, attributes, count, &expected);
    CHECK(tm_table_match(table, attributes, count, &asked->query, &hits) == TM_OK, "mode %u", asked->query.mode);
    for (size_t i = 0; i < hits.count; i++) {
        CHECK(links[i] < 256 && expected.links[links[i]], "link %u should not match (mode %u)", links[i],
              asked->query.mode);
        CHECK(asked->query.mode == TM_MATCH_ALL || !seen[links[i]], "link %u came twice", links[i]);
        seen[links[i]] = true;
        if (hits.handles != NULL) {
            check_row(t, asked, &expected, links[i], handles[i]);
        }
    }
    for (uint32_t link = 0; link < 256; link++) {
        CHECK(seen[link] == expected.links[link], "link %u is missing (mode %u)", link, asked->query.mode);
    }
    CHECK(hits.count == expected.rows, "%zu rows of %zu (mode %u)", hits.count, expected.rows, asked->query.mode);
}

static void compare_bits(const twin *t, tm_table *table, const question *asked, const tm_attribute *attributes,
                         size_t count) {
    answer expected;
    uint64_t bits[4] = {~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0};
    tm_hits hits = {.bits = bits};
    ask_twin(t, asked, attributes, count, &expected);
    CHECK(tm_table_match(table, attributes, count, &asked->query, &hits) == TM_OK, "bits");
    for (uint32_t link = 0; link < asked->query.group_count; link++) {
        CHECK((bits[link / 64] >> link % 64 & 1) == expected.links[link], "bit %u is wrong", link);
    }
}

/* Compare the rows and counts of up to `limit` filters of each link. */
static void compare_limited(const twin *t, tm_table *table, question asked, uint32_t limit,
                            const tm_attribute *attributes, size_t count) {
    answer expected;
    uint32_t links[TWIN_FILTERS_MAX];
    uint32_t handles[TWIN_FILTERS_MAX];
    uint32_t counts[TWIN_INTERFACES_MAX];
    uint32_t matching[TWIN_INTERFACES_MAX] = {0};
    uint32_t rows[TWIN_INTERFACES_MAX] = {0};
    tm_hits hits = {.groups = links, .handles = handles, .counts = counts, .capacity = TWIN_FILTERS_MAX};
    asked.query.mode = TM_MATCH_LIMITED;
    asked.query.limit = limit;
    ask_twin(t, &asked, attributes, count, &expected);
    for (uint32_t i = 0; i < TWIN_FILTERS_MAX; i++) {
        if (expected.filters[i]) {
            matching[link_of(&asked, t->filters[i].interface)]++;
        }
    }
    int result = tm_table_match(table, attributes, count, &asked.query, &hits);
    CHECK(result == TM_OK, "limited: %d", result);
    for (size_t i = 0; i < hits.count; i++) {
        check_row(t, &asked, &expected, links[i], handles[i]);
        rows[links[i]]++;
    }
    for (uint32_t link = 0; link < asked.query.group_count; link++) {
        CHECK(counts[link] == (matching[link] > limit ? limit + 1 : matching[link]), "link %u: %u of %u, limit %u",
              link, counts[link], matching[link], limit);
        CHECK(rows[link] == (matching[link] > limit ? limit : matching[link]), "link %u has %u rows", link, rows[link]);
    }
}

/* Compare the limited answers of an engine that has them. */
static void compare_some(const twin *t, tm_table *table, const question *asked, dice *d, const tm_attribute *attributes,
                         size_t count) {
    uint32_t counts[1];
    uint32_t row[1];
    tm_query query = {.mode = TM_MATCH_LIMITED, .limit = 1};
    tm_hits hits = {.groups = row, .handles = row, .counts = counts};
    int result = tm_table_match(table, NULL, 0, &query, &hits);
    CHECK(result == TM_OK || result == TM_MISUSED, "limited: %d", result);
    if (result == TM_OK && asked->query.group_count <= TWIN_INTERFACES_MAX) {
        compare_limited(t, table, *asked, 1 + below(d, 4), attributes, count);
    }
}

void compare_all(const twin *t, tm_table *table, dice *d, const tm_attribute *attributes, size_t count) {
    uint64_t candidates[4];
    for (unsigned i = 0; i < 4; i++) {
        candidates[i] = roll(d);
    }
    uint32_t grouping[TWIN_INTERFACES_MAX];
    question asked = {.query = {.group_count = TWIN_INTERFACES_MAX}};
    for (asked.query.mode = TM_MATCH_INTERFACES; asked.query.mode <= TM_MATCH_ALL; asked.query.mode++) {
        compare_list(t, table, &asked, attributes, count);
    }
    compare_some(t, table, &asked, d, attributes, count);
    asked.query.mode = below(d, 3);
    asked.query.candidates = candidates;
    asked.query.group_count = below(d, 200);
    compare_list(t, table, &asked, attributes, count);
    uint32_t groups = 1 + below(d, 8);
    for (uint32_t i = 0; i < TWIN_INTERFACES_MAX; i++) {
        grouping[i] = below(d, 10) == 0 ? 10000 : below(d, groups);
    }
    asked.grouping = grouping;
    asked.grouping_count = below(d, TWIN_INTERFACES_MAX + 1);
    asked.query.candidates = below(d, 2) ? candidates : NULL;
    asked.query.group_count = groups;
    int result = tm_table_view(table, grouping, asked.grouping_count, &asked.query.view);
    CHECK(result == TM_OK || result == TM_NO_MEMORY, "view: %d", result);
    if (result == TM_OK) { /* a table that is full has no room for one */
        compare_list(t, table, &asked, attributes, count);
        compare_some(t, table, &asked, d, attributes, count);
        asked.query.mode = TM_MATCH_INTERFACES;
        compare_bits(t, table, &asked, attributes, count);
        CHECK(tm_table_drop_view(table, asked.query.view) == TM_OK, "drop");
    }
}

/* ---- tables ---- */

void check_valid(const tm_table *table) {
    const char *reason = "";
    int result = tm_table_validate(table, &reason);
    CHECK(result == TM_OK, "%s", reason);
}

uint32_t engines(void) {
    uint32_t count = 0;
    while (tm_engine_name(count) != NULL) {
        count++;
    }
    CHECK(count <= ENGINES_MAX, "%u engines", count);
    return count;
}

/* Two spaces of values that random messages often have: of `a` and `b`, and of `price`. */
static void declare_spaces(tm_table *table) {
    static const char *const names[] = {"a", "b", "price"};
    for (uint32_t first = 0; first < 3; first += 2) {
        static wire space;
        space.size = 0;
        put_array(&space, first == 0 ? 2 : 1);
        for (uint32_t i = first; i < (first == 0 ? 2U : 3U); i++) {
            put_array(&space, 6);
            put_string(&space, names[i], (uint32_t)strlen(names[i]));
            put_integer(&space, TM_OP_IN);
            put_boolean(&space, true);
            put_string(&space, "", 0);
            for (int64_t value = 0; value < 2; value++) {
                put_integer(&space, value);
            }
        }
        CHECK(tm_table_space(table, space.bytes, space.size) == TM_OK, "space");
    }
}

/* The first table of an engine has its options far from the standard, the second one as they are without being named,
 * the third one next to that, and so on. */
tm_table *new_table(uint32_t engine) {
    static uint32_t made[ENGINES_MAX];
    tm_table *table = NULL;
    uint32_t turn = made[engine]++ % 3;
    tm_option named[TM_ENGINE_OPTIONS_MAX];
    tm_options options = {.named = named};
    for (const tm_option_kind *kind; (kind = tm_engine_option(engine, (uint32_t)options.named_count)) != NULL;) {
        uint64_t far = kind->least + 3 < kind->most ? kind->least + 3 : kind->most;
        uint64_t next = kind->standard < kind->most ? kind->standard + 1 : kind->least;
        uint64_t values[] = {far, kind->standard, next};
        named[options.named_count++] = (tm_option){kind->name, values[turn]};
    }
    CHECK(tm_table_new(engine, &options, &table) == TM_OK, "engine %s", tm_engine_name(engine));
    declare_spaces(table);
    return table;
}
