/* entry_matching.h - from an entry to a result: its own test, then the tests of its body.
 *
 * Law: bodies are far away; those that must be read are prefetched, and read when several are on their way. Where
 * results are appended to a list, tests that a code decides are made without a branch that depends on them, as half of
 * them may hold; elsewhere most interfaces have matched already, which is tested first. Private to match.c.
 */
#ifndef TM_ONEPATH_ENTRY_MATCHING_H
#define TM_ONEPATH_ENTRY_MATCHING_H

#include "engines/onepath/matching/matching.h"
#include "engines/onepath/records.h"

#define ENTRIES_FEW 16U     /* fewer are tested one by one: a loop over all costs more than it saves */
#define ENTRIES_AT_ONCE 64U /* tested before the first that holds is read again */

/* ---- without a branch ---- */

/* The kind of value of an equality, as in a state; 0: the operator is no equality. */
static const uint8_t EQUAL_KINDS[ONEPATH_PATTERN + 1] = {
    [ONEPATH_BOOLEAN_EQ] = ONEPATH_BOOLEAN + 1,
    [ONEPATH_NUMBER_EQ] = ONEPATH_NUMBER + 1,
    [ONEPATH_STRING_EQ] = ONEPATH_STRING + 1,
};

/* true if the state of its name decides the test, an equality. */
static inline bool is_decided(onepath_test test) {
    return EQUAL_KINDS[onepath_test_op(test)] != 0;
}

/* The kind of value of a comparison, as in a state, and for which of less, equal and more it holds; 0: a state does not
 * decide it. */
static const struct {
    uint8_t kind;
    uint8_t order;
} ORDERS_DECIDED[ONEPATH_PATTERN + 1] = {
    [ONEPATH_BOOLEAN_EQ] = {ONEPATH_BOOLEAN + 1, 2}, [ONEPATH_NUMBER_EQ] = {ONEPATH_NUMBER + 1, 2},
    [ONEPATH_NUMBER_NE] = {ONEPATH_NUMBER + 1, 5},   [ONEPATH_NUMBER_LE] = {ONEPATH_NUMBER + 1, 3},
    [ONEPATH_NUMBER_GE] = {ONEPATH_NUMBER + 1, 6},   [ONEPATH_STRING_EQ] = {ONEPATH_STRING + 1, 2},
    [ONEPATH_STRING_NE] = {ONEPATH_STRING + 1, 5},
};

/* true if the state of its name decides the test, an equality or an order. */
static inline bool is_decided_by_order(onepath_test test) {
    return ORDERS_DECIDED[onepath_test_op(test)].kind != 0;
}

/* Return 0 if the test does not hold; 1 if it holds, or is not decided. */
static inline uint32_t order_may_hold(const uint64_t *state, onepath_test test) {
    uint64_t said = state[onepath_test_name(test)];
    uint32_t kind = ORDERS_DECIDED[onepath_test_op(test)].kind;
    uint8_t order = ORDERS_DECIDED[onepath_test_op(test)].order;
    uint32_t holds = (kind == said >> 56) & tm_order_holds(order, (int32_t)said, (int32_t)test);
    return (holds ^ onepath_test_negated(test)) | (kind == 0);
}

/* Return 0 if the equality does not hold; 1 if it holds, or the test is not decided. Fewer instructions than
 * order_may_hold. */
static inline uint32_t may_hold(const uint64_t *state, onepath_test test) {
    uint64_t said = state[onepath_test_name(test)];
    uint32_t kind = EQUAL_KINDS[onepath_test_op(test)];
    uint32_t holds = (kind == said >> 56) & ((uint32_t)said == (uint32_t)test);
    return (holds ^ onepath_test_negated(test)) | (kind == 0);
}

/* ---- one by one ---- */

/* true if one of the first two tests of a body is decided and fails. They often fail, but no processor predicts which:
 * one branch decides both. */
static __attribute__((noinline)) bool fails_first(const uint64_t *state, const onepath_body *body) {
    return !(may_hold(state, body->tests[0]) & may_hold(state, body->tests[body->count > 1]));
}

