/* fuzz_filter.c - libFuzzer target: any bytes as a filter, then any as a message: [size of the filter, 2 bytes] filter
 * message.
 *
 * Law: every engine takes or refuses the filter alike, matches the message as the constraints themselves say, and is
 * what it was before once the filter is removed.
 */
#include <string.h>

#include "fuzz_world.h"

#define SIZE_BYTES 2U

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void settle(tm_table *table) {
    for (uint64_t left = 1; left > 0;) {
        CHECK(tm_table_settle(table, 1000, &left) == TM_OK, "settle");
    }
}

/* Add, match, remove, match again. */
static void try_filter(uint32_t engine, fuzz_turn turn, const wire *filter, const fuzz_message *message,
                       const uint64_t with[2], const uint64_t without[2]) {
    tm_table *table = fuzz_table(engine, turn.variant);
    uint32_t handle = 0;
    int result = tm_table_add(table, filter->bytes, filter->size, FUZZ_NEW_INTERFACE, &handle);
    CHECK(result == TM_OK, "engine %s refuses a filter: %d", tm_engine_name(engine), result);
    if (turn.is_thorough) {
        twin_add(fuzz_twin(engine, turn.variant), filter, FUZZ_NEW_INTERFACE, handle);
    }
    fuzz_compare(engine, turn, message, with);
    CHECK(tm_table_remove(table, handle) == TM_OK, "remove");
    settle(table);
    if (turn.is_thorough) {
        twin_remove(fuzz_twin(engine, turn.variant), FUZZ_FILTERS);
    }
    fuzz_compare(engine, turn, message, without);
}

static void refuse_filter(uint32_t engine, fuzz_turn turn, const wire *filter, int expected) {
    uint32_t handle = 0;
    uint8_t *exact = fuzz_copy(filter->bytes, filter->size);
    int result = tm_table_add(fuzz_table(engine, turn.variant), exact, filter->size, FUZZ_NEW_INTERFACE, &handle);
    CHECK(result == expected, "engine %s: %d, not %d", tm_engine_name(engine), result, expected);
    free(exact);
}

static int parse(const wire *filter, twin_filter *out) {
    static tm_filter parsed;
    uint8_t *exact = fuzz_copy(filter->bytes, filter->size);
    int result = tm_filter_parse(exact, filter->size, &parsed);
    free(exact);
    *out = (twin_filter){.parsed = &parsed};
    return result == TM_OK ? tm_filter_parse(filter->bytes, filter->size, &parsed) : result;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static wire filter;
    static fuzz_message message;
    if (size < SIZE_BYTES || size > sizeof filter.bytes) {
        return 0;
    }
    size_t used = 0;
    size_t wanted = (size_t)bytes[0] << 8 | bytes[1];
    filter.size = wanted < size - SIZE_BYTES ? wanted : size - SIZE_BYTES;
    memcpy(filter.bytes, bytes + SIZE_BYTES, filter.size);
    size_t left = size - SIZE_BYTES - filter.size;
    uint8_t *rest = fuzz_copy(bytes + SIZE_BYTES + filter.size, left);
    if (tm_attributes_decode(rest, left, message.attributes, &message.count, &used) != TM_OK) {
        message.count = 0;
    }
    fuzz_turn turn = fuzz_turn_of(bytes, size);
    twin_filter added;
    int result = parse(&filter, &added);
    uint64_t with[2];
    uint64_t without[2];
    fuzz_expect(&message, without);
    memcpy(with, without, sizeof with);
    if (result == TM_OK && twin_matches(&added, message.attributes, message.count)) {
        with[FUZZ_NEW_INTERFACE / 64] |= (uint64_t)1 << FUZZ_NEW_INTERFACE % 64;
    }
    for (uint32_t engine = 0; engine < engines(); engine++) {
        if (result == TM_OK) {
            try_filter(engine, turn, &filter, &message, with, without);
        } else {
            refuse_filter(engine, turn, &filter, result);
        }
    }
    free(rest);
    return 0;
}

size_t fuzz_drawn(dice *d, uint8_t *out, size_t capacity) {
    static wire filter;
    static wire message;
    random_filter(d, &filter);
    random_message(d, &message);
    size_t size = SIZE_BYTES + filter.size + message.size;
    if (size > capacity) {
        return 0;
    }
    out[0] = (uint8_t)(filter.size >> 8);
    out[1] = (uint8_t)filter.size;
    memcpy(out + SIZE_BYTES, filter.bytes, filter.size);
    memcpy(out + SIZE_BYTES + filter.size, message.bytes, message.size);
    return size;
}
