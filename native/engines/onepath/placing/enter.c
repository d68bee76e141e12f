/* enter.c - puts a record into a place, and removes it.
 *
 * Law: an active record is in exactly one place; record.access is the test it is reached by (of a pair, the first of
 * the two), record.branch the branch of its bucket. Its entry, where it has one, may hold one more test, and its body
 * holds all tests that neither the entry nor the branch holds. A record without such tests has no body.
 */
#include "engines/onepath/placing/enter.h"

#include "engines/onepath/cost/box_choice.h"
#include "engines/onepath/paths/branch_walk.h"
#include "engines/onepath/paths/bucket_keys.h"
#include "engines/onepath/paths/buckets.h"
#include "engines/onepath/paths/entries.h"
#include "engines/onepath/paths/guards.h"
#include "engines/onepath/paths/intervals.h"
#include "engines/onepath/paths/keys.h"
#include "engines/onepath/placing/work.h"
#include "engines/onepath/records.h"
#include "engines/onepath/values/constants.h"

/* ---- in ---- */

/* Set the bits of onepath_key_mark in the fork of a branch, for the buckets of these keys. */
static void mark_fork(tm_engine *engine, uint32_t branch, const uint64_t *keys, uint32_t count) {
    uint64_t parent = engine->branches.rows[branch].parent;
    onepath_node *node = onepath_slot_node(&engine->buckets, onepath_bucket_is_full(&engine->buckets, parent).opened);
    uint32_t at = 0;
    while (node->forks[at].branch != branch) {
        at++;
    }
    for (uint32_t i = 0; i < count && onepath_fork_goes_by(node->forks[at].what) != ONEPATH_FORK_TEST; i++) {
        node->forks[at].bits |= onepath_operand_bit((uint32_t)keys[i]);
    }
}

static int64_t bound_of(onepath_test test, bool *at_most) {
    onepath_span span;
    onepath_span_of(test, &span);
    *at_most = span.no_low;
    return span.no_low ? span.high : span.low;
}

static bool enter_cells(tm_engine *engine, onepath_key *key, uint32_t handle, const onepath_tests *tests) {
    onepath_span span = {0};
    onepath_only_span(engine, tests, &span);
    span.interface = (uint16_t)onepath_interface_of(engine, handle);
    span.handle = handle;
    return onepath_cells_add(engine->memory, &key->cells, span, onepath_order_of(engine, tests->tests[0]));
}

static bool enter_run(tm_engine *engine, onepath_key *key, uint32_t handle, onepath_test test) {
    bool at_most;
    int64_t bound = bound_of(test, &at_most);
    onepath_run **run = at_most ? &key->at_most : &key->at_least;
    if (*run == NULL) {
        *run = TM_NEW(engine->memory, TM_HOT, onepath_run, 1);
        if (*run == NULL) {
            return false;
        }
        (*run)->is_at_most = at_most;
    }
    onepath_single single = {onepath_interface_of(engine, handle), handle};
    return onepath_run_add(engine->memory, *run, bound, single, onepath_order_of(engine, test));
}

static bool enter_intervals(tm_engine *engine, onepath_key *key, uint32_t handle, const onepath_tests *tests) {
    if (key->intervals == NULL) {
        key->intervals = TM_NEW(engine->memory, TM_HOT, onepath_run, 1);
    }
    uint32_t body = key->intervals == NULL ? 0 : onepath_body_new(&engine->covered_bodies, handle, tests, 1);
    if (body == 0) {
        return false;
    }
    onepath_single single = {onepath_interface_of(engine, handle), handle};
    if (!onepath_run_add_interval(engine->memory, key->intervals, onepath_interval_of(engine, tests), single,
                                  onepath_order_of(engine, tests->tests[0]))) {
        tm_arena_give(&engine->covered_bodies, body, onepath_body_class(tests->count - 1));
        return false;
    }
    engine->records[handle].body = body;
    return true;
}

static bool enter_boxes(tm_engine *engine, uint32_t handle, const onepath_tests *tests) {
    onepath_family_names family;
    onepath_family_choose(engine, tests, &family);
    return onepath_boxes_enter(engine, handle, tests, &family);
}

static bool enter_pair(tm_engine *engine, onepath_key *key, uint32_t handle, const onepath_tests *tests,
                       onepath_entry entry) {
    if (key->partners == NULL && key->pairs >= ONEPATH_PAIRS_FEW && !onepath_key_refine(engine, key)) {
        return false;
    }
    uint64_t pair = onepath_pair_key_of(engine, tests);
    if (!onepath_entries_add(engine, &pair, 1, handle, entry)) {
        return false;
    }
    uint32_t bit = onepath_partner_bit(onepath_test_name(tests->tests[1]), onepath_kind_of(engine, tests->tests[1]));
    key->partner_bits |= onepath_coarse_bit(bit);
    if (key->partners != NULL) {
        key->partners[bit / 64] |= UINT64_C(1) << (bit % 64);
    }
    return true;
}

