/* reach.h - from a value to the filters under it: entries, buckets and runs.
 *
 * Law: memory far away is asked for before it is read: a probe's tags, then its slot, then the block behind it, then
 * the bodies of entries that hold so far. Private to match.c.
 */
#ifndef TM_ONEPATH_REACH_H
#define TM_ONEPATH_REACH_H

#include "engines/onepath/buckets.h"
#include "engines/onepath/pass.h"

/* ---- entries ---- */

/* The rest of an entry whose own test holds. */
static inline void verify(pass *p, const tamis_entry *entry) {
    const tamis_body *body = tamis_body_at(p->engine, entry->body);
    uint32_t interface = entry->interface & ~TAMIS_LAST;
    for (uint32_t i = 0; i < body->count; i++) {
        if (!holds(p, body->tests[i])) {
            return;
        }
    }
    emit_if_open(p, interface, body->handle);
}

static void verify_waiting(pass *p) {
    uint32_t count = tm_work_spend(&p->work, p->waiting_count * WORK_BODY) ? p->waiting_count : 0;
    for (uint32_t i = 0; i < count; i++) {
        verify(p, p->waiting[i]);
    }
    p->waiting_count = 0;
}

/* Bodies are far away: those that must be read are asked for, and read when several are on their way. */
static inline void try_entry(pass *p, const tamis_entry *entry) {
    uint32_t interface = entry->interface & ~TAMIS_LAST;
    if (is_settled(p, interface) || !holds(p, entry->test)) {
        return;
    }
    if ((entry->interface & TAMIS_LAST) && !p->wants_handles) {
        emit(p, interface, 0);
        return;
    }
    if (p->waiting_count == WAITING_MAX) {
        verify_waiting(p);
    }
    __builtin_prefetch(tamis_body_at(p->engine, entry->body));
    p->waiting[p->waiting_count++] = entry;
}

static void try_entries(pass *p, const tamis_entry *entries, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        try_entry(p, &entries[i]);
    }
}

/* ---- buckets ---- */

static void look_at(pass *p, const tamis_slot *slot) {
    const tamis_buckets *buckets = &p->engine->buckets;
    if (slot->single_count != 0) {
        if (!tm_work_spend(&p->work, slot->single_count)) {
            return;
        }
        const tamis_single *singles = tamis_slot_singles(buckets, slot);
        for (ptrdiff_t i = 0; i < slot->single_count; i++) {
            emit_if_open(p, singles[-i].interface, singles[-i].handle);
        }
    }
    if (slot->entry_count == 0) {
        return;
    }
    if (p->slot_count < SLOTS_KEPT_MAX) {
        p->slots[p->slot_count++] = slot;
    } else if (tm_work_spend(&p->work, slot->entry_count)) {
        try_entries(p, tamis_slot_entries(buckets, slot), slot->entry_count);
    }
}

/* The first slot with the probe's tag; what is left of the probes are those that have one. Half of them have, at no
 * rule: nearly always one group of tags decides, without a jump for how it does. */
static void find_slots(pass *p) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < p->probe_count; i++) {
        probe at = p->probes[i];
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
        p->probes[found] = at;
        found += is_there;
    }
    p->probe_count = found;
}

/* Look at the buckets of all probes; at each step all memory is asked for that the next one reads. */
static void look_at_probes(pass *p) {
    const tamis_buckets *buckets = &p->engine->buckets;
    p->work.steps += p->probe_count;
    find_slots(p);
    for (uint32_t i = 0; i < p->probe_count; i++) {
        const tamis_slot *slot = p->probes[i].slot;
        const tamis_entry *entries = tamis_slot_entries(buckets, slot);
        __builtin_prefetch(entries);
        __builtin_prefetch((const uint8_t *)(entries + slot->entry_count) - 1);
    }
    for (uint32_t i = 0; i < p->probe_count; i++) {
        const probe *at = &p->probes[i];
        uint32_t next = at->next;
        for (const tamis_slot *slot = at->slot; slot != NULL;
             slot = tamis_segment_next(at->segment, at->key, at->tag, &next)) {
            if (slot->key == at->key) { /* the first has only the tag in common so far */
                look_at(p, slot);
            }
        }
    }
    p->probe_count = 0;
}

