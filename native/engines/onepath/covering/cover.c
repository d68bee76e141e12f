/* cover.c - finds a simpler filter of a link that implies a filter of that link.
 *
 * Law: sound, not complete: a coverer implies the tests; only filters on one attribute are tried, as they are nearly
 * all of the gain (one `x < 99` of a link makes its every filter with x < 50 or x = 7 superfluous), and only for
 * interfaces that use cells. The cost does not depend on the number of filters.
 */
#include "engines/onepath/covering/cover.h"

#include "engines/onepath/paths/buckets.h"
#include "engines/onepath/records.h"
#include "engines/onepath/values/compile.h"
#include "engines/onepath/values/constants.h"
#include "engines/onepath/values/patterns_pass.h"

#define SINGLES_LOOKED_AT 64  /* of a bucket; those of interfaces with cells come first */
#define TEXT_PATTERNS_MAX 64U /* of a constant's patterns, those that are tried */

typedef struct search {
    tm_engine *engine;
    uint32_t interface;
    uint32_t except;
} search;

/* true if a filter may be the coverer. Tested last, as the record is far away. */
static bool is_usable(const search *s, uint32_t handle) {
    return handle != s->except && !onepath_is_tombstone(s->engine, handle);
}

static uint32_t find_in_bucket(const search *s, uint64_t key) {
    const onepath_slot *slot = onepath_buckets_find(&s->engine->buckets, key);
    if (slot == NULL) {
        return ONEPATH_NONE;
    }
    const onepath_single *singles = onepath_slot_singles(&s->engine->buckets, slot);
    for (ptrdiff_t i = 0; i < slot->single_count && i < SINGLES_LOOKED_AT; i++) {
        if (singles[-i].interface == s->interface && is_usable(s, singles[-i].handle)) {
            return singles[-i].handle;
        }
    }
    return ONEPATH_NONE;
}

static uint32_t find_in_cells(const search *s, const onepath_key *key, onepath_span span,
                              const onepath_strings *strings) {
    uint32_t at;
    uint32_t end;
    for (onepath_cells_spans(&key->cells, s->interface, &at, &end); at < end; at++) {
        const onepath_span *other = &key->cells.spans->rows[at];
        if (onepath_span_covers(*other, span, strings) && is_usable(s, other->handle)) {
            return other->handle;
        }
    }
    return ONEPATH_NONE;
}

/* Find a filter whose span contains a value of which only the label is known. */
static uint32_t find_at_label(const search *s, const onepath_key *key, int64_t label) {
    uint32_t at;
    uint32_t end;
    for (onepath_cells_spans(&key->cells, s->interface, &at, &end); at < end; at++) {
        const onepath_span *span = &key->cells.spans->rows[at];
        if (onepath_span_holds(*span, label, &s->engine->strings) && is_usable(s, span->handle)) {
            return span->handle;
        }
    }
    return ONEPATH_NONE;
}

static int64_t label_of_integer(const onepath_strings *numbers, int64_t integer) {
    uint8_t bytes[ONEPATH_NUMBER_BYTES];
    onepath_number_bytes(false, integer, 0, bytes);
    return onepath_strings_label(numbers, TM_NO_STRING, bytes, sizeof bytes);
}

/* Return the intersection of all ranges on the key of tests[i] that are ordered as it is. */
static onepath_span span_of_key(const search *s, const onepath_tests *tests, uint32_t i, unsigned kind) {
    const onepath_strings *order = onepath_order_of(s->engine, tests->tests[i]);
    onepath_span span;
    onepath_span_of(tests->tests[i], &span);
    for (uint32_t j = 0; j < tests->count; j++) {
        onepath_test test = tests->tests[j];
        onepath_span other;
        if (j != i && !onepath_test_negated(test) && onepath_test_name(test) == onepath_test_name(tests->tests[i]) &&
            onepath_span_of(test, &other) && onepath_kind_of(s->engine, test) == kind &&
            onepath_order_of(s->engine, test) == order) {
            onepath_span_intersect(&span, other, order);
        }
    }
    return span;
}

