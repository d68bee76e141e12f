/* reach.h - from a value to the filters under it: entries and buckets.
 *
 * Law: distant memory is prefetched before it is read: a probe's tags, then its slot, then the block of the slot, then
 * the bodies of entries whose first test holds. Private to match.c.
 */
#ifndef TM_ONEPATH_REACH_H
#define TM_ONEPATH_REACH_H

#include "engines/onepath/matching/match.h"
#include "engines/onepath/matching/pair_matching.h"
#include "engines/onepath/paths/buckets.h"
#include "engines/onepath/values/patterns_pass.h"

/* ---- buckets ---- */

/* Evaluate the entries of a bucket that was set aside, if the work budget allows it. */
static __attribute__((noinline)) void try_bucket(matching *m, const kept_bucket *kept) {
    const onepath_entry *entries = onepath_slot_entries(&m->engine->buckets, kept->slot);
    if (!tm_work_spend(&m->answer->work, kept->slot->entry_count)) {
        return;
    }
    if (kept->slot->key >> 56 == ONEPATH_BY_PAIR) {
        try_pairs(m, entries, kept->slot->entry_count, &m->known[kept->first], &m->known[kept->second]);
    } else {
        try_entries(m, entries, kept->slot->entry_count);
    }
}

static void look_at(matching *m, const probe *at, const onepath_slot *slot) {
    const onepath_buckets *buckets = &m->engine->buckets;
    if (slot->single_count != 0) {
        if (!tm_work_spend(&m->answer->work, slot->single_count)) {
            return;
        }
        const onepath_single *singles = onepath_slot_singles(buckets, slot);
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
    kept_bucket kept = {slot, at->first, at->second};
    if (m->slot_count < SLOTS_KEPT_MAX && !m->at_once) {
        m->slots[m->slot_count++] = kept;
    } else {
        try_bucket(m, &kept);
    }
}

/* Find the first slot with each probe's tag and drop the probes that have none. About half have one, in no order that a
 * processor could predict: in most cases one group of tags decides, without a branch on the result. */
static void find_slots(matching *m) {
    uint32_t found = 0;
    uint32_t count = m->probe_count;
    m->answer->work.steps += count;
    for (uint32_t i = 0; i < count; i++) {
        const probe *at = &m->probes[i];
        const onepath_segment *segment = at->segment;
        uint32_t home = at->home;
        onepath_tagged seen = onepath_tags_at(segment, at->tag, home);
        uint32_t here = onepath_segment_wrap(segment, home + onepath_first_byte(seen.same));
        bool is_there = seen.same != 0;
        if (__builtin_expect((seen.same | seen.empty) == 0, 0)) {
            here = onepath_segment_tagged(segment, at->tag, home);
            is_there = here != ONEPATH_NONE;
            here = is_there ? here : 0;
        }
        const onepath_slot *slot = &segment->slots[here];
        __builtin_prefetch(slot);
        m->probes[found] = *at;
        m->probes[found].slot = slot;
        found += is_there;
    }
    m->probe_count = found;
}

/* Read all slots of a bucket: the first one with the tag has another key, or the bucket has several. */
static __attribute__((noinline)) void look_at_all(matching *m, const probe *at) {
    uint32_t next = at->home;
    const onepath_slot *slot;
    while ((slot = onepath_segment_next(at->segment, at->key, at->tag, &next)) != NULL) {
        look_at(m, at, slot);
    }
}

static void ask_for_blocks(const matching *m) {
    const onepath_buckets *buckets = &m->engine->buckets;
    for (uint32_t i = 0; i < m->probe_count; i++) {
        const onepath_slot *slot = m->probes[i].slot;
        const onepath_entry *entries = onepath_slot_entries(buckets, slot);
        __builtin_prefetch(entries);
        __builtin_prefetch((const uint8_t *)(entries + slot->entry_count) - 1);
    }
}

static void look_at_slots(matching *m) {
    for (uint32_t i = 0; i < m->probe_count; i++) {
        const probe *at = &m->probes[i];
        if (__builtin_expect(at->slot->key == at->key && !at->slot->is_shared, 1)) {
            look_at(m, at, at->slot);
        } else {
            look_at_all(m, at);
        }
    }
    m->probe_count = 0;
}

/* Read the buckets of all probes; each step prefetches all memory that the next one reads. */
static void look_at_probes(matching *m) {
    if (m->probe_count == 0) {
        return;
    }
    find_slots(m);
    ask_for_blocks(m);
    look_at_slots(m);
}

/* Add a probe for a bucket. Most probes end at the tags, which are prefetched here. */
static inline void see_bucket_of(matching *m, uint64_t key, uint32_t first, uint32_t second) {
    const onepath_buckets *buckets = &m->engine->buckets;
    uint64_t hash = onepath_bucket_hash(buckets, key);
    const onepath_segment *segment = onepath_segment_of(buckets, hash);
    if (segment->count == 0) {
        return;
    }
    if (m->probe_count == PROBES_MAX) {
        look_at_probes(m);
    }
    uint32_t home = onepath_segment_home(segment, hash);
    __builtin_prefetch(segment->tags + home);
    m->probes[m->probe_count++] =
        (probe){segment, NULL, key, home, onepath_tag_of(hash), (uint8_t)first, (uint8_t)second};
}
static inline void see_bucket(matching *m, uint64_t key) {
    see_bucket_of(m, key, 0, 0);
}

/* Return the patterns that an attribute contains: view->pattern_count of them. */
static const uint32_t *patterns_of(matching *m, uint32_t attribute) {
    const onepath_view *view = &m->views[attribute];
    if (view->patterns != NULL) {
        return view->patterns;
    } /* more than a match keeps: all are searched for again */
    const tm_attribute *value = &m->attributes[attribute];
    uint32_t *all = m->engine->pattern_scratch + onepath_message_patterns(m->engine);
    onepath_patterns_find(&m->engine->patterns, value->string, value->length, all, view->pattern_count,
                          &m->answer->work);
    return all;
}

static void see_patterns(matching *m, const known *at) {
    const onepath_view *view = &m->views[at->attribute];
    const uint32_t *patterns = patterns_of(m, at->attribute);
    if (!tm_work_spend(&m->answer->work, view->pattern_count)) {
        return;
    }
    for (uint32_t i = 0; i < view->pattern_count; i++) {
        if (at->key->pattern_bits & onepath_operand_bit(patterns[i])) {
            see_bucket(m, onepath_bucket_key(ONEPATH_BY_PATTERN, at->name, patterns[i]));
        }
    }
}

#endif