/* Add an entry to a bucket by value, or by name. */
static bool enter_bucket(tm_engine *engine, const onepath_stand *stand, uint32_t handle, const onepath_tests *tests,
                         onepath_entry entry) {
    uint64_t keys[TM_IN_VALUES_MAX];
    uint32_t count = onepath_bucket_keys(engine, stand->place, stand->branch, tests->tests[0], keys);
    if (!onepath_entries_add(engine, keys, count, handle, entry)) {
        return false;
    }
    if (stand->branch != 0) {
        mark_fork(engine, stand->branch, keys, count);
        onepath_guards_widen(engine, stand->branch, tests);
    }
    return true;
}

bool onepath_enter_entry(tm_engine *engine, onepath_key *key, const onepath_stand *stand, uint32_t handle,
                         const onepath_tests *tests) {
    onepath_place place = stand->place;
    if (!onepath_rest_make(engine, &engine->records[handle], handle, tests)) {
        return false;
    }
    onepath_entry entry =
        onepath_entry_of(engine, place, onepath_interface_of(engine, handle), onepath_rest_of(engine, handle), tests);
    bool entered;
    if (place == ONEPATH_IN_BUCKET || place == ONEPATH_IN_NAMED) {
        entered = enter_bucket(engine, stand, handle, tests, entry);
    } else if (place == ONEPATH_IN_PAIR) {
        entered = enter_pair(engine, key, handle, tests, entry);
    } else {
        entered = onepath_list_enter(engine, place == ONEPATH_IN_SCAN ? &key->scan : &engine->always, handle, entry);
    }
    if (!entered && !(entry.rest & ONEPATH_LAST)) {
        tm_arena_give(&engine->bodies, entry.rest, onepath_body_class(onepath_body_at(engine, entry.rest)->count));
    }
    return entered;
}

static bool enter(tm_engine *engine, onepath_key *key, const onepath_stand *stand, uint32_t handle,
                  const onepath_tests *tests) {
    onepath_place place = stand->place;
    uint32_t aside = 0;
    if (place == ONEPATH_IN_CELLS || place == ONEPATH_IN_RUN || place == ONEPATH_IN_INTERVALS) {
        key = onepath_key_use_range(engine, key, tests->tests[0]);
        if (key == NULL) {
            return false;
        }
    }
    switch (place) {
    case ONEPATH_IN_CELLS:
        if (tests->count > 1) {
            aside = onepath_body_new(&engine->covered_bodies, handle, tests, 1);
            if (aside == 0) {
                return false;
            }
        }
        if (!enter_cells(engine, key, handle, tests)) {
            if (aside != 0) {
                tm_arena_give(&engine->covered_bodies, aside, onepath_body_class(tests->count - 1));
            }
            return false;
        }
        engine->records[handle].body = aside;
        return true;
    case ONEPATH_IN_RUN:
        engine->records[handle].body = 0;
        return enter_run(engine, key, handle, tests->tests[0]);
    case ONEPATH_IN_BOXES:
        return enter_boxes(engine, handle, tests);
    case ONEPATH_IN_INTERVALS:
        return enter_intervals(engine, key, handle, tests);
    case ONEPATH_IN_BUCKET_SINGLE:
        return onepath_singles_enter(engine, handle, tests->tests[0]);
    default:
        return onepath_enter_entry(engine, key, stand, handle, tests);
    }
}

/* Make the missing keys of a place, and put the record there; false if out of memory. */
static bool take_stand(tm_engine *engine, uint32_t handle, const onepath_tests *tests, const onepath_stand *stand,
                       const onepath_test roots[2]) {
    uint32_t names[2];
    unsigned kinds[2];
    uint32_t count = onepath_keys_of_place(engine, stand->place, roots, names, kinds);
    onepath_key *keys[2] = {NULL, NULL};
    bool entered = true;
    for (uint32_t i = 0; i < count && entered; i++) {
        keys[i] = onepath_key_use(engine, names[i], kinds[i]);
        entered = keys[i] != NULL;
    }
    onepath_tests made = *tests;
    made.count -= stand->implied;
    if (!entered || !enter(engine, keys[0], stand, handle, &made)) {
        for (uint32_t i = 0; i < count; i++) {
            onepath_key_drop(engine, names[i], kinds[i]);
        }
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        onepath_key_count(keys[i], stand->place, i > 0, roots[0], 1);
    }
    if (stand->place >= ONEPATH_IN_BUCKET_SINGLE && stand->place <= ONEPATH_IN_NAMED) {
        onepath_key_mark(engine, keys[0], roots[0]);
    }
    return true;
}

void onepath_begin_stand(onepath_record *record, const onepath_stand *stand, onepath_test access) {
    record->access = access;
    record->body = 0;
    record->place = stand->place & 127;
    record->branch = stand->branch & (ONEPATH_BRANCHES_MAX - 1);
}

