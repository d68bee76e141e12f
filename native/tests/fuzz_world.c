/* fuzz_world.c - see fuzz_world.h. */
#include "fuzz_world.h"

#include <string.h>

#define VARIANTS 2U
#define THOROUGH_SHARE 256U

static tm_table *tables[ENGINES_MAX][VARIANTS];
static twin twins[ENGINES_MAX][VARIANTS];

fuzz_turn fuzz_turn_of(const uint8_t *bytes, size_t size) {
    uint64_t digest = size;
    for (size_t i = 0; i < size; i++) {
        digest = (digest ^ bytes[i]) * 0x100000001b3U;
    }
    digest ^= digest >> 32;
    return (fuzz_turn){.variant = digest % VARIANTS, .is_thorough = digest / VARIANTS % THOROUGH_SHARE == 0};
}

static void build(uint32_t engine, unsigned variant) {
    static wire filter;
    dice d = {5};
    tables[engine][variant] = new_table(engine); /* with other options first, then with the standard ones */
    for (uint32_t i = 0; i < FUZZ_FILTERS; i++) {
        uint32_t handle = 0;
        random_filter(&d, &filter);
        int result = tm_table_add(tables[engine][variant], filter.bytes, filter.size, i % FUZZ_INTERFACES, &handle);
        CHECK(result == TM_OK, "add: %d", result);
        twin_add(&twins[engine][variant], &filter, i % FUZZ_INTERFACES, handle);
    }
}

tm_table *fuzz_table(uint32_t engine, unsigned variant) {
    for (unsigned i = 0; i < VARIANTS && tables[engine][0] == NULL; i++) { /* both at once, always in this order */
        build(engine, VARIANTS - 1 - i);
    }
    return tables[engine][variant];
}

twin *fuzz_twin(uint32_t engine, unsigned variant) {
    (void)fuzz_table(engine, variant);
    return &twins[engine][variant];
}

void fuzz_expect(const fuzz_message *message, uint64_t expected[2]) {
    const twin *t = fuzz_twin(0, 0);
    expected[0] = expected[1] = 0;
    for (uint32_t i = 0; i < FUZZ_FILTERS; i++) { /* whatever is fuzzed stands behind them */
        const twin_filter *filter = &t->filters[i];
        if (twin_matches(filter, message->attributes, message->count)) {
            expected[filter->interface / 64] |= (uint64_t)1 << filter->interface % 64;
        }
    }
}

void fuzz_compare(uint32_t engine, fuzz_turn turn, const fuzz_message *message, const uint64_t expected[2]) {
    tm_table *table = fuzz_table(engine, turn.variant);
    uint64_t bits[2] = {0};
    tm_query query = {.group_count = TWIN_INTERFACES_MAX, .mode = TM_MATCH_INTERFACES};
    tm_hits hits = {.bits = bits, .capacity = TWIN_INTERFACES_MAX};
    int result = tm_table_match(table, message->attributes, message->count, &query, &hits);
    CHECK(result == TM_OK, "engine %s: match: %d", tm_engine_name(engine), result);
    CHECK(bits[0] == expected[0] && bits[1] == expected[1], "engine %s, variant %u: %llx, not %llx",
          tm_engine_name(engine), turn.variant, (unsigned long long)bits[0], (unsigned long long)expected[0]);
    if (turn.is_thorough) {
        dice d = {message->count + 1};
        compare_all(fuzz_twin(engine, turn.variant), table, &d, message->attributes, message->count);
        check_valid(table);
    }
}

uint8_t *fuzz_copy(const uint8_t *bytes, size_t size) {
    uint8_t *copy = malloc(size > 0 ? size : 1);
    CHECK(copy != NULL, "out of memory");
    if (size > 0) {
        memcpy(copy, bytes, size);
    }
    return copy;
}
