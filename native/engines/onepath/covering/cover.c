/* cover.c - is a filter implied by a simpler one of the same link?
 *
 * Law: sound, not complete: what is found covers the tests; only filters on one attribute are looked at, as they are
 * nearly all of the gain (one `x < 99` of a link makes its every filter with x < 50 or x = 7 superfluous), and only for
 * interfaces that use cells. The cost does not depend on how many filters there are.
 */
#include "engines/onepath/covering/cover.h"

#include "engines/onepath/paths/buckets.h"
#include "engines/onepath/records.h"
#include "engines/onepath/values/compile.h"
#include "engines/onepath/values/constants.h"
#include "engines/onepath/values/patterns_pass.h"

#define SINGLES_LOOKED_AT 64  /* of a bucket; those of interfaces with cells stand in front */
#define TEXT_PATTERNS_MAX 64U /* of a constant's patterns, how many are tried */

typedef struct search {
    tm_engine *engine;
    uint32_t interface;
    uint32_t except;
} search;

/* Asked last: the record is far away. */
static bool is_usable(const search *s, uint32_t handle) {
    return handle != s->except && !tamis_is_ghost(s->engine, handle);
}

static uint32_t find_in_bucket(const search *s, uint64_t key) {
    const tamis_slot *slot = tamis_buckets_find(&s->engine->buckets, key);
    if (slot == NULL) {
        return TAMIS_NONE;
    }
    const tamis_single *singles = tamis_slot_singles(&s->engine->buckets, slot);
    for (ptrdiff_t i = 0; i < slot->single_count && i < SINGLES_LOOKED_AT; i++) {
        if (singles[-i].interface == s->interface && is_usable(s, singles[-i].handle)) {
            return singles[-i].handle;
        }
    }
    return TAMIS_NONE;
}

static uint32_t find_in_cells(const search *s, const tamis_key *key, tamis_span span, const tamis_strings *strings) {
    uint32_t at;
    uint32_t end;
    for (tamis_cells_spans(&key->cells, s->interface, &at, &end); at < end; at++) {
        const tamis_span *other = &key->cells.spans->rows[at];
        if (tamis_span_covers(*other, span, strings) && is_usable(s, other->handle)) {
            return other->handle;
        }
    }
    return TAMIS_NONE;
}

/* A value of which only its label is known. */
static uint32_t find_at_label(const search *s, const tamis_key *key, int64_t label) {
    uint32_t at;
    uint32_t end;
    for (tamis_cells_spans(&key->cells, s->interface, &at, &end); at < end; at++) {
        const tamis_span *span = &key->cells.spans->rows[at];
        if (tamis_span_holds(*span, label, &s->engine->strings) && is_usable(s, span->handle)) {
            return span->handle;
        }
    }
    return TAMIS_NONE;
}

static int64_t label_of_integer(const tamis_strings *numbers, int64_t integer) {
    uint8_t bytes[TAMIS_NUMBER_BYTES];
    tamis_number_bytes(false, integer, 0, bytes);
    return tamis_strings_label(numbers, TM_NO_STRING, bytes, sizeof bytes);
}

/* All ranges the tests put on the key of tests[i], in one; of those that are ordered as it is. */
static tamis_span span_of_key(const search *s, const tamis_tests *tests, uint32_t i, unsigned kind) {
    const tamis_strings *order = tamis_order_of(s->engine, tests->tests[i]);
    tamis_span span;
    tamis_span_of(tests->tests[i], &span);
    for (uint32_t j = 0; j < tests->count; j++) {
        tamis_test test = tests->tests[j];
        tamis_span other;
        if (j != i && !tamis_test_negated(test) && tamis_test_name(test) == tamis_test_name(tests->tests[i]) &&
            tamis_span_of(test, &other) && tamis_kind_of(s->engine, test) == kind &&
            tamis_order_of(s->engine, test) == order) {
            tamis_span_intersect(&span, other, order);
        }
    }
    return span;
}

