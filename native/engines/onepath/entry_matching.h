/* entry_matching.h - from an entry to a result: its own test, then the tests of its body.
 *
 * Law: bodies are far away; those that must be read are asked for, and read when several are on their way. Private to
 * match.c.
 */
#ifndef TM_ONEPATH_ENTRY_MATCHING_H
#define TM_ONEPATH_ENTRY_MATCHING_H

#include "engines/onepath/matching.h"

/* The rest of an entry whose own test holds. */
static inline void verify(matching *m, const tamis_entry *entry) {
    const tamis_body *body = tamis_body_at(m->engine, entry->rest);
    for (uint32_t i = 0; i < body->count; i++) {
        if (!holds(m, body->tests[i])) {
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

static void try_entries(matching *m, const tamis_entry *entries, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        try_entry(m, &entries[i]);
    }
}

#endif