bool onepath_activate_at(tm_engine *engine, uint32_t handle, const onepath_stand *stand, const onepath_tests *tests,
                         const onepath_test roots[2]) {
    onepath_record *record = &engine->records[handle];
    onepath_record before = *record;
    onepath_begin_stand(record, stand, onepath_access_of(tests));
    if (!take_stand(engine, handle, tests, stand, roots)) {
        onepath_branches_count(engine, stand->branch, 0, 0);
        *record = before;
        return false;
    }
    onepath_branches_count(engine, stand->branch, 0, 1);
    engine->pair_filters += stand->place == ONEPATH_IN_PAIR;
    engine->scanned += stand->place == ONEPATH_IN_SCAN;
    engine->listed += !onepath_uses_cells(engine, onepath_interface_of(engine, handle));
    return true;
}

void onepath_find_roots(const onepath_tests *tests, onepath_test roots[2]) {
    roots[0] = onepath_access_of(tests);
    roots[1] = tests->count > 1 ? tests->tests[1] : 0;
}

bool onepath_activate_in(tm_engine *engine, uint32_t handle, onepath_place place, const onepath_tests *tests) {
    onepath_test roots[2];
    onepath_stand stand = {.place = place};
    onepath_find_roots(tests, roots);
    return onepath_activate_at(engine, handle, &stand, tests, roots);
}

/* ---- out ---- */

static void leave_boxes(tm_engine *engine, uint32_t handle) {
    uint32_t left = onepath_boxes_leave(engine, handle);
    if (left != ONEPATH_NONE && !engine->scatters) {
        onepath_work_add(engine, ONEPATH_SCATTER, left);
    }
}

static void leave(tm_engine *engine, onepath_key *key, uint32_t handle, const onepath_tests *tests) {
    onepath_record *record = &engine->records[handle];
    uint64_t keys[TM_IN_VALUES_MAX];
    switch (record->place) {
    case ONEPATH_IN_CELLS: {
        onepath_span span = {0};
        onepath_only_span(engine, tests, &span);
        span.interface = (uint16_t)onepath_interface_of(engine, handle);
        span.handle = handle;
        onepath_cells_remove(engine->memory, &onepath_range_key(key, record->access)->cells, span,
                             onepath_order_of(engine, record->access));
        break;
    }
    case ONEPATH_IN_RUN: {
        bool at_most;
        int64_t bound = bound_of(record->access, &at_most);
        const onepath_key *part = onepath_range_key(key, record->access);
        onepath_run_remove(engine->memory, at_most ? part->at_most : part->at_least, bound,
                           (onepath_single){onepath_interface_of(engine, handle), handle},
                           onepath_order_of(engine, record->access));
        break;
    }
    case ONEPATH_IN_INTERVALS:
        onepath_run_remove(
            engine->memory, onepath_range_key(key, record->access)->intervals, onepath_interval_of(engine, tests).low,
            (onepath_single){onepath_interface_of(engine, handle), handle}, onepath_order_of(engine, record->access));
        break;
    case ONEPATH_IN_BUCKET_SINGLE:
        onepath_singles_remove(engine, keys, onepath_keys_by_value(engine, record->access, keys), handle);
        break;
    case ONEPATH_IN_BUCKET:
    case ONEPATH_IN_NAMED:
        onepath_entries_remove(engine, keys, onepath_keys_of_record(engine, record, keys),
                               onepath_rest_of(engine, handle), onepath_row_of(engine, record));
        break;
    case ONEPATH_IN_PAIR:
        keys[0] = onepath_pair_key_of_record(engine, handle);
        onepath_entries_remove(engine, keys, 1, onepath_rest_of(engine, handle), onepath_row_of(engine, record));
        break;
    case ONEPATH_IN_BOXES:
        leave_boxes(engine, handle);
        break;
    case ONEPATH_IN_SCAN:
        onepath_list_remove(engine, &key->scan, handle);
        break;
    default:
        onepath_list_remove(engine, &engine->always, handle);
        break;
    }
}

void onepath_deactivate(tm_engine *engine, uint32_t handle) {
    onepath_record *record = &engine->records[handle];
    onepath_tests tests;
    onepath_tests_of_record(engine, handle, &tests);
    uint32_t branch = onepath_branch_of(record);
    onepath_test roots[2] = {branch == 0 ? tests.tests[0] : onepath_branch_root(engine, branch), tests.tests[1]};
    uint32_t names[2];
    unsigned kinds[2];
    uint32_t count = onepath_keys_of_place(engine, (onepath_place)record->place, roots, names, kinds);
    onepath_key *key = count == 0 ? NULL : engine->names.records[names[0]].keys[kinds[0]];
    leave(engine, key, handle, &tests);
    onepath_branches_count(engine, branch, 0, UINT32_MAX);
    record->branch = 0;
    engine->pair_filters -= record->place == ONEPATH_IN_PAIR;
    engine->scanned -= record->place == ONEPATH_IN_SCAN;
    engine->listed -= !onepath_uses_cells(engine, onepath_interface_of(engine, handle));
    for (uint32_t i = 0; i < count; i++) {
        onepath_key_count(engine->names.records[names[i]].keys[kinds[i]], (onepath_place)record->place, i > 0, roots[0],
                          UINT32_MAX);
        onepath_key_drop(engine, names[i], kinds[i]);
    }
    onepath_free_body(engine, handle);
}