/* Return that range in codes where the bounds are wide: no narrower, as a code between two integers includes all values
 * between them. */
static onepath_span codes_of_key(const search *s, const onepath_tests *tests, uint32_t i) {
    onepath_tests codes = {.count = 0};
    for (uint32_t j = 0; j < tests->count; j++) {
        onepath_test test = tests->tests[j];
        unsigned op = onepath_test_op(test);
        if (onepath_op_is_wide(op) && !onepath_test_negated(test) &&
            onepath_test_name(test) == onepath_test_name(tests->tests[i])) {
            int64_t integer;
            double real;
            bool is_real = onepath_number_of_bytes(
                onepath_string_text(&s->engine->numbers.records[onepath_test_operand(test)]), &integer, &real);
            int32_t code = is_real ? onepath_code_of_real(real) : onepath_code_of_integer(integer);
            op = op >= ONEPATH_WIDE_GT ? ONEPATH_NUMBER_GE : ONEPATH_NUMBER_LE;
            codes.tests[codes.count++] = onepath_test_of(onepath_test_name(test), op, (uint32_t)code);
        }
    }
    return span_of_key(s, &codes, 0, ONEPATH_NUMBER);
}

/* Find a filter with wide bounds that covers a range of codes. */
static uint32_t find_in_wide_cells(const search *s, const onepath_key *key, onepath_span codes) {
    const onepath_strings *numbers = &s->engine->numbers;
    uint32_t at;
    uint32_t end;
    if (key->wide == NULL) {
        return ONEPATH_NONE;
    }
    int64_t low = label_of_integer(numbers, codes.no_low ? 0 : (codes.low - (codes.low & 1)) / 2);
    int64_t high = label_of_integer(numbers, codes.no_high ? 0 : ((int64_t)codes.high + (codes.high & 1)) / 2);
    for (onepath_cells_spans(&key->wide->cells, s->interface, &at, &end); at < end; at++) {
        const onepath_span *span = &key->wide->cells.spans->rows[at];
        bool reaches_low = codes.no_low ? span->no_low : onepath_span_holds(*span, low, numbers);
        bool reaches_high = codes.no_high ? span->no_high : onepath_span_holds(*span, high, numbers);
        if (reaches_low && reaches_high && is_usable(s, span->handle)) {
            return span->handle;
        }
    }
    return ONEPATH_NONE;
}

/* Find a pattern filter that every string satisfies which has this text as its prefix, suffix or substring (`kind`), or
 * equals it (kind 3). */
static uint32_t find_by_patterns(const search *s, uint32_t name, const uint8_t *text, uint32_t length, unsigned kind) {
    uint32_t found[TEXT_PATTERNS_MAX];
    tm_work work = {.steps_max = UINT64_MAX}; /* one short text */
    size_t count = onepath_patterns_find(&s->engine->patterns, text, length, found, TEXT_PATTERNS_MAX, &work);
    for (size_t i = 0; i < count && i < TEXT_PATTERNS_MAX; i++) {
        unsigned weaker = found[i] & 3;
        if (kind == 3 || weaker == kind || weaker == ONEPATH_CONTAINS) {
            uint32_t handle = find_in_bucket(s, onepath_bucket_key(ONEPATH_BY_PATTERN, name, found[i]));
            if (handle != ONEPATH_NONE) {
                return handle;
            }
        }
    }
    return ONEPATH_NONE;
}

static uint32_t find_for_string(const search *s, const onepath_key *key, onepath_test test) {
    uint32_t name = onepath_test_name(test);
    const onepath_string *string = &s->engine->strings.records[onepath_test_operand(test)];
    uint32_t handle = ONEPATH_NONE;
    if (key->equalities > 0) {
        handle = find_in_bucket(s, onepath_bucket_key(ONEPATH_BY_STRING, name, onepath_test_operand(test)));
    }
    if (handle == ONEPATH_NONE && onepath_cells_exist(&key->cells)) {
        handle = find_at_label(s, key,
                               onepath_strings_label(&s->engine->strings, onepath_test_operand(test),
                                                     onepath_string_text(string), string->length));
    }
    if (handle == ONEPATH_NONE && key->patterns > 0) {
        handle = find_by_patterns(s, name, onepath_string_text(string), string->length, 3);
    }
    return handle;
}

