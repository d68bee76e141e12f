/* entry_matching.h - from an entry to a result: its own test, then the tests of its body.
 *
 * Law: bodies are far away; those that must be read are asked for, and read when several are on their way. Where
 * results go straight to a list, tests that a code decides are made without a jump that depends on them, as half of
 * them may hold; elsewhere most interfaces have matched already, which is asked first. Private to match.c.
 */
#ifndef TM_ONEPATH_ENTRY_MATCHING_H
#define TM_ONEPATH_ENTRY_MATCHING_H

#include "engines/onepath/matching.h"

#define DECIDED_FIRST 2U    /* tests of a body */
#define ENTRIES_AT_ONCE 64U /* tested before the first that holds is looked at again */

/* ---- without a jump ---- */

/* Orders of the value's code that satisfy an operator (order.h), and eight times the kind of value it is about, as a
 * state has it. 0: what the operator asks is not in the code. */
#define RULE_OF(kind, orders) (uint8_t)(((kind) + 1) * 8 + (orders))

static const uint8_t RULES[TAMIS_PATTERN + 1] = {
    [TAMIS_BOOLEAN_EQ] = RULE_OF(TAMIS_BOOLEAN, 2), [TAMIS_NUMBER_EQ] = RULE_OF(TAMIS_NUMBER, 2),
    [TAMIS_NUMBER_NE] = RULE_OF(TAMIS_NUMBER, 5),   [TAMIS_NUMBER_LE] = RULE_OF(TAMIS_NUMBER, 3),
    [TAMIS_NUMBER_GE] = RULE_OF(TAMIS_NUMBER, 6),   [TAMIS_STRING_EQ] = RULE_OF(TAMIS_STRING, 2),
    [TAMIS_STRING_NE] = RULE_OF(TAMIS_STRING, 5),
};

/* Does the state of its name decide a test? */
static inline bool is_decided(tamis_test test) {
    return RULES[tamis_test_op(test)] != 0;
}

/* 0: the test does not hold; 1: it does, or is not decided. */
static inline uint32_t may_hold(const uint64_t *state, tamis_test test) {
    uint64_t said = state[tamis_test_name(test)];
    uint32_t rule = RULES[tamis_test_op(test)];
    uint32_t holds = (rule >> 3 == said >> 56) & tm_order_holds((uint8_t)(rule & 7), state_code(said), (int32_t)test);
    return (holds ^ tamis_test_negated(test)) | (rule == 0);
}

/* ---- one after the other ---- */

/* The rest of an entry whose own test holds. The first tests of a body are likely to fail, but not so likely that a
 * processor foresees which: of two one jump decides. */
static inline void verify(matching *m, const tamis_entry *entry) {
    const tamis_body *body = tamis_body_at(m->engine, entry->rest);
    const uint64_t *state = m->engine->state;
    if (!(may_hold(state, body->tests[0]) & may_hold(state, body->tests[body->count > 1]))) {
        return;
    }
    for (uint32_t i = 0; i < body->count; i++) {
        bool is_known = i < DECIDED_FIRST && is_decided(body->tests[i]);
        if (!is_known && !holds(m, body->tests[i])) {
            return;
        }
    }
    emit_if_open(m, entry->interface & TAMIS_ENTRY_INTERFACE, body->handle);
}

static void verify_waiting(matching *m) {
    uint32_t count = tm_work_spend(&m->work, m->waiting_count * WORK_BODY) ? m->waiting_count : 0;
    for (uint32_t i = 0; i < count; i++) {
        verify(m, m->waiting[i]);
    }
    m->waiting_count = 0;
}

/* All holds that the entry says, of an interface that is not settled. Bodies are far away: those that must be read are
 * asked for, and read when several are on their way. */
static inline void pass_entry(matching *m, const tamis_entry *entry) {
    if (entry->rest & TAMIS_LAST) {
        emit(m, entry->interface & TAMIS_ENTRY_INTERFACE, entry->rest & ~TAMIS_LAST);
        return;
    }
    if (m->waiting_count == WAITING_MAX) {
        verify_waiting(m);
    }
    __builtin_prefetch(tamis_body_at(m->engine, entry->rest));
    m->waiting[m->waiting_count++] = entry;
}

static inline void try_entry(matching *m, const tamis_entry *entry) {
    if (!is_settled(m, entry->interface & TAMIS_ENTRY_INTERFACE) && holds(m, entry->test)) {
        pass_entry(m, entry);
    }
}

/* The numbers of those entries, at most ENTRIES_AT_ONCE, that may hold. */
static inline uint32_t sort_entries(const matching *m, const tamis_entry *entries, uint32_t count, uint8_t *kept) {
    const uint64_t *state = m->engine->state;
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++) {
        kept[left] = (uint8_t)i;
        left += may_hold(state, entries[i].test);
    }
    return left;
}

static void try_entries(matching *m, const tamis_entry *entries, uint32_t count) {
    if (!m->answer->direct) {
        for (uint32_t i = 0; i < count; i++) {
            try_entry(m, &entries[i]);
        }
        return;
    }
    while (count > 0) {
        uint8_t kept[ENTRIES_AT_ONCE];
        uint32_t now = count < ENTRIES_AT_ONCE ? count : ENTRIES_AT_ONCE;
        uint32_t left = sort_entries(m, entries, now, kept);
        for (uint32_t i = 0; i < left; i++) {
            const tamis_entry *entry = &entries[kept[i]];
            if (!is_settled(m, entry->interface & TAMIS_ENTRY_INTERFACE) &&
                (is_decided(entry->test) || holds(m, entry->test))) {
                pass_entry(m, entry);
            }
        }
        entries += now;
        count -= now;
    }
}

#endif
