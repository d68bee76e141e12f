/* gather.c - filters that move after another: to boxes, behind a guard, back to buckets, and out of a pair.
 *
 * Law: as in boxes.h. At most MOVES_MAX filters move at once; out of memory some stay, which is exact, too.
 */
#include "engines/onepath/placing/gather.h"

#include "engines/onepath/cost/box_choice.h"
#include "engines/onepath/cost/choose.h"
#include "engines/onepath/paths/buckets.h"
#include "engines/onepath/paths/entries.h"
#include "engines/onepath/placing/place.h"
#include "engines/onepath/placing/work.h"
#include "engines/onepath/records.h"

#define SAMPLES 4U        /* filters of a bucket that are compared with a new one */
#define SAMPLES_MORE 64U  /* the limit where one of the first samples is of its family */
#define MOVES_MAX 1024U   /* filters that become boxes at once: a millisecond or two */
#define FOLLOW_AT_ONCE 2U /* boxes that go behind a guard after a new one */

/* ---- to boxes, and back ---- */

static bool is_of_family(const tm_engine *engine, const onepath_entry *entry, const onepath_family_names *family) {
    onepath_tests tests;
    onepath_family_names names;
    onepath_tests_of_entry(engine, entry, &tests);
    onepath_family_names_of(engine, &tests, &names);
    return onepath_family_same_names(&names, family);
}

/* Return how many of `samples` entries, spread over the bucket, are of the family. Entries and their bodies are far
 * apart: all are prefetched before the first is read. */
static uint32_t similar_among(const tm_engine *engine, const onepath_slot *slot, const onepath_family_names *family,
                              uint32_t samples) {
    const onepath_entry *each[SAMPLES_MORE];
    const onepath_entry *entries = onepath_slot_entries(&engine->buckets, slot);
    for (uint32_t i = 0; i < samples; i++) {
        each[i] = &entries[(engine->holders->count * 7 + i * slot->entry_count / samples) % slot->entry_count];
        __builtin_prefetch(each[i]);
    }
    for (uint32_t i = 0; i < samples; i++) {
        onepath_ask_entries(engine, each[i], 1);
    }
    uint32_t similar = 0;
    for (uint32_t i = 0; i < samples; i++) {
        similar += is_of_family(engine, each[i], family);
    }
    return similar;
}

/* true if samples suggest that at least `least` entries of the bucket are of the family. A few samples exclude most
 * buckets; more are taken only then, as reading all entries takes a millisecond. */
static bool looks_promising(const tm_engine *engine, const onepath_slot *slot, const onepath_family_names *family,
                            uint32_t least) {
    return similar_among(engine, slot, family, SAMPLES) > 0 &&
           (uint64_t)similar_among(engine, slot, family, SAMPLES_MORE) * slot->entry_count >=
               (uint64_t)SAMPLES_MORE * least;
}

/* Find the filters of the family in this slot of the bucket, at most MOVES_MAX. */
static uint32_t find_similar(const tm_engine *engine, const onepath_slot *slot, const onepath_family_names *family,
                             uint32_t *handles) {
    const onepath_entry *entries = onepath_slot_entries(&engine->buckets, slot);
    uint32_t count = 0;
    for (uint32_t i = 0; i < slot->entry_count && count < MOVES_MAX; i++) {
        if (is_of_family(engine, &entries[i], family)) {
            handles[count++] = onepath_handle_of_entry(engine, &entries[i]);
        }
    }
    return count;
}

void onepath_boxes_gather(tm_engine *engine, uint64_t bucket, const onepath_tests *tests, uint32_t least) {
    const onepath_slot *slot = bucket == 0 ? NULL : onepath_buckets_find(&engine->buckets, bucket);
    if (slot == NULL || slot->entry_count < least) {
        return;
    }
    onepath_family_names family;
    onepath_family_names_of(engine, tests, &family);
    if (!onepath_family_is_one(&family) || !looks_promising(engine, slot, &family, least)) {
        return;
    }
    uint32_t handles[MOVES_MAX];
    uint32_t count = find_similar(engine, slot, &family, handles);
    for (uint32_t i = 0; i < count && count >= least; i++) {
        if (!onepath_move_anew(engine, handles[i], true)) {
            return;
        }
    }
}

