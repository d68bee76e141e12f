/* matching.h - the state of one match: the message by name, what has matched, and how a test or a result is evaluated.
 *
 * Law: `matched`, for interfaces with cells, and the answer decide whether a filter is still worth evaluating; nothing
 * else does. Private to match.c.
 */
#ifndef TM_ONEPATH_MATCHING_H
#define TM_ONEPATH_MATCHING_H

#include <string.h>

#include "engines/onepath/state.h"
#include "model/order.h"

#define SLOTS_KEPT_MAX 256U /* buckets with entries that wait for step 4; further ones are evaluated at once */
#define PROBES_MAX 192U     /* buckets prefetched before the first is read */
#define WAITING_MAX 32U     /* bodies prefetched before the first is read */
#define PATTERNS_AT_ONCE 8U
#define WIDE_TESTS_FEW 8U /* of numbers without a code; with more of them a search for the value's label pays */

/* The value of a name in the message: kind + 1 (8 bits), attribute (8), unused (16), code of a number or boolean, or
 * the constant that a string is equal to (32). 0: the message has no such name. */
static inline uint64_t state_of(unsigned kind, uint32_t attribute, int32_t code) {
    return (uint64_t)(kind + 1) << 56 | (uint64_t)attribute << 48 | (uint32_t)code;
}
static inline unsigned state_kind(uint64_t state) {
    return (unsigned)(state >> 56) - 1;
}
static inline uint32_t state_attribute(uint64_t state) {
    return (uint32_t)(state >> 48) & 0xff;
}
static inline int32_t state_code(uint64_t state) {
    return (int32_t)(uint32_t)state;
}

/* A slot that may be the first one of the bucket; its memory is being prefetched. */
typedef struct probe {
    const onepath_segment *segment;
    const onepath_slot *slot;
    uint64_t key;
    uint32_t home; /* slot that its search begins at */
    uint8_t tag;
    uint8_t first; /* of a pair: index in `known` */
    uint8_t second;
} probe;

/* A bucket whose entries are evaluated later. */
typedef struct kept_bucket {
    const onepath_slot *slot;
    uint8_t first; /* index in `known`, of a pair */
    uint8_t second;
} kept_bucket;

/* An attribute whose name the table knows. */
typedef struct known {
    const onepath_key *key; /* of the name and the value's kind; NULL: the table has none */
    uint32_t name;
    uint32_t attribute;
    int32_t code; /* of a number or boolean; of a string the constant equal to it */
    unsigned kind;
} known;

/* Rows of a run that a value satisfies, from (chunk, from) to (end, to). */
typedef struct found_span {
    const onepath_run *run;
    uint32_t chunk;
    uint32_t from;
    uint32_t end;
    uint32_t to;
} found_span;

/* A range of `known`. */
typedef struct part {
    uint32_t first;
    uint32_t end;
} part;

typedef struct matching {
    tm_engine *engine;
    const tm_attribute *attributes;
    tm_answer *answer;
    bool plain;         /* the answer is interfaces without grouping: those with cells are collected as bits */
    bool wants_handles; /* the answer needs handles, not only interfaces */
    bool only_bits;     /* only interfaces with cells can match */
    bool appends;       /* in boxes: the answer is a list that most rows are appended to */
    bool at_once;       /* entries are evaluated where they are found: see see_together */
    uint64_t matched[ONEPATH_CELL_WORDS]; /* of interfaces with cells: matched, or not wanted */
    uint64_t wanted[ONEPATH_CELL_WORDS];
    uint64_t collected[ONEPATH_CELL_WORDS]; /* interfaces collected as bits: links, in a plain answer */
    bool is_done;       /* no interface was open at the last scan of open interfaces (run_matching.h) */
    bool knows_open;    /* `open` is valid: the fold of interfaces that were open at the last scan */
    uint64_t rows_seen; /* of runs and intervals, since the last scan */
    uint64_t rows_due;  /* value of rows_seen at which the next scan is due */
    uint64_t open[ONEPATH_FOLD_WORDS];
    uint32_t scratch_used;
    uint32_t slot_count;
    uint32_t known_count;
    uint32_t noted_count;    /* entries of `known` whose state is written */
    part parts[ONEPATH_ANY]; /* of `known`, by kind of value */
    known known[TM_ATTRIBUTES_MAX];
    uint32_t wide_tests;                   /* evaluated so far */
    uint64_t labelled;                     /* numbers whose label is in their view, by attribute */
    onepath_view views[TM_ATTRIBUTES_MAX]; /* by attribute; of strings under a known name, of numbers the label alone */
    uint32_t probe_count;
    uint32_t waiting_count;
    uint32_t span_count;
    uint32_t opened_count; /* nodes in engine->opened */
    kept_bucket slots[SLOTS_KEPT_MAX];
    const onepath_entry *waiting[WAITING_MAX];
    probe probes[PROBES_MAX];
    found_span spans[2 * TM_ATTRIBUTES_MAX];
} matching;

