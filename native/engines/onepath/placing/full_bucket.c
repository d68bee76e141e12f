/* full_bucket.c - opens buckets that are full.
 *
 * Law: no bucket holds more than ONEPATH_FULL_BUCKET_MAX entries that could be further on. Other entries of a larger
 * bucket have no other equality and no other pattern than those they are reached by, or are behind ONEPATH_DEPTH_MAX
 * branches, or are in one of the buckets of an `in`; of those, filters that share a test go behind guards
 * (new_guards.c). One addition moves at most that many entries at each depth, and GUARD_MOVES_MAX where it makes a
 * guard.
 */
#include "engines/onepath/placing/full_bucket.h"

#include "engines/onepath/paths/bucket_keys.h"
#include "engines/onepath/paths/buckets.h"
#include "engines/onepath/paths/entries.h"
#include "engines/onepath/paths/guard_rows.h"
#include "engines/onepath/placing/descend.h"
#include "engines/onepath/placing/move.h"
#include "engines/onepath/placing/new_guards.h"
#include "engines/onepath/records.h"

#define OPENED_MIN 16U /* initial room */

/* Filters of a bucket: at most those that fit before it is opened, and the new one. */
typedef struct movers {
    uint32_t count;
    uint32_t handles[ONEPATH_FULL_BUCKET_MAX + 1];
} movers;

/* true if the filter could go further by a value. */
static bool can_move(const tm_engine *engine, uint32_t handle) {
    onepath_tests tests;
    onepath_stand stand = onepath_stand_of(engine, handle);
    onepath_tests_of_record(engine, handle, &tests);
    return onepath_can_descend(engine, &tests, &stand);
}

/* true if the filter is not in a bucket of an `in`; those stay. */
static bool is_plain(const tm_engine *engine, uint32_t handle) {
    const onepath_record *record = &engine->records[handle];
    return record->place == ONEPATH_IN_NAMED || onepath_test_op(record->access) != ONEPATH_COMPLEX;
}

static void find_movers(const tm_engine *engine, uint64_t key, bool (*moves)(const tm_engine *, uint32_t),
                        movers *found) {
    const onepath_buckets *buckets = &engine->buckets;
    uint64_t hash = onepath_bucket_hash(buckets, key);
    const onepath_segment *segment = onepath_segment_of(buckets, hash);
    uint32_t at = onepath_segment_home(segment, hash);
    const onepath_slot *slot;
    found->count = 0;
    while ((slot = onepath_segment_next(segment, key, onepath_tag_of(hash), &at)) != NULL) {
        for (uint32_t i = 0; i < slot->entry_count && found->count <= ONEPATH_FULL_BUCKET_MAX; i++) {
            uint32_t handle = onepath_handle_of_entry(engine, &onepath_slot_entries(buckets, slot)[i]);
            if (moves(engine, handle)) {
                found->handles[found->count++] = handle;
            }
        }
    }
}

/* Move filters on from a bucket, except those of an `in`: filters without a value to go by may still go by a name. */
static bool empty_out(tm_engine *engine, uint64_t key) {
    movers found;
    find_movers(engine, key, is_plain, &found);
    for (uint32_t i = 0; i < found.count; i++) {
        if (!onepath_move_on(engine, found.handles[i])) {
            return false;
        }
    }
    return true;
}

/* Reserve room for a match to note every opened bucket, one more included; false if out of memory. */
static bool reserve_opened(tm_engine *engine) {
    uint32_t wanted = engine->buckets.opened_count + 1;
    if (wanted <= engine->opened_capacity) {
        return true;
    }
    uint32_t capacity = wanted + wanted / 4 + OPENED_MIN;
    uint32_t *opened = TM_RESIZE(engine->memory, TM_HOT, engine->opened, uint32_t, engine->opened_capacity, capacity);
    if (opened == NULL) {
        return false;
    }
    engine->opened = opened;
    engine->opened_capacity = capacity;
    return true;
}

