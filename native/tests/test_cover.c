/* test_cover.c - what covers what, on random filters.
 *
 * Law: no message satisfies a filter but not one that is reported to cover it; both queries find exactly the stored
 * filters that the judge affirms; and an addition that fails at any of its allocations has not happened.
 */
#include <string.h>

#include "support.h"

#define STORED_MAX 120
#define ROUNDS 60
#define LEFT_ROUNDS 20000U
#define STEPS 120

typedef struct kept {
    uint8_t *bytes; /* owned; NULL when not in use */
    size_t size;
    uint32_t id;
} kept;

static kept all[STORED_MAX];
static wire filter;
static wire message;
static tm_filter wide;
static tm_filter narrow;
static tm_attribute attributes[TM_ATTRIBUTES_MAX];

static bool satisfies(const tm_filter *it, size_t count) {
    for (size_t i = 0; i < it->count; i++) {
        const tm_attribute *found = NULL;
        for (size_t k = 0; k < count; k++) {
            bool is_it = attributes[k].name_length == it->constraints[i].name_length &&
                         memcmp(attributes[k].name, it->constraints[i].name, attributes[k].name_length) == 0;
            found = is_it ? &attributes[k] : found;
        }
        if (!tm_constraint_holds(&it->constraints[i], found)) {
            return false;
        }
    }
    return true;
}

static bool judge(tm_cover *cover, const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size) {
    bool covers = false;
    guarded a_copy = guard(a, a_size);
    guarded b_copy = guard(b, b_size);
    CHECK(tm_cover_judge(cover, a_copy.bytes, a_size, b_copy.bytes, b_size, &covers) == TM_OK, "judge");
    unguard(&a_copy);
    unguard(&b_copy);
    return covers;
}

/* A few messages against one claim. */
static void unknown(dice *d, const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size) {
    CHECK(tm_filter_parse(a, a_size, &wide) == TM_OK && tm_filter_parse(b, b_size, &narrow) == TM_OK, "parse");
    for (int i = 0; i < 20; i++) {
        size_t count = 0;
        size_t used = 0;
        random_message(d, &message);
        CHECK(tm_attributes_decode(message.bytes, message.size, attributes, &count, &used) == TM_OK, "decode");
        CHECK(!satisfies(&narrow, count) || satisfies(&wide, count), "a message contradicts the claimed covering");
    }
}

static bool has(const uint32_t *ids, size_t count, uint32_t id) {
    for (size_t i = 0; i < count; i++) {
        if (ids[i] == id) {
            return true;
        }
    }
    return false;
}

static void ask(tm_cover *cover, dice *d, bool is_stored) {
    static uint32_t above[TM_COVER_LOOKS];
    static uint32_t below_it[TM_COVER_LOOKS];
    size_t above_count = 0;
    size_t below_count = 0;
    guarded asked = guard(filter.bytes, filter.size);
    CHECK(tm_cover_covering(cover, asked.bytes, filter.size, above, TM_COVER_LOOKS, &above_count) == TM_OK, "covering");
    CHECK(tm_cover_covered(cover, asked.bytes, filter.size, below_it, TM_COVER_LOOKS, &below_count) == TM_OK,
          "covered");
    unguard(&asked);
    for (uint32_t i = 0; i < STORED_MAX; i++) {
        if (all[i].bytes == NULL) {
            continue;
        }
        bool is_above = judge(cover, all[i].bytes, all[i].size, filter.bytes, filter.size);
        bool is_below = judge(cover, filter.bytes, filter.size, all[i].bytes, all[i].size);
        CHECK(has(below_it, below_count, all[i].id) == is_below, "the covered filters differ");
        CHECK(has(above, above_count, all[i].id) == (is_above && is_stored), "the covering filters differ");
        if (is_above) {
            unknown(d, all[i].bytes, all[i].size, filter.bytes, filter.size);
        }
    }
}

static void check_sound(tm_cover *cover, uint64_t count) {
    const char *reason = NULL;
    uint64_t filters = 0;
    uint64_t bytes = 0;
    CHECK(tm_cover_validate(cover, &reason) == TM_OK, "%s", reason);
    tm_cover_stats(cover, &filters, &bytes);
    CHECK(filters == count, "%lu filters of %lu", (unsigned long)filters, (unsigned long)count);
}