/* ---- results ---- */

static inline bool is_bits(const matching *m, uint32_t interface) {
    return m->plain && interface < ONEPATH_CELL_INTERFACES && tm_bit_at(m->collected, interface);
}

/* true if a filter of this interface can add nothing to the answer. */
static inline bool is_settled(const matching *m, uint32_t interface) {
    if (is_bits(m, interface)) {
        return tm_bit_at(m->matched, interface);
    }
    return !tm_answer_open(m->answer, interface);
}

/* Record a match of the interface, which must not be settled. */
static inline void emit(matching *m, uint32_t interface, uint32_t handle) {
    if (is_bits(m, interface)) {
        tm_bit_set(m->matched, interface);
        return;
    }
    tm_answer_emit(m->answer, interface, handle);
}

static inline void emit_if_open(matching *m, uint32_t interface, uint32_t handle) {
    if (is_bits(m, interface)) {
        tm_bit_set(m->matched, interface); /* the bit may be set already */
    } else if (tm_answer_open(m->answer, interface)) {
        tm_answer_emit(m->answer, interface, handle);
    }
}

static inline bool is_full(const matching *m) {
    if (m->is_done) {
        return true;
    }
    if (!m->only_bits) {
        return !m->plain && tm_answer_is_full(m->answer);
    }
    uint64_t matched = UINT64_MAX;
    for (uint32_t word = 0; word < m->engine->cell_words; word++) {
        matched &= m->matched[word];
    }
    return matched == UINT64_MAX;
}

/* ---- tests ---- */

static __attribute__((noinline)) bool has_any_pattern(matching *m, uint32_t attribute, uint32_t pattern) {
    const tm_attribute *value = &m->attributes[attribute];
    uint8_t text[TM_PATTERN_BYTES_MAX];
    tm_value operand = {.kind = TM_KIND_STRING, .string = text};
    operand.length = onepath_patterns_text(&m->engine->patterns, pattern, text);
    tm_constraint constraint = {
        .operands = &operand, .operand_count = 1, .op = (uint8_t)(TM_OP_PREFIX + (pattern & 3))};
    return tm_work_spend(&m->answer->work, operand.length + tm_constraint_steps(&constraint, value)) &&
           tm_constraint_holds(&constraint, value);
}

static inline bool has_pattern(matching *m, uint32_t attribute, uint32_t pattern) {
    const onepath_view *view = &m->views[attribute];
    if (view->patterns == NULL) { /* too many patterns to keep: the value itself is searched */
        return has_any_pattern(m, attribute, pattern);
    }
    m->answer->work.steps += view->pattern_count / WORK_BYTES;
    uint32_t at = 0;
    for (; at + PATTERNS_AT_ONCE <= view->pattern_count;
         at += PATTERNS_AT_ONCE) { /* without a branch for each pattern */
        uint32_t found = 0;
        for (uint32_t k = 0; k < PATTERNS_AT_ONCE; k++) { /* a constant count lets the compiler use vectors */
            found |= view->patterns[at + k] == pattern;
        }
        if (found) {
            return true;
        }
    }
    uint32_t found = 0;
    for (; at < view->pattern_count; at++) {
        found |= view->patterns[at] == pattern;
    }
    return found;
}

/* Compare without a branch: the operators of a bucket's entries are in no order that a processor could predict. */
static inline bool order_holds(unsigned op, int64_t value, int64_t operand) {
    static const uint8_t ORDERS[ONEPATH_PATTERN] = {
        [ONEPATH_NUMBER_EQ] = 2, [ONEPATH_NUMBER_NE] = 5, [ONEPATH_NUMBER_LE] = 3, [ONEPATH_NUMBER_GE] = 6,
        [ONEPATH_WIDE_LT] = 1,   [ONEPATH_WIDE_LE] = 3,   [ONEPATH_WIDE_GT] = 4,   [ONEPATH_WIDE_GE] = 6,
        [ONEPATH_STRING_LT] = 1, [ONEPATH_STRING_LE] = 3, [ONEPATH_STRING_GT] = 4, [ONEPATH_STRING_GE] = 6,
    };
    return tm_order_holds(ORDERS[op], value, operand);
}

