/* pair_matching.h - matches the entries of a pair's bucket: both tests are decided in the entry.
 *
 * Law: as in pair_entry.h. Where results are appended to a list, orders of codes and labels are compared without a
 * branch that depends on them, and only entries that hold are read again; elsewhere most interfaces have matched
 * already, which is tested first. Private to match.c.
 */
#ifndef TM_ONEPATH_PAIR_MATCHING_H
#define TM_ONEPATH_PAIR_MATCHING_H

#include "engines/onepath/matching/entry_matching.h"
#include "engines/onepath/paths/pair_entry.h"

#define PAIRS_AT_ONCE 64U /* entries compared before the first that holds is read again */

/* A value in the form that the entries of a bucket are compared with. */
typedef struct pair_side {
    int64_t value;         /* code, or label */
    int64_t constant;      /* of a string: the constant it is equal to */
    const int64_t *labels; /* of the operands; NULL: operands are codes */
    uint32_t attribute;
} pair_side;

static inline pair_side side_of(const matching *m, const known *at) {
    static const int64_t NO_LABELS[1] = {0}; /* for strings while there is no constant yet */
    if (at->kind != ONEPATH_STRING) {
        return (pair_side){at->code, TM_NO_STRING, NULL, at->attribute};
    }
    const int64_t *labels = m->engine->strings.labels;
    const onepath_view *view = &m->views[at->attribute];
    return (pair_side){view->label, view->constant, labels != NULL ? labels : NO_LABELS, at->attribute};
}

/* Evaluate an operator that is ONEPATH_SIDE_APART, and not plain. */
static bool apart_holds(matching *m, const pair_side *side, unsigned op, uint32_t operand) {
    if (side->labels == NULL) {
        return tm_order_holds(op & 7, wide_order(m, side->attribute, operand), 0);
    }
    if (op == ONEPATH_SIDE_PATTERN) {
        return has_pattern(m, side->attribute, operand);
    }
    return tm_order_holds(op & 7, m->views[side->attribute].constant != operand, 0);
}

static inline bool side_holds(matching *m, const pair_side *side, unsigned op, uint32_t operand) {
    if (op & ONEPATH_SIDE_APART) {
        return apart_holds(m, side, op, operand);
    }
    return tm_order_holds((uint8_t)op, side->value, side->labels != NULL ? side->labels[operand] : (int32_t)operand);
}

/* Evaluate an entry of an interface that is not settled. */
static void try_pair(matching *m, const onepath_entry *entry, const pair_side *first, const pair_side *second) {
    if (onepath_pair_is_plain(entry)) {
        if (holds(m, entry->test)) {
            pass_entry(m, entry);
        }
    } else if (side_holds(m, first, onepath_pair_first_side(entry), (uint32_t)entry->test) &&
               side_holds(m, second, onepath_pair_second_side(entry), (uint32_t)(entry->test >> 32))) {
        pass_entry(m, entry);
    }
}

/* Return 0 if the side does not hold; 1 if it holds, or must be evaluated further. Undefined for a plain entry.
 * Constants are compared by identity; a pattern has all orders. */
static inline uint32_t side_may_hold(const pair_side *side, bool is_text, uint32_t op, uint32_t operand) {
    if (is_text) {
        bool is_apart = op & ONEPATH_SIDE_APART;
        int64_t value = is_apart ? side->constant : side->value;
        int64_t label = side->labels[is_apart ? 0 : operand];
        int64_t other = is_apart ? (int64_t)operand : label;
        return op >> (1 + (value > other) - (value < other)) & 1;
    }
    int64_t other = (int32_t)operand;
    return (op >> (1 + (side->value > other) - (side->value < other)) | op / ONEPATH_SIDE_APART) & 1;
}

/* Return how many of the entries, at most PAIRS_AT_ONCE, hold or must be evaluated further; their indexes go to
 * `kept`. */
static inline __attribute__((always_inline)) uint32_t sort_out(const onepath_entry *entries, uint32_t count,
                                                               const pair_side *first, bool first_is_text,
                                                               const pair_side *second, bool second_is_text,
                                                               uint8_t *kept) {
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t sides = entries[i].interface >> 24;
        uint64_t operands = entries[i].test;
        uint32_t both = side_may_hold(first, first_is_text, sides & 15, (uint32_t)operands) &
                        side_may_hold(second, second_is_text, sides >> 4, (uint32_t)(operands >> 32));
        kept[left] = (uint8_t)i;
        left += both | (sides == (ONEPATH_SIDE_PLAIN << 4 | ONEPATH_SIDE_PLAIN));
    }
    return left;
}

static uint32_t sort_out_any(const onepath_entry *entries, uint32_t count, const pair_side *first,
                             const pair_side *second, uint8_t *kept) {
    if (first->labels == NULL && second->labels == NULL) {
        return sort_out(entries, count, first, false, second, false, kept);
    }
    if (first->labels == NULL) {
        return sort_out(entries, count, first, false, second, true, kept);
    }
    if (second->labels == NULL) {
        return sort_out(entries, count, first, true, second, false, kept);
    }
    return sort_out(entries, count, first, true, second, true, kept);
}

static void try_pairs(matching *m, const onepath_entry *entries, uint32_t count, const known *one, const known *other) {
    pair_side first = side_of(m, one);
    pair_side second = side_of(m, other);
    if (!m->answer->direct) {
        for (uint32_t i = 0; i < count; i++) {
            if (!is_settled(m, entries[i].interface & ONEPATH_ENTRY_INTERFACE)) {
                try_pair(m, &entries[i], &first, &second);
            }
        }
        return;
    }
    while (count > 0) {
        uint8_t kept[PAIRS_AT_ONCE];
        uint32_t now = count < PAIRS_AT_ONCE ? count : PAIRS_AT_ONCE;
        uint32_t left = sort_out_any(entries, now, &first, &second, kept);
        for (uint32_t i = 0; i < left; i++) {
            const onepath_entry *entry = &entries[kept[i]];
            if (is_settled(m, entry->interface & ONEPATH_ENTRY_INTERFACE)) {
                continue;
            }
            if (entry->interface & ONEPATH_SIDES_APART) {
                try_pair(m, entry, &first, &second);
            } else {
                pass_entry(m, entry);
            }
        }
        entries += now;
        count -= now;
    }
}

#endif