/* Add the filter, which may fail at each allocation; returns whether it is stored. */
static bool add(tm_cover *cover, uint64_t live, bool may_fail, uint32_t *id) {
    guarded copy = guard(filter.bytes, filter.size);
    int result = TM_NO_MEMORY;
    for (uint64_t n = 1; result == TM_NO_MEMORY; n++) {
        tm_cover_fail_allocation(cover, may_fail ? n : 0);
        result = tm_cover_add(cover, copy.bytes, filter.size, id);
        tm_cover_fail_allocation(cover, 0);
        if (result == TM_NO_MEMORY) {
            check_sound(cover, live);
        }
    }
    unguard(&copy);
    CHECK(result == TM_OK || result == TM_ABSENT, "add: %d", result);
    return result == TM_OK;
}

static void walk(uint64_t seed) {
    dice d = {seed};
    tm_cover *cover = NULL;
    uint64_t live = 0;
    CHECK(tm_cover_new(0, seed, &cover) == TM_OK, "new");
    for (int step = 0; step < STEPS; step++) {
        kept *place = &all[below(&d, STORED_MAX)];
        if (place->bytes != NULL) {
            CHECK(tm_cover_remove(cover, place->id) == TM_OK, "remove");
            CHECK(tm_cover_remove(cover, place->id) == TM_ABSENT, "twice");
            free(place->bytes);
            *place = (kept){0};
            live--;
            continue;
        }
        random_filter(&d, &filter);
        uint32_t id = 0;
        if (add(cover, live, step % 16 == 0, &id)) {
            ask(cover, &d, true);
            *place = (kept){malloc(filter.size), filter.size, id};
            CHECK(place->bytes != NULL, "malloc");
            memcpy(place->bytes, filter.bytes, filter.size);
            live++;
        } else {
            ask(cover, &d, false);
        }
    }
    check_sound(cover, live);
    for (uint32_t i = 0; i < STORED_MAX; i++) {
        free(all[i].bytes);
        all[i] = (kept){0};
    }
    tm_cover_free(cover);
}

/* What a rule leaves of a filter is covered by both. */
static void check_left(void) {
    static wire filter;
    static wire rule;
    static uint8_t out[TM_FILTER_BYTES_MAX];
    uint32_t seen[TM_LEFT_PART + 1] = {0};
    dice d = {1};
    tm_cover *cover = NULL;
    CHECK(tm_cover_new(0, 1, &cover) == TM_OK, "new");
    for (uint32_t i = 0; i < LEFT_ROUNDS; i++) {
        size_t size = 0;
        bool covers[2] = {false, false};
        random_filter(&d, &filter);
        random_filter(&d, &rule);
        uint8_t left = tm_cover_left(cover, filter.bytes, filter.size, rule.bytes, rule.size, out, &size);
        seen[left]++;
        if (left == TM_LEFT_PART) {
            CHECK(tm_cover_judge(cover, filter.bytes, filter.size, out, size, &covers[0]) == TM_OK && covers[0] &&
                      tm_cover_judge(cover, rule.bytes, rule.size, out, size, &covers[1]) == TM_OK && covers[1],
                  "what is left is not covered by both");
        }
    }
    CHECK(seen[TM_LEFT_UNKNOWN] > 0 && seen[TM_LEFT_NONE] > 0 && seen[TM_LEFT_WHOLE] > 0 && seen[TM_LEFT_PART] > 0,
          "a result never came");
    tm_cover_free(cover);
}

int main(void) {
    check_left();
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        walk(seed);
    }
    tm_cover *cover = NULL;
    uint32_t id = 0;
    uint8_t bad = 0xc1;
    CHECK(tm_cover_new(0, 1, &cover) == TM_OK, "new");
    CHECK(tm_cover_add(cover, &bad, 1, &id) == TM_MALFORMED, "malformed");
    tm_cover_free(cover);
    CHECK(tm_cover_new(1000, 1, &cover) == TM_NO_MEMORY, "bound");
    return 0;
}
