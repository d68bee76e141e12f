/* fuzz_covers.c - libFuzzer target: any bytes as two filters and a message: [size of the first, 2 bytes] [size of the
 * second, 2 bytes] first second message.
 *
 * Law: a message that satisfies the second filter satisfies the first if that is reported to cover it, by the judge or
 * by a table of an engine that compares; what is stored is found by both questions exactly where the judge affirms it,
 * among filters that were there before; and it leaves no trace. What a rule leaves of a filter are the messages of
 * both.
 */
#include <string.h>

#include "fuzz_world.h"

#define SIZE_BYTES 4U
#define OTHERS 40U
#define SEED 20

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static tm_cover *cover;

/* Filters of the tests' own small alphabets. */
static void begin(void) {
    static wire filter;
    dice d = {SEED};
    CHECK(tm_cover_new(0, SEED, &cover) == TM_OK, "new");
    for (uint32_t i = 0; i < OTHERS; i++) {
        uint32_t id = 0;
        random_filter(&d, &filter);
        int result = tm_cover_add(cover, filter.bytes, filter.size, &id);
        CHECK(result == TM_OK || result == TM_ABSENT, "add: %d", result);
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

/* Query with the filter `asked`, with another one stored under `id`. */
static void ask(const uint8_t *asked, size_t size, uint32_t id, bool is_covered_by, bool covers) {
    static uint32_t ids[TM_COVER_LOOKS];
    size_t count = 0;
    uint32_t own = 0;
    CHECK(tm_cover_covered(cover, asked, size, ids, TM_COVER_LOOKS, &count) == TM_OK, "covered");
    CHECK(has(ids, count, id) == covers, "wrong covered filters");
    CHECK(tm_cover_covering(cover, asked, size, ids, TM_COVER_LOOKS, &count) == TM_OK, "covering");
    bool is_found = has(ids, count, id);
    if (is_found != is_covered_by) {
        CHECK(!is_found && tm_cover_add(cover, asked, size, &own) == TM_ABSENT, "wrong covering filters");
    }
}

/* true if the message does not show that `wide` does not cover `narrow`. */
static bool may_cover(const twin_filter *wide, const twin_filter *narrow, const fuzz_message *message) {
    return !twin_matches(narrow, message->attributes, message->count) ||
           twin_matches(wide, message->attributes, message->count);
}

static const twin_filter *filter_of(const twin *t, const twin_filter *added, uint32_t handle) {
    for (uint32_t i = 0; i < FUZZ_FILTERS; i++) {
        if (t->filters[i].handle == handle) {
            return &t->filters[i];
        }
    }
    CHECK(added->handle == handle, "there is no filter %u", handle);
    return added;
}

/* Add a filter to a table that compares, and ask about another one. */
static void try_engine(uint32_t engine, fuzz_turn turn, const wire *added, const wire *asked,
                       const fuzz_message *message) {
    static tm_filter parsed[2];
    static uint32_t found[FUZZ_FILTERS + 1];
    tm_table *table = fuzz_table(engine, turn.variant);
    const twin *t = fuzz_twin(engine, turn.variant);
    twin_filter own = {.parsed = &parsed[0]};
    twin_filter other = {.parsed = &parsed[1]};
    CHECK(tm_filter_parse(added->bytes, added->size, own.parsed) == TM_OK, "parse");
    CHECK(tm_filter_parse(asked->bytes, asked->size, other.parsed) == TM_OK, "parse");
    CHECK(tm_table_add(table, added->bytes, added->size, FUZZ_NEW_INTERFACE, &own.handle) == TM_OK, "add");
    size_t count = 0;
    CHECK(tm_table_covering(table, asked->bytes, asked->size, found, FUZZ_FILTERS + 1, &count) == TM_OK, "covering");
    for (size_t i = 0; i < count; i++) {
        CHECK(may_cover(filter_of(t, &own, found[i]), &other, message), "contradicted: it does not cover");
    }
    CHECK(tm_table_covered(table, asked->bytes, asked->size, found, FUZZ_FILTERS + 1, &count) == TM_OK, "covered");
    for (size_t i = 0; i < count; i++) {
        CHECK(may_cover(&other, filter_of(t, &own, found[i]), message), "contradicted: it is not covered");
    }
    CHECK(tm_table_remove(table, own.handle) == TM_OK, "remove");
    for (uint64_t left = 1; left > 0;) {
        CHECK(tm_table_settle(table, 1000, &left) == TM_OK, "settle");
    }
    if (turn.is_thorough) {
        check_valid(table);
    }
}

static void try_engines(fuzz_turn turn, const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
                        const fuzz_message *message) {
    static wire wires[2];
    if (a_size > sizeof wires->bytes || b_size > sizeof wires->bytes) {
        return;
    }
    memcpy(wires[0].bytes, a, a_size);
    memcpy(wires[1].bytes, b, b_size);
    wires[0].size = a_size;
    wires[1].size = b_size;
    for (uint32_t engine = 0; engine < engines(); engine++) {
        if (tm_engine_compares(engine)) {
            try_engine(engine, turn, &wires[0], &wires[1], message);
            try_engine(engine, turn, &wires[1], &wires[0], message);
        }
    }
}

/* Check what a rule leaves of a filter by a message that satisfies both or not. */
static void try_left(const uint8_t *filter, size_t size, const uint8_t *rule, size_t rule_size, bool is_of_both,
                     bool is_of_filter, const fuzz_message *message) {
    static tm_filter parsed;
    static uint8_t out[TM_FILTER_BYTES_MAX];
    twin_filter both = {.parsed = &parsed};
    size_t out_size = 0;
    uint8_t left = tm_cover_left(cover, filter, size, rule, rule_size, out, &out_size);
    CHECK(left != TM_LEFT_NONE || !is_of_both, "a message satisfies both");
    CHECK(left != TM_LEFT_WHOLE || is_of_both == is_of_filter, "the rule does not cover the filter");
    if (left == TM_LEFT_PART) {
        CHECK(tm_filter_parse(out, out_size, &parsed) == TM_OK, "parse what is left");
        CHECK(twin_matches(&both, message->attributes, message->count) == is_of_both, "not the filter of both");
    }
}

/* false if they are not two filters. */
static bool try_pair(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, const fuzz_message *message) {
    static tm_filter parsed;
    bool forth = false;
    bool back = false;
    uint32_t id = 0;
    if (tm_cover_judge(cover, a, a_size, b, b_size, &forth) != TM_OK ||
        tm_cover_judge(cover, b, b_size, a, a_size, &back) != TM_OK) {
        return false;
    }
    twin_filter filter = {.parsed = &parsed};
    CHECK(tm_filter_parse(a, a_size, &parsed) == TM_OK, "parse");
    bool satisfies_a = twin_matches(&filter, message->attributes, message->count);
    CHECK(tm_filter_parse(b, b_size, &parsed) == TM_OK, "parse");
    bool satisfies_b = twin_matches(&filter, message->attributes, message->count);
    CHECK((!forth || !satisfies_b || satisfies_a) && (!back || !satisfies_a || satisfies_b), "contradicted");
    bool is_of_both = satisfies_a && satisfies_b;
    try_left(a, a_size, b, b_size, is_of_both, satisfies_a, message);
    try_left(b, b_size, a, a_size, is_of_both, satisfies_b, message);
    if (tm_cover_add(cover, a, a_size, &id) == TM_OK) {
        ask(b, b_size, id, forth, back);
        CHECK(tm_cover_remove(cover, id) == TM_OK, "remove");
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static fuzz_message message;
    if (cover == NULL) {
        begin();
    }
    if (size < SIZE_BYTES) {
        return 0;
    }
    size_t left = size - SIZE_BYTES;
    size_t a_size = (size_t)bytes[0] << 8 | bytes[1];
    a_size = a_size < left ? a_size : left;
    size_t b_size = (size_t)bytes[2] << 8 | bytes[3];
    b_size = b_size < left - a_size ? b_size : left - a_size;
    size_t rest_size = left - a_size - b_size;
    uint8_t *a = fuzz_copy(bytes + SIZE_BYTES, a_size);
    uint8_t *b = fuzz_copy(bytes + SIZE_BYTES + a_size, b_size);
    uint8_t *rest = fuzz_copy(bytes + SIZE_BYTES + a_size + b_size, rest_size);
    size_t used = 0;
    if (tm_attributes_decode(rest, rest_size, message.attributes, &message.count, &used) != TM_OK) {
        message.count = 0;
    }
    if (try_pair(a, a_size, b, b_size, &message)) {
        try_engines(fuzz_turn_of(bytes, size), a, a_size, b, b_size, &message);
    }
    free(a);
    free(b);
    free(rest);
    return 0;
}

size_t fuzz_drawn(dice *d, uint8_t *out, size_t capacity) {
    static wire filters[2];
    static wire message;
    random_filter(d, &filters[0]);
    random_filter(d, &filters[1]);
    random_message(d, &message);
    size_t size = SIZE_BYTES + filters[0].size + filters[1].size + message.size;
    if (size > capacity) {
        return 0;
    }
    for (unsigned i = 0; i < 2; i++) {
        out[2 * i] = (uint8_t)(filters[i].size >> 8);
        out[2 * i + 1] = (uint8_t)filters[i].size;
    }
    memcpy(out + SIZE_BYTES, filters[0].bytes, filters[0].size);
    memcpy(out + SIZE_BYTES + filters[0].size, filters[1].bytes, filters[1].size);
    memcpy(out + SIZE_BYTES + filters[0].size + filters[1].size, message.bytes, message.size);
    return size;
}
