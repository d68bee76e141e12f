/* fuzz_filter.c - libFuzzer target: any bytes as a filter, then any as a message: [size of the filter, 2 bytes] filter
 * message.
 *
 * Law: every engine takes or refuses the filter alike, matches the message as the constraints themselves say, and is
 * what it was before once the filter is removed.
 */
#include <string.h>

#include "support.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static tm_table *tables[ENGINES_MAX];
static twin fixed[ENGINES_MAX]; /* filters that stay: what the fuzzed one shares its indexes with */

static void build(void) {
    static wire filter;
    for (uint32_t engine = 0; engine < engines(); engine++) {
        dice d = {5};
        tables[engine] = new_table(engine);
        for (uint32_t i = 0; i < 60; i++) {
            uint32_t handle = 0;
            random_filter(&d, &filter);
            CHECK(tm_table_add(tables[engine], filter.bytes, filter.size, i % 20, &handle) == TM_OK, "add");
            twin_add(&fixed[engine], &filter, i % 20, handle);
        }
    }
}

static void settle(tm_table *table) {
    for (uint64_t left = 1; left > 0;) {
        CHECK(tm_table_settle(table, 1000, &left) == TM_OK, "settle");
    }
}

static void compare(int engine, const tm_attribute *attributes, size_t count) {
    dice d = {count + 1};
    compare_all(&fixed[engine], tables[engine], &d, attributes, count);
}

/* Add, match, remove, match again. */
static void try_filter(int engine, const uint8_t *bytes, size_t size, const tm_attribute *attributes, size_t count) {
    static wire filter;
    uint32_t handle = 0;
    CHECK(tm_table_add(tables[engine], bytes, size, 21, &handle) == TM_OK, "engine %d refuses a filter", engine);
    memcpy(filter.bytes, bytes, size);
    filter.size = size;
    uint32_t place = 0;
    while (fixed[engine].filters[place].bytes != NULL) {
        place++;
    }
    twin_add(&fixed[engine], &filter, 21, handle);
    compare(engine, attributes, count);
    check_valid(tables[engine]);
    CHECK(tm_table_remove(tables[engine], handle) == TM_OK, "remove");
    twin_remove(&fixed[engine], place);
    settle(tables[engine]);
    compare(engine, attributes, count);
    check_valid(tables[engine]);
}

static void decode_or_empty(const uint8_t *bytes, size_t size, tm_attribute *attributes, size_t *count) {
    size_t used = 0;
    if (tm_attributes_decode(bytes, size, attributes, count, &used) != TM_OK) {
        *count = 0;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static tm_filter parsed;
    tm_attribute attributes[TM_ATTRIBUTES_MAX];
    size_t count = 0;
    if (size < 2 || size > sizeof(((wire *)NULL)->bytes)) {
        return 0;
    }
    if (tables[0] == NULL) {
        build();
    }
    size_t filter_size = (size_t)bytes[0] << 8 | bytes[1];
    filter_size = filter_size < size - 2 ? filter_size : size - 2;
    guarded filter = guard(bytes + 2, filter_size);
    guarded message = guard(bytes + 2 + filter_size, size - 2 - filter_size);
    decode_or_empty(message.bytes, size - 2 - filter_size, attributes, &count);
    int result = tm_filter_parse(filter.bytes, filter_size, &parsed);
    for (uint32_t engine = 0; engine < engines(); engine++) {
        uint32_t handle = 0;
        if (result == TM_OK) {
            try_filter(engine, filter.bytes, filter_size, attributes, count);
        } else {
            int refused = tm_table_add(tables[engine], filter.bytes, filter_size, 21, &handle);
            CHECK(refused == result, "engine %d: %d, not %d", engine, refused, result);
        }
    }
    unguard(&filter);
    unguard(&message);
    return 0;
}