/* Evaluate the body of an entry whose own test holds. */
static inline void verify(matching *m, const onepath_entry *entry) {
    const onepath_body *body = onepath_body_at(m->engine, entry->rest);
    if (is_decided(body->tests[0]) && fails_first(m->engine->state, body)) {
        return;
    }
    for (uint32_t i = 0; i < body->count; i++) {
        if (!holds(m, body->tests[i])) {
            return;
        }
    }
    emit_if_open(m, entry->interface & ONEPATH_ENTRY_INTERFACE, body->handle);
}

static void verify_waiting(matching *m) {
    uint32_t count = tm_work_spend(&m->answer->work, m->waiting_count * WORK_BODY) ? m->waiting_count : 0;
    for (uint32_t i = 0; i < count; i++) {
        verify(m, m->waiting[i]);
    }
    m->waiting_count = 0;
}

/* Emit an entry whose own test holds, of an interface that is not settled, or queue it if it has a body. Bodies are far
 * away: they are prefetched, and read when several are on their way. */
static inline __attribute__((always_inline)) void pass_entry(matching *m, const onepath_entry *entry) {
    if (entry->rest & ONEPATH_LAST) {
        emit(m, entry->interface & ONEPATH_ENTRY_INTERFACE, entry->rest & ~ONEPATH_LAST);
        return;
    }
    if (m->waiting_count == WAITING_MAX) {
        verify_waiting(m);
    }
    __builtin_prefetch(onepath_body_at(m->engine, entry->rest));
    m->waiting[m->waiting_count++] = entry;
}

static inline void try_entry(matching *m, const onepath_entry *entry) {
    if (!is_settled(m, entry->interface & ONEPATH_ENTRY_INTERFACE) && holds(m, entry->test)) {
        pass_entry(m, entry);
    }
}

/* Return how many of the entries, at most ENTRIES_AT_ONCE, may hold; their indexes go to `kept`. `by_order`: orders are
 * decided, too, not only equalities. */
static inline __attribute__((always_inline)) uint32_t sort_entries(const matching *m, const onepath_entry *entries,
                                                                   uint32_t count, bool by_order, uint8_t *kept) {
    const uint64_t *state = m->engine->state;
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++) {
        kept[left] = (uint8_t)i;
        left += by_order ? order_may_hold(state, entries[i].test) : may_hold(state, entries[i].test);
    }
    return left;
}

/* Evaluate entries of tests that a state decides, for an answer in which each entry is a row of its own. */
static inline __attribute__((always_inline)) void try_decided(matching *m, const onepath_entry *entries, uint32_t count,
                                                              bool by_order) {
    while (count > 0) {
        uint8_t kept[ENTRIES_AT_ONCE];
        uint32_t now = count < ENTRIES_AT_ONCE ? count : ENTRIES_AT_ONCE;
        uint32_t left = sort_entries(m, entries, now, by_order, kept);
        for (uint32_t i = 0; i < left; i++) {
            const onepath_entry *entry = &entries[kept[i]];
            if (by_order ? is_decided_by_order(entry->test) : is_decided(entry->test)) {
                pass_entry(m, entry);
            } else {
                try_entry(m, entry);
            }
        }
        entries += now;
        count -= now;
    }
}

static __attribute__((noinline)) void try_equalities(matching *m, const onepath_entry *entries, uint32_t count) {
    try_decided(m, entries, count, false);
}

static __attribute__((noinline)) void try_orders(matching *m, const onepath_entry *entries, uint32_t count) {
    try_decided(m, entries, count, true);
}

static inline __attribute__((always_inline)) void try_entries(matching *m, const onepath_entry *entries,
                                                              uint32_t count) {
    if (count >= ENTRIES_FEW && m->answer->direct && is_decided_by_order(entries[0].test)) {
        (is_decided(entries[0].test) ? try_equalities : try_orders)(m, entries, count);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        try_entry(m, &entries[i]);
    }
}

#endif
