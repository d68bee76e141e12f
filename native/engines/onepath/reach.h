/* reach.h - from a value to the filters under it: entries and buckets.
 *
 * Law: memory far away is asked for before it is read: a probe's tags, then its slot, then the block behind it, then
 * the bodies of entries that hold so far. Private to match.c.
 */
#ifndef TM_ONEPATH_REACH_H
#define TM_ONEPATH_REACH_H

#include "engines/onepath/buckets.h"
#include "engines/onepath/matching.h"

/* ---- entries ---- */

/* The rest of an entry whose own test holds. */
static inline void verify(matching *m, const tamis_entry *entry) {
    const tamis_body *body = tamis_body_at(m->engine, entry->body);
    uint32_t interface = entry->interface & ~TAMIS_LAST;
    for (uint32_t i = 0; i < body->count; i++) {
        if (!holds(m, body->tests[i])) {
            return;
        }
    }
    emit_if_open(m, interface, body->handle);
}

static void verify_waiting(matching *m) {
    uint32_t count = tm_work_spend(&m->work, m->waiting_count * WORK_BODY) ? m->waiting_count : 0;
    for (uint32_t i = 0; i < count; i++) {
        verify(m, m->waiting[i]);
    }
    m->waiting_count = 0;
}

/* Bodies are far away: those that must be read are asked for, and read when several are on their way. */
static inline void try_entry(matching *m, const tamis_entry *entry) {
    uint32_t interface = entry->interface & ~TAMIS_LAST;
    if (is_settled(m, interface) || !holds(m, entry->test)) {
        return;
    }
    if ((entry->interface & TAMIS_LAST) && !m->wants_handles) {
        emit(m, interface, 0);
        return;
    }
    if (m->waiting_count == WAITING_MAX) {
        verify_waiting(m);
    }
    __builtin_prefetch(tamis_body_at(m->engine, entry->body));
    m->waiting[m->waiting_count++] = entry;
}

static void try_entries(matching *m, const tamis_entry *entries, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        try_entry(m, &entries[i]);
    }
}

/* ---- buckets ---- */

static void look_at(matching *m, const tamis_slot *slot) {
    const tamis_buckets *buckets = &m->engine->buckets;
    if (slot->single_count != 0) {
        if (!tm_work_spend(&m->work, slot->single_count)) {
            return;
        }
        const tamis_single *singles = tamis_slot_singles(buckets, slot);
        for (ptrdiff_t i = 0; i < slot->single_count; i++) {
            emit_if_open(m, singles[-i].interface, singles[-i].handle);
        }
    }
    if (slot->entry_count == 0) {
        if (slot->is_opened) {
            m->engine->opened[m->opened_count++] = slot->block;
        }
        return;
    }
    if (m->slot_count < SLOTS_KEPT_MAX) {
        m->slots[m->slot_count++] = slot;
    } else if (tm_work_spend(&m->work, slot->entry_count)) {
        try_entries(m, tamis_slot_entries(buckets, slot), slot->entry_count);
    }
}

/* The first slot with the probe's tag; what is left of the probes are those that have one. Half of them have, at no
 * rule: nearly always one group of tags decides, without a jump for how it does. */
static void find_slots(matching *m) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < m->probe_count; i++) {
        probe at = m->probes[i];
        tamis_tagged seen = tamis_tags_at(at.segment, at.tag, at.next);
        uint32_t here = tamis_segment_wrap(at.segment, at.next + tamis_first_byte(seen.same));
        bool is_there = seen.same != 0;
        if (__builtin_expect((seen.same | seen.empty) == 0, 0)) {
            here = tamis_segment_tagged(at.segment, at.tag, at.next);
            is_there = here != TAMIS_NONE;
            here = is_there ? here : 0;
        }
        at.slot = &at.segment->slots[here];
        __builtin_prefetch(at.slot);
        at.next = tamis_segment_after(at.segment, here);
        m->probes[found] = at;
        found += is_there;
    }
    m->probe_count = found;
}

/* Look at the buckets of all probes; at each step all memory is asked for that the next one reads. */
static void look_at_probes(matching *m) {
    const tamis_buckets *buckets = &m->engine->buckets;
    m->work.steps += m->probe_count;
    find_slots(m);
    for (uint32_t i = 0; i < m->probe_count; i++) {
        const tamis_slot *slot = m->probes[i].slot;
        const tamis_entry *entries = tamis_slot_entries(buckets, slot);
        __builtin_prefetch(entries);
        __builtin_prefetch((const uint8_t *)(entries + slot->entry_count) - 1);
    }
    for (uint32_t i = 0; i < m->probe_count; i++) {
        const probe *at = &m->probes[i];
        uint32_t next = at->next;
        for (const tamis_slot *slot = at->slot; slot != NULL;
             slot = tamis_segment_next(at->segment, at->key, at->tag, &next)) {
            if (slot->key == at->key) { /* the first has only the tag in common so far */
                look_at(m, slot);
            }
        }
    }
    m->probe_count = 0;
}

/* Look for a bucket, later: most probes end at the tags, which are asked for here. */
static inline void see_bucket(matching *m, uint64_t key) {
    const tamis_buckets *buckets = &m->engine->buckets;
    uint64_t hash = tamis_bucket_hash(buckets, key);
    const tamis_segment *segment = tamis_segment_of(buckets, hash);
    if (segment->count == 0) {
        return;
    }
    if (m->probe_count == PROBES_MAX) {
        look_at_probes(m);
    }
    uint32_t home = tamis_segment_home(segment, hash);
    __builtin_prefetch(segment->tags + home);
    m->probes[m->probe_count++] = (probe){segment, NULL, key, home, tamis_tag_of(hash)};
}

/* As many as its view says. */
static const uint32_t *patterns_of(matching *m, uint32_t attribute) {
    const tamis_view *view = &m->views[attribute];
    if (view->patterns != NULL) {
        return view->patterns;
    } /* more than are kept for a message: find them again, all */
    const tm_attribute *value = &m->attributes[attribute];
    uint32_t *all = m->engine->pattern_scratch + tamis_message_patterns(m->engine);
    tamis_patterns_find(&m->engine->patterns, value->string, value->length, all, view->pattern_count, &m->work);
    return all;
}

static void see_patterns(matching *m, const known *at) {
    const tamis_view *view = &m->views[at->attribute];
    const uint32_t *patterns = patterns_of(m, at->attribute);
    if (!tm_work_spend(&m->work, view->pattern_count)) {
        return;
    }
    for (uint32_t i = 0; i < view->pattern_count; i++) {
        if (at->key->pattern_bits & tamis_operand_bit(patterns[i])) {
            see_bucket(m, tamis_bucket_key(TAMIS_BY_PATTERN, at->name, patterns[i]));
        }
    }
}

#endif
