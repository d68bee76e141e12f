/* fuzz_spaces.c - libFuzzer target: any bytes as a space, a filter and a message, for engines that factor:
 * [options, 1 byte] [size of the space, 2 bytes] [size of the filter, 2 bytes] space filter message.
 *
 * Law: whatever space a table has, it matches a message as the filters themselves say, in that space and outside of it,
 * with the filter and without it, and is valid.
 */
#include <string.h>

#include "fuzz_world.h"

#define HEAD_BYTES 5U
#define FACTORED_MAX 3U
#define HELD 24U /* filters that are always there */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static wire held[HELD];
static twin_filter twins[HELD]; /* their interfaces are their places; that of the fuzzed filter is HELD */

static void begin(void) {
    dice d = {7};
    for (uint32_t i = 0; i < HELD; i++) {
        random_filter(&d, &held[i]);
        twins[i].parsed = malloc(sizeof *twins[i].parsed);
        CHECK(twins[i].parsed != NULL, "out of memory");
        CHECK(tm_filter_parse(held[i].bytes, held[i].size, twins[i].parsed) == TM_OK, "parse");
    }
}

static bool factors(uint32_t engine) {
    const tm_option_kind *kind;
    for (uint32_t i = 0; (kind = tm_engine_option(engine, i)) != NULL; i++) {
        if (strcmp(kind->name, "factor") == 0) {
            return true;
        }
    }
    return false;
}

static void match(tm_table *table, const fuzz_message *message, uint64_t expected) {
    uint64_t bits = 0;
    tm_query query = {.group_count = HELD + 1, .mode = TM_MATCH_INTERFACES};
    tm_hits hits = {.bits = &bits, .capacity = HELD + 1};
    CHECK(tm_table_match(table, message->attributes, message->count, &query, &hits) == TM_OK, "match");
    CHECK(bits == expected, "%llx, not %llx", (unsigned long long)bits, (unsigned long long)expected);
    check_valid(table);
}

/* Declare the space, add all filters, and remove the fuzzed one and every third other one. */
static void try_engine(uint32_t engine, uint8_t chosen, const uint8_t *space, size_t space_size, const uint8_t *filter,
                       size_t filter_size, const fuzz_message *message) {
    static tm_filter parsed;
    twin_filter fuzzed = {.parsed = &parsed};
    tm_table *table = NULL;
    tm_option named = {"factor", chosen % (FACTORED_MAX + 1)};
    tm_options options = {.hash_seed = 1, .named = &named, .named_count = 1};
    uint32_t handles[HELD];
    uint64_t expected = 0;
    uint64_t left = 1;
    CHECK(tm_table_new(engine, &options, &table) == TM_OK, "new");
    int sound = tm_filter_parse(space, space_size, &parsed);
    for (unsigned times = 1 + (chosen >> 7); times > 0; times--) {
        CHECK(tm_table_space(table, space, space_size) == sound, "a space is taken as a filter is");
    }
    for (uint32_t i = 0; i < HELD; i++) {
        CHECK(tm_table_add(table, held[i].bytes, held[i].size, i, &handles[i]) == TM_OK, "add");
        expected |= (uint64_t)twin_matches(&twins[i], message->attributes, message->count) << i;
    }
    sound = tm_filter_parse(filter, filter_size, &parsed);
    uint64_t own = 0;
    CHECK(tm_table_add(table, filter, filter_size, HELD, &fuzzed.handle) == sound, "a filter is taken alike");
    if (sound == TM_OK) {
        own = (uint64_t)twin_matches(&fuzzed, message->attributes, message->count) << HELD;
        match(table, message, expected | own);
        CHECK(tm_table_remove(table, fuzzed.handle) == TM_OK, "remove");
    }
    match(table, message, expected);
    for (uint32_t i = 0; i < HELD; i += 3) {
        CHECK(tm_table_remove(table, handles[i]) == TM_OK, "remove");
        expected &= ~((uint64_t)1 << i);
    }
    while (left > 0) {
        CHECK(tm_table_settle(table, 1000, &left) == TM_OK, "settle");
    }
    match(table, message, expected);
    tm_table_free(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static fuzz_message message;
    if (twins[0].parsed == NULL) {
        begin();
    }
    if (size < HEAD_BYTES) {
        return 0;
    }
    size_t left = size - HEAD_BYTES;
    size_t space_size = (size_t)bytes[1] << 8 | bytes[2];
    space_size = space_size < left ? space_size : left;
    size_t filter_size = (size_t)bytes[3] << 8 | bytes[4];
    filter_size = filter_size < left - space_size ? filter_size : left - space_size;
    size_t rest_size = left - space_size - filter_size;
    uint8_t *space = fuzz_copy(bytes + HEAD_BYTES, space_size);
    uint8_t *filter = fuzz_copy(bytes + HEAD_BYTES + space_size, filter_size);
    uint8_t *rest = fuzz_copy(bytes + HEAD_BYTES + space_size + filter_size, rest_size);
    size_t used = 0;
    if (tm_attributes_decode(rest, rest_size, message.attributes, &message.count, &used) != TM_OK) {
        message.count = 0;
    }
    for (uint32_t engine = 0; engine < engines(); engine++) {
        if (factors(engine)) {
            try_engine(engine, bytes[0], space, space_size, filter, filter_size, &message);
        }
    }
    free(space);
    free(filter);
    free(rest);
    return 0;
}

/* Lists of values that random messages have, of some names. */
static void draw_space(dice *d, wire *out) {
    static const char *const names[] = {"a", "b", "ab", "price"};
    uint32_t chosen = 1 + below(d, 15);
    out->size = 0;
    put_array(out, (uint32_t)__builtin_popcount(chosen));
    for (uint32_t i = 0; i < 4; i++) {
        if (chosen >> i & 1) {
            uint32_t numbers = below(d, 12);
            put_array(out, 4 + numbers);
            put_string(out, names[i], (uint32_t)strlen(names[i]));
            put_integer(out, TM_OP_IN);
            put_boolean(out, true);
            put_string(out, "", 0);
            for (uint32_t value = 0; value < numbers; value++) {
                put_integer(out, value);
            }
        }
    }
}

size_t fuzz_drawn(dice *d, uint8_t *out, size_t capacity) {
    static wire parts[3];
    draw_space(d, &parts[0]);
    random_filter(d, &parts[1]);
    random_message(d, &parts[2]);
    size_t size = HEAD_BYTES + parts[0].size + parts[1].size + parts[2].size;
    if (size > capacity) {
        return 0;
    }
    out[0] = (uint8_t)below(d, 256);
    size = HEAD_BYTES;
    for (unsigned i = 0; i < 3; i++) {
        if (i < 2) {
            out[1 + 2 * i] = (uint8_t)(parts[i].size >> 8);
            out[2 + 2 * i] = (uint8_t)parts[i].size;
        }
        memcpy(out + size, parts[i].bytes, parts[i].size);
        size += parts[i].size;
    }
    return size;
}