bool onepath_split_full(tm_engine *engine, uint32_t handle) {
    const onepath_record *record = &engine->records[handle];
    while ((record->place == ONEPATH_IN_BUCKET && onepath_test_op(record->access) != ONEPATH_COMPLEX) ||
           record->place == ONEPATH_IN_NAMED) {
        uint64_t key;
        onepath_bucket_keys(engine, (onepath_place)record->place, record->branch, record->access, &key);
        onepath_full_bucket full_bucket = onepath_bucket_is_full(&engine->buckets, key);
        if (full_bucket.entries <= ONEPATH_FULL_BUCKET_MAX) {
            return true;
        }
        if (onepath_guards_split(engine, handle, key)) {
            continue;
        }
        if (full_bucket.opened != NULL) {
            uint32_t branch = record->branch;
            if (!onepath_guards_make(engine, handle, key) || record->branch == branch) {
                return true;
            }
            continue;
        }
        if (!reserve_opened(engine) || !onepath_buckets_open(&engine->buckets, key) || !empty_out(engine, key)) {
            return false;
        }
    }
    return true;
}

static int validate_slot(const tm_engine *engine, const onepath_slot *slot, const char **reason) {
    movers found = {0};
    onepath_full_bucket full_bucket = onepath_bucket_is_full(&engine->buckets, slot->key);
    if (full_bucket.entries > ONEPATH_FULL_BUCKET_MAX && onepath_key_tag(slot->key) != ONEPATH_BY_PAIR) {
        find_movers(engine, slot->key, can_move, &found);
    }
    if (found.count > ONEPATH_FULL_BUCKET_MAX) {
        *reason = "more filters stand in a bucket than need to";
        return TM_MISUSED;
    }
    const onepath_node *node = slot->is_opened ? onepath_slot_node(&engine->buckets, slot) : NULL;
    uint64_t behind = 0;
    if (node != NULL && !onepath_guards_are_in_rows(engine, node)) {
        *reason = "a guard passes by another that it does not imply";
        return TM_MISUSED;
    }
    for (uint32_t i = 0; node != NULL && i < node->count; i++) {
        const onepath_branch *branch = &engine->branches.rows[node->forks[i].branch];
        bool is_guard = onepath_fork_goes_by(branch->what) == ONEPATH_FORK_TEST;
        behind += branch->filters;
        if (branch->parent != slot->key || branch->what != node->forks[i].what || branch->filters == 0 ||
            branch->guard != (is_guard ? node->forks[i].bits : ONEPATH_NO_TEST) ||
            (is_guard && branch->other != node->forks[i].other)) {
            *reason = "a fork of an opened bucket is not its branch";
            return TM_MISUSED;
        }
    }
    if (node != NULL && behind != node->filters) {
        *reason = "a node and its branches count different filters";
        return TM_MISUSED;
    }
    if (node != NULL && ((uint32_t)(node->count - node->guards) > ONEPATH_FORKS_MAX + 1 ||
                         node->guards > ONEPATH_GUARDS_MAX || (node->count == 0 && full_bucket.slots == 1))) {
        *reason = "an open bucket has no branches or too many";
        return TM_MISUSED;
    }
    return TM_OK;
}

/* Check that every branch is a fork of its parent and counts the records behind it. */
static int validate_branches(const tm_engine *engine, const char **reason) {
    uint64_t said = 0;
    uint64_t found = 0;
    uint32_t live = 0;
    for (uint32_t id = 1; id < engine->branches.count; id++) {
        const onepath_branch *branch = &engine->branches.rows[id];
        if (branch->parent != 0) {
            live++;
            said += branch->filters;
        }
    }
    for (uint32_t handle = 0; handle < engine->holders->count; handle++) {
        uint32_t branch = onepath_branch_of(&engine->records[handle]);
        for (; branch != 0; branch = onepath_key_branch(engine->branches.rows[branch].parent)) {
            found++;
        }
    }
    if (said != found || live != engine->branches.live) {
        *reason = "branches count more or fewer filters than exist";
        return TM_MISUSED;
    }
    return TM_OK;
}

int onepath_full_buckets_validate(const tm_engine *engine, const char **reason) {
    for (unsigned i = 0; i < ONEPATH_SEGMENTS; i++) {
        const onepath_segment *segment = &engine->buckets.segments[i];
        for (uint32_t at = 0; at < segment->capacity; at++) {
            int result = segment->tags[at] == 0 ? TM_OK : validate_slot(engine, &segment->slots[at], reason);
            if (result != TM_OK) {
                return result;
            }
        }
    }
    int result = onepath_guards_validate(engine, reason);
    return result == TM_OK ? validate_branches(engine, reason) : result;
}