static uint32_t find_for_pattern(const search *s, onepath_test test) {
    uint8_t text[TM_PATTERN_BYTES_MAX];
    uint32_t length = onepath_patterns_text(&s->engine->patterns, onepath_test_operand(test), text);
    return find_by_patterns(s, onepath_test_name(test), text, length, onepath_test_operand(test) & 3);
}

/* Find a coverer of a range among ranges that are ordered as the test's are, then, of numbers, among the others. */
static uint32_t find_for_range(const search *s, const onepath_key *key, const onepath_tests *tests, uint32_t i) {
    onepath_test test = tests->tests[i];
    const onepath_strings *order = onepath_order_of(s->engine, test);
    onepath_span span = span_of_key(s, tests, i, onepath_kind_of(s->engine, test));
    if (!onepath_op_is_wide(onepath_test_op(test))) {
        uint32_t handle = find_in_cells(s, key, span, order);
        return handle == ONEPATH_NONE && order == NULL ? find_in_wide_cells(s, key, span) : handle;
    }
    uint32_t handle = key->wide == NULL ? ONEPATH_NONE : find_in_cells(s, key->wide, span, order);
    return handle == ONEPATH_NONE ? find_in_cells(s, key, codes_of_key(s, tests, i), NULL) : handle;
}

static uint32_t find_for_test(const search *s, const onepath_tests *tests, uint32_t i) {
    onepath_test test = tests->tests[i];
    unsigned kind = onepath_kind_of(s->engine, test);
    const onepath_key *key = s->engine->names.records[onepath_test_name(test)].keys[kind];
    if (key == NULL || onepath_test_negated(test)) {
        return ONEPATH_NONE;
    }
    switch (onepath_test_op(test)) {
    case ONEPATH_BOOLEAN_EQ:
        return find_in_bucket(
            s, onepath_bucket_key(ONEPATH_BY_BOOLEAN, onepath_test_name(test), onepath_test_operand(test)));
    case ONEPATH_STRING_EQ:
        return find_for_string(s, key, test);
    case ONEPATH_PATTERN:
        return key->patterns > 0 ? find_for_pattern(s, test) : ONEPATH_NONE;
    case ONEPATH_NUMBER_EQ:
        if (key->equalities > 0) {
            uint32_t handle = find_in_bucket(
                s, onepath_bucket_key(ONEPATH_BY_NUMBER, onepath_test_name(test), onepath_test_operand(test)));
            if (handle != ONEPATH_NONE) {
                return handle;
            }
        }
        return find_for_range(s, key, tests, i);
    default:
        return onepath_is_bound(test) ? find_for_range(s, key, tests, i) : ONEPATH_NONE;
    }
}

uint32_t onepath_find_coverer(tm_engine *engine, uint32_t interface, const onepath_tests *tests, uint32_t except) {
    if (!onepath_uses_cells(engine, interface)) {
        return ONEPATH_NONE;
    }
    search s = {engine, interface, except};
    for (uint32_t i = 0; i < tests->count; i++) {
        uint32_t handle = find_for_test(&s, tests, i);
        if (handle != ONEPATH_NONE) {
            return handle;
        }
    }
    return ONEPATH_NONE;
}

uint64_t onepath_count_active(const tm_engine *engine) {
    uint64_t covered_tombstones = 0;
    for (uint32_t tombstone = engine->tombstones; tombstone != ONEPATH_NONE;
         tombstone = onepath_covering_at(&engine->coverings, tombstone)->tombstone_next) {
        covered_tombstones += engine->records[tombstone].place == ONEPATH_COVERED;
    }
    return engine->holders->live - (engine->covered - covered_tombstones);
}