static inline bool string_holds(matching *m, unsigned op, uint32_t attribute, uint32_t operand) {
    const onepath_view *view = &m->views[attribute];
    switch (op) {
    case ONEPATH_STRING_EQ:
        return view->constant == operand;
    case ONEPATH_STRING_NE:
        return view->constant != operand;
    case ONEPATH_PATTERN:
        return has_pattern(m, attribute, operand);
    default:
        break;
    }
    return order_holds(op, view->label, m->engine->strings.labels[operand]);
}

/* Return the label of a number among the wide constants; searches by the nearest float, or by all bytes where several
 * constants have that float. */
static int64_t find_wide_label(const onepath_strings *numbers, const tm_attribute *value) {
    bool is_real = value->kind == TM_KIND_FLOAT;
    onepath_sorted_place place;
    if (onepath_sorted_find_float(&numbers->sorted, is_real ? value->real : (double)value->integer, &place)) {
        return onepath_strings_label_before(numbers, place);
    }
    uint8_t bytes[ONEPATH_NUMBER_BYTES];
    onepath_number_bytes(is_real, value->integer, value->real, bytes);
    return onepath_strings_label(numbers, TM_NO_STRING, bytes, sizeof bytes);
}

/* Return the label of an attribute's number, which is searched for once a message. */
static __attribute__((noinline)) int64_t wide_label(matching *m, uint32_t attribute) {
    onepath_view *view = &m->views[attribute];
    if (!(m->labelled >> attribute & 1)) {
        view->label = find_wide_label(&m->engine->numbers, &m->attributes[attribute]);
        m->labelled |= UINT64_C(1) << attribute;
        m->answer->work.steps += LABEL_STEPS;
    }
    return view->label;
}

/* Compare the value with a number without a code: less than 0, 0, or more than 0. */
static inline int wide_order(matching *m, uint32_t attribute, uint32_t operand) {
    if (++m->wide_tests > WIDE_TESTS_FEW && m->engine->numbers.labels[operand] != ONEPATH_NO_LABEL) {
        int64_t label = wide_label(m, attribute);
        int64_t other = m->engine->numbers.labels[operand];
        return (label > other) - (label < other);
    }
    const tm_attribute *value = &m->attributes[attribute];
    uint8_t bytes[ONEPATH_NUMBER_BYTES];
    onepath_number_bytes(value->kind == TM_KIND_FLOAT, value->integer, value->real, bytes);
    return memcmp(bytes, &m->engine->numbers.records[operand].head,
                  sizeof bytes); /* the head holds all bytes of a number */
}

static inline bool wide_holds(matching *m, unsigned op, uint32_t attribute, uint32_t operand) {
    int order = wide_order(m, attribute, operand);
    return op == ONEPATH_WIDE_LT   ? order < 0
           : op == ONEPATH_WIDE_LE ? order <= 0
           : op == ONEPATH_WIDE_GT ? order > 0
                                   : order >= 0;
}

/* Out of line to keep the other tests short. */
static __attribute__((noinline)) bool complex_holds(matching *m, const tm_constraint *constraint, uint32_t attribute) {
    const tm_attribute *value = &m->attributes[attribute];
    m->answer->work.steps += tm_constraint_steps(constraint, value);
    return tm_constraint_holds(constraint, value);
}

/* Return whether a test holds without its negation; the message has the name. */
static inline bool plain_holds(matching *m, unsigned op, uint64_t state, uint32_t operand) {
    unsigned kind = state_kind(state);
    if (op >= ONEPATH_STRING_EQ) {
        return kind == ONEPATH_STRING && string_holds(m, op, state_attribute(state), operand);
    }
    if (op >= ONEPATH_NUMBER_EQ) {
        return kind == ONEPATH_NUMBER && order_holds(op, state_code(state), (int32_t)operand);
    }
    if (op == ONEPATH_BOOLEAN_EQ) {
        return kind == ONEPATH_BOOLEAN && state_code(state) == (int32_t)operand;
    }
    if (onepath_op_is_wide(op)) {
        return kind == ONEPATH_NUMBER && wide_holds(m, op, state_attribute(state), operand);
    }
    if (op == ONEPATH_COMPLEX) {
        return complex_holds(m, &m->engine->complexes[operand].constraint, state_attribute(state));
    }
    return true;
}

static inline bool holds(matching *m, onepath_test test) {
    unsigned op = onepath_test_op(test);
    if (op == ONEPATH_TRUE) {
        return true;
    }
    uint64_t state = m->engine->state[onepath_test_name(test)];
    bool plain = state != 0 && plain_holds(m, op, state, onepath_test_operand(test));
    return plain != onepath_test_negated(test);
}

#endif