void onepath_boxes_scatter(tm_engine *engine, uint32_t handle) {
    const tm_family *family = onepath_family_of(engine, handle);
    uint32_t bodies[ONEPATH_BOXES_LEFT];
    if (!onepath_family_is_small(family)) {
        return;
    }
    engine->scatters = true;
    uint32_t count = tm_boxes_ids(&family->tree, bodies, ONEPATH_BOXES_LEFT);
    for (uint32_t i = 0; i < count; i++) {
        if (!onepath_move_anew(engine, onepath_body_at(engine, bodies[i])->handle, false)) {
            break;
        }
    }
    engine->scatters = false;
}

/* ---- behind a guard ---- */

/* Return a filter of the unguarded family of these names that would now be behind a guard; ONEPATH_NONE if the filter
 * examined would not, or there is none. */
static uint32_t handle_to_follow(const tm_engine *engine, onepath_family_names *family) {
    family->guard = ONEPATH_NO_TEST;
    const tm_family *open = onepath_family_find(engine, family);
    uint32_t body;
    onepath_tests tests;
    if (open == NULL || tm_boxes_ids(&open->tree, &body, 1) == 0) {
        return ONEPATH_NONE;
    }
    uint32_t handle = onepath_body_at(engine, body)->handle;
    onepath_boxes_tests(engine, handle, &tests);
    onepath_family_choose_guard(engine, &tests, family);
    return family->guard == ONEPATH_NO_TEST ? ONEPATH_NONE : handle;
}

void onepath_boxes_follow(tm_engine *engine, const onepath_tests *tests) {
    onepath_family_names family;
    if (engine->families.guarded == 0) {
        return;
    }
    onepath_family_choose(engine, tests, &family);
    if (family.guard == ONEPATH_NO_TEST) {
        return;
    }
    for (uint32_t i = 0; i < FOLLOW_AT_ONCE; i++) {
        uint32_t handle = handle_to_follow(engine, &family);
        if (handle == ONEPATH_NONE || !onepath_move_anew(engine, handle, false)) {
            break;
        }
    }
}

/* ---- out of a pair ---- */

void onepath_pair_split_full(tm_engine *engine, uint64_t pair) {
    uint32_t handles[ONEPATH_FULL_BUCKET_MAX];
    const onepath_slot *slot = onepath_buckets_find(&engine->buckets, pair);
    uint32_t filters = slot == NULL ? 0 : slot->entry_count;
    if (filters == 0 || filters % ONEPATH_PAIR_MAX != 0) {
        return;
    }
    uint32_t count = filters < ONEPATH_FULL_BUCKET_MAX ? filters : ONEPATH_FULL_BUCKET_MAX;
    const onepath_entry *last = onepath_slot_entries(&engine->buckets, slot) + filters - count;
    for (uint32_t i = 0; i < count; i++) {
        handles[i] = onepath_handle_of_entry(engine, &last[i]);
    }
    engine->full_pair = pair;
    engine->full_pair_filters = filters;
    for (uint32_t i = count; i > 0; i--) {
        onepath_tests tests;
        onepath_tests_of_record(engine, handles[i - 1], &tests);
        bool leaves = onepath_choose(engine, onepath_interface_of(engine, handles[i - 1]), &tests) == ONEPATH_IN_BUCKET;
        if (leaves ? !onepath_move_anew(engine, handles[i - 1], false) : i == count) {
            break; /* no memory, or not even the last one leaves */
        }
        if (leaves) {
            onepath_work_add(engine, ONEPATH_GATHER, handles[i - 1]);
        }
    }
    engine->full_pair = 0;
}