/* Look for a bucket, later: most probes end at the tags, which are asked for here. */
static inline void see_bucket(pass *p, uint64_t key) {
    const tamis_buckets *buckets = &p->engine->buckets;
    uint64_t hash = tamis_bucket_hash(buckets, key);
    const tamis_segment *segment = tamis_segment_of(buckets, hash);
    if (segment->count == 0) {
        return;
    }
    if (p->probe_count == PROBES_MAX) {
        look_at_probes(p);
    }
    uint32_t home = tamis_segment_home(segment, hash);
    __builtin_prefetch(segment->tags + home);
    p->probes[p->probe_count++] = (probe){segment, NULL, key, home, tamis_tag_of(hash)};
}

static void see_patterns(pass *p, const known *at) {
    const tamis_view *view = &p->views[at->attribute];
    const uint32_t *patterns = view->patterns;
    if (patterns == NULL) { /* more than are kept for a message: find them again, all */
        const tm_attribute *value = &p->attributes[at->attribute];
        uint32_t *all = p->engine->pattern_scratch + TAMIS_MESSAGE_PATTERNS;
        tamis_patterns_find(&p->engine->patterns, value->string, value->length, all, view->pattern_count, &p->work);
        patterns = all;
    }
    if (!tm_work_spend(&p->work, view->pattern_count)) {
        return;
    }
    for (uint32_t i = 0; i < view->pattern_count; i++) {
        if (at->key->pattern_bits & tamis_operand_bit(patterns[i])) {
            see_bucket(p, tamis_bucket_key(TAMIS_BY_PATTERN, at->name, patterns[i]));
        }
    }
}

/* ---- runs ---- */

static void emit_rows(pass *p, const tamis_chunk *chunk, uint32_t from, uint32_t to) {
    if (p->answer->direct) { /* runs hold no interface with cells */
        tm_answer_emit_rows(p->answer, chunk->interfaces + from, chunk->handles + from, to - from);
        return;
    }
    for (uint32_t i = from; i < to; i++) {
        emit_if_open(p, chunk->interfaces[i], chunk->handles[i]);
    }
}

/* Those of the chunks in [from, to), each whole. */
static void emit_chunks(pass *p, const tamis_run *run, uint32_t from, uint32_t to) {
    unsigned shift = p->answer->direct ? 3 : 0; /* rows that are only copied cost next to nothing */
    for (; from < to && tm_work_spend(&p->work, run->chunks[from].count >> shift); from++) {
        emit_rows(p, &run->chunks[from], 0, run->chunks[from].count);
    }
}

static void emit_runs(pass *p, const tamis_key *key, int64_t value, const tamis_strings *strings) {
    uint32_t chunk;
    uint32_t index;
    if (key->at_most != NULL) {
        const tamis_run *run = key->at_most;
        tamis_run_find(run, value, false, strings, &chunk, &index);
        if (chunk < run->count) {
            emit_rows(p, &run->chunks[chunk], index, run->chunks[chunk].count);
            emit_chunks(p, run, chunk + 1, run->count);
        }
    }
    if (key->at_least != NULL) {
        const tamis_run *run = key->at_least;
        tamis_run_find(run, value, true, strings, &chunk, &index);
        emit_chunks(p, run, 0, chunk);
        if (chunk < run->count) {
            emit_rows(p, &run->chunks[chunk], 0, index);
        }
    }
}

static inline void see_runs(pass *p, const tamis_key *key, int64_t value, const tamis_strings *strings) {
    if (key->at_most != NULL || key->at_least != NULL) {
        emit_runs(p, key, value, strings);
    }
}

#endif