/* The same as codes where the bounds are wide: no narrower, as a code between two integers stands for all between. */
static tamis_span codes_of_key(const search *s, const tamis_tests *tests, uint32_t i) {
    tamis_tests codes = {.count = 0};
    for (uint32_t j = 0; j < tests->count; j++) {
        tamis_test test = tests->tests[j];
        unsigned op = tamis_test_op(test);
        if (tamis_op_is_wide(op) && !tamis_test_negated(test) &&
            tamis_test_name(test) == tamis_test_name(tests->tests[i])) {
            int64_t integer;
            double real;
            bool is_real = tamis_number_of_bytes(
                tamis_string_text(&s->engine->numbers.records[tamis_test_operand(test)]), &integer, &real);
            int32_t code = is_real ? tamis_code_of_real(real) : tamis_code_of_integer(integer);
            op = op >= TAMIS_WIDE_GT ? TAMIS_NUMBER_GE : TAMIS_NUMBER_LE;
            codes.tests[codes.count++] = tamis_test_of(tamis_test_name(test), op, (uint32_t)code);
        }
    }
    return span_of_key(s, &codes, 0, TAMIS_NUMBER);
}

/* A filter with wide bounds that covers a range of codes. */
static uint32_t find_in_wide_cells(const search *s, const tamis_key *key, tamis_span codes) {
    const tamis_strings *numbers = &s->engine->numbers;
    uint32_t at;
    uint32_t end;
    if (key->wide == NULL) {
        return TAMIS_NONE;
    }
    int64_t low = label_of_integer(numbers, codes.no_low ? 0 : (codes.low - (codes.low & 1)) / 2);
    int64_t high = label_of_integer(numbers, codes.no_high ? 0 : ((int64_t)codes.high + (codes.high & 1)) / 2);
    for (tamis_cells_spans(&key->wide->cells, s->interface, &at, &end); at < end; at++) {
        const tamis_span *span = &key->wide->cells.spans->rows[at];
        bool reaches_low = codes.no_low ? span->no_low : tamis_span_holds(*span, low, numbers);
        bool reaches_high = codes.no_high ? span->no_high : tamis_span_holds(*span, high, numbers);
        if (reaches_low && reaches_high && is_usable(s, span->handle)) {
            return span->handle;
        }
    }
    return TAMIS_NONE;
}

/* A pattern filter that every string with this text as its `kind` (or, TAMIS_PATTERN's number 3, as a whole) satisfies.
 */
static uint32_t find_by_patterns(const search *s, uint32_t name, const uint8_t *text, uint32_t length, unsigned kind) {
    uint32_t found[TEXT_PATTERNS_MAX];
    tm_work work = {.steps_max = UINT64_MAX}; /* it is one short text */
    size_t count = tamis_patterns_find(&s->engine->patterns, text, length, found, TEXT_PATTERNS_MAX, &work);
    for (size_t i = 0; i < count && i < TEXT_PATTERNS_MAX; i++) {
        unsigned weaker = found[i] & 3;
        if (kind == 3 || weaker == kind || weaker == TAMIS_CONTAINS) {
            uint32_t handle = find_in_bucket(s, tamis_bucket_key(TAMIS_BY_PATTERN, name, found[i]));
            if (handle != TAMIS_NONE) {
                return handle;
            }
        }
    }
    return TAMIS_NONE;
}

static uint32_t find_for_string(const search *s, const tamis_key *key, tamis_test test) {
    uint32_t name = tamis_test_name(test);
    const tamis_string *string = &s->engine->strings.records[tamis_test_operand(test)];
    uint32_t handle = TAMIS_NONE;
    if (key->equalities > 0) {
        handle = find_in_bucket(s, tamis_bucket_key(TAMIS_BY_STRING, name, tamis_test_operand(test)));
    }
    if (handle == TAMIS_NONE && tamis_cells_exist(&key->cells)) {
        handle = find_at_label(s, key,
                               tamis_strings_label(&s->engine->strings, tamis_test_operand(test),
                                                   tamis_string_text(string), string->length));
    }
    if (handle == TAMIS_NONE && key->patterns > 0) {
        handle = find_by_patterns(s, name, tamis_string_text(string), string->length, 3);
    }
    return handle;
}

static uint32_t find_for_pattern(const search *s, tamis_test test) {
    uint8_t text[TM_PATTERN_BYTES_MAX];
    uint32_t length = tamis_patterns_text(&s->engine->patterns, tamis_test_operand(test), text);
    return find_by_patterns(s, tamis_test_name(test), text, length, tamis_test_operand(test) & 3);
}

/* Among ranges that are ordered as the test's are, then, of numbers, among the others. */
static uint32_t find_for_range(const search *s, const tamis_key *key, const tamis_tests *tests, uint32_t i) {
    tamis_test test = tests->tests[i];
    const tamis_strings *order = tamis_order_of(s->engine, test);
    tamis_span span = span_of_key(s, tests, i, tamis_kind_of(s->engine, test));
    if (!tamis_op_is_wide(tamis_test_op(test))) {
        uint32_t handle = find_in_cells(s, key, span, order);
        return handle == TAMIS_NONE && order == NULL ? find_in_wide_cells(s, key, span) : handle;
    }
    uint32_t handle = key->wide == NULL ? TAMIS_NONE : find_in_cells(s, key->wide, span, order);
    return handle == TAMIS_NONE ? find_in_cells(s, key, codes_of_key(s, tests, i), NULL) : handle;
}

static uint32_t find_for_test(const search *s, const tamis_tests *tests, uint32_t i) {
    tamis_test test = tests->tests[i];
    unsigned kind = tamis_kind_of(s->engine, test);
    const tamis_key *key = s->engine->names.records[tamis_test_name(test)].keys[kind];
    if (key == NULL || tamis_test_negated(test)) {
        return TAMIS_NONE;
    }
    switch (tamis_test_op(test)) {
    case TAMIS_BOOLEAN_EQ:
        return find_in_bucket(s, tamis_bucket_key(TAMIS_BY_BOOLEAN, tamis_test_name(test), tamis_test_operand(test)));
    case TAMIS_STRING_EQ:
        return find_for_string(s, key, test);
    case TAMIS_PATTERN:
        return key->patterns > 0 ? find_for_pattern(s, test) : TAMIS_NONE;
    case TAMIS_NUMBER_EQ:
        if (key->equalities > 0) {
            uint32_t handle =
                find_in_bucket(s, tamis_bucket_key(TAMIS_BY_NUMBER, tamis_test_name(test), tamis_test_operand(test)));
            if (handle != TAMIS_NONE) {
                return handle;
            }
        }
        return find_for_range(s, key, tests, i);
    default:
        return tamis_is_bound(test) ? find_for_range(s, key, tests, i) : TAMIS_NONE;
    }
}

uint32_t tamis_find_coverer(tm_engine *engine, uint32_t interface, const tamis_tests *tests, uint32_t except) {
    if (!tamis_uses_cells(engine, interface)) {
        return TAMIS_NONE;
    }
    search s = {engine, interface, except};
    for (uint32_t i = 0; i < tests->count; i++) {
        uint32_t handle = find_for_test(&s, tests, i);
        if (handle != TAMIS_NONE) {
            return handle;
        }
    }
    return TAMIS_NONE;
}

uint64_t tamis_count_active(const tm_engine *engine) {
    uint64_t covered_ghosts = 0;
    for (uint32_t ghost = engine->ghosts; ghost != TAMIS_NONE;
         ghost = tamis_covering_at(&engine->coverings, ghost)->ghost_next) {
        covered_ghosts += engine->records[ghost].place == TAMIS_COVERED;
    }
    return engine->holders->live - (engine->covered - covered_ghosts);
}
