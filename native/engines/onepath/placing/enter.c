/* enter.c - into a place, and out of it.
 *
 * Law: an active record stands in exactly one place; record.access is the test it is reached by (of a pair, the first
 * of the two), record.branch the branch that its bucket stands in. Its entry, where it has one, may hold one more test,
 * and its body holds all that neither the entry nor the branch says. Without others there is no body.
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
#include "engines/onepath/placing/gather.h"
#include "engines/onepath/records.h"
#include "engines/onepath/values/constants.h"

/* ---- in ---- */

/* Set the bits of tamis_key_mark in the fork of a branch that goes to the buckets of these keys. */
static void mark_fork(tm_engine *engine, uint32_t branch, const uint64_t *keys, uint32_t count) {
    uint64_t parent = engine->branches.rows[branch].parent;
    tamis_node *node = tamis_slot_node(&engine->buckets, tamis_buckets_crowd(&engine->buckets, parent).opened);
    uint32_t at = 0;
    while (node->forks[at].branch != branch) {
        at++;
    }
    for (uint32_t i = 0; i < count && tamis_fork_goes_by(node->forks[at].what) != TAMIS_FORK_TEST; i++) {
        node->forks[at].bits |= tamis_operand_bit((uint32_t)keys[i]);
    }
}

static int64_t bound_of(tamis_test test, bool *at_most) {
    tamis_span span;
    tamis_span_of(test, &span);
    *at_most = span.no_low;
    return span.no_low ? span.high : span.low;
}

static bool enter_cells(tm_engine *engine, tamis_key *key, uint32_t handle, const tamis_tests *tests) {
    tamis_span span = {0};
    tamis_only_span(engine, tests, &span);
    span.interface = (uint16_t)tamis_interface_of(engine, handle);
    span.handle = handle;
    return tamis_cells_add(engine->memory, &key->cells, span, tamis_order_of(engine, tests->tests[0]));
}

static bool enter_run(tm_engine *engine, tamis_key *key, uint32_t handle, tamis_test test) {
    bool at_most;
    int64_t bound = bound_of(test, &at_most);
    tamis_run **run = at_most ? &key->at_most : &key->at_least;
    if (*run == NULL) {
        *run = TM_NEW(engine->memory, TM_HOT, tamis_run, 1);
        if (*run == NULL) {
            return false;
        }
        (*run)->is_at_most = at_most;
    }
    tamis_single single = {tamis_interface_of(engine, handle), handle};
    return tamis_run_add(engine->memory, *run, bound, single, tamis_order_of(engine, test));
}

static bool enter_intervals(tm_engine *engine, tamis_key *key, uint32_t handle, const tamis_tests *tests) {
    if (key->intervals == NULL) {
        key->intervals = TM_NEW(engine->memory, TM_HOT, tamis_run, 1);
    }
    uint32_t body = key->intervals == NULL ? 0 : tamis_body_new(&engine->covered_bodies, handle, tests, 1);
    if (body == 0) {
        return false;
    }
    tamis_single single = {tamis_interface_of(engine, handle), handle};
    if (!tamis_run_add_interval(engine->memory, key->intervals, tamis_interval_of(engine, tests), single,
                                tamis_order_of(engine, tests->tests[0]))) {
        tm_arena_give(&engine->covered_bodies, body, tamis_body_class(tests->count - 1));
        return false;
    }
    engine->records[handle].body = body;
    return true;
}

static bool enter_boxes(tm_engine *engine, uint32_t handle, const tamis_tests *tests) {
    tamis_family_names family;
    tamis_family_choose(engine, tests, &family);
    return tamis_boxes_enter(engine, handle, tests, &family);
}

static bool enter_pair(tm_engine *engine, tamis_key *key, uint32_t handle, const tamis_tests *tests,
                       tamis_entry entry) {
    if (key->partners == NULL && key->pairs >= TAMIS_PAIRS_FEW && !tamis_key_refine(engine, key)) {
        return false;
    }
    uint64_t pair = tamis_pair_key_of(engine, tests);
    if (!tamis_entries_add(engine, &pair, 1, handle, entry)) {
        return false;
    }
    uint32_t bit = tamis_partner_bit(tamis_test_name(tests->tests[1]), tamis_kind_of(engine, tests->tests[1]));
    key->partner_bits |= tamis_coarse_bit(bit);
    if (key->partners != NULL) {
        key->partners[bit / 64] |= UINT64_C(1) << (bit % 64);
    }
    return true;
}

/* Into a bucket by value, or by name. */
static bool enter_bucket(tm_engine *engine, const tamis_stand *stand, uint32_t handle, const tamis_tests *tests,
                         tamis_entry entry) {
    uint64_t keys[TM_IN_VALUES_MAX];
    uint32_t count = tamis_bucket_keys(engine, stand->place, stand->branch, tests->tests[0], keys);
    if (!tamis_entries_add(engine, keys, count, handle, entry)) {
        return false;
    }
    if (stand->branch != 0) {
        mark_fork(engine, stand->branch, keys, count);
        tamis_guards_widen(engine, stand->branch, tests);
    }
    return true;
}

bool tamis_enter_entry(tm_engine *engine, tamis_key *key, const tamis_stand *stand, uint32_t handle,
                       const tamis_tests *tests) {
    tamis_place place = stand->place;
    if (!tamis_rest_make(engine, &engine->records[handle], handle, tests)) {
        return false;
    }
    tamis_entry entry =
        tamis_entry_of(engine, place, tamis_interface_of(engine, handle), tamis_rest_of(engine, handle), tests);
    bool entered;
    if (place == TAMIS_IN_BUCKET || place == TAMIS_IN_NAMED) {
        entered = enter_bucket(engine, stand, handle, tests, entry);
    } else if (place == TAMIS_IN_PAIR) {
        entered = enter_pair(engine, key, handle, tests, entry);
    } else {
        entered = tamis_list_enter(engine, place == TAMIS_IN_SCAN ? &key->scan : &engine->always, handle, entry);
    }
    if (!entered && !(entry.rest & TAMIS_LAST)) {
        tm_arena_give(&engine->bodies, entry.rest, tamis_body_class(tamis_body_at(engine, entry.rest)->count));
    }
    return entered;
}

static bool enter(tm_engine *engine, tamis_key *key, const tamis_stand *stand, uint32_t handle,
                  const tamis_tests *tests) {
    tamis_place place = stand->place;
    uint32_t aside = 0;
    if (place == TAMIS_IN_CELLS || place == TAMIS_IN_RUN || place == TAMIS_IN_INTERVALS) {
        key = tamis_key_use_range(engine, key, tests->tests[0]);
        if (key == NULL) {
            return false;
        }
    }
    switch (place) {
    case TAMIS_IN_CELLS:
        if (tests->count > 1) {
            aside = tamis_body_new(&engine->covered_bodies, handle, tests, 1);
            if (aside == 0) {
                return false;
            }
        }
        if (!enter_cells(engine, key, handle, tests)) {
            if (aside != 0) {
                tm_arena_give(&engine->covered_bodies, aside, tamis_body_class(tests->count - 1));
            }
            return false;
        }
        engine->records[handle].body = aside;
        return true;
    case TAMIS_IN_RUN:
        engine->records[handle].body = 0;
        return enter_run(engine, key, handle, tests->tests[0]);
    case TAMIS_IN_BOXES:
        return enter_boxes(engine, handle, tests);
    case TAMIS_IN_INTERVALS:
        return enter_intervals(engine, key, handle, tests);
    case TAMIS_IN_BUCKET_SINGLE:
        return tamis_singles_enter(engine, handle, tests->tests[0]);
    default:
        return tamis_enter_entry(engine, key, stand, handle, tests);
    }
}

/* Make the keys that a stand hangs on, as far as they are not there, and put the record where it says. */
static bool take_stand(tm_engine *engine, uint32_t handle, const tamis_tests *tests, const tamis_stand *stand,
                       const tamis_test roots[2]) {
    uint32_t names[2];
    unsigned kinds[2];
    uint32_t count = tamis_keys_of_place(engine, stand->place, roots, names, kinds);
    tamis_key *keys[2] = {NULL, NULL};
    bool entered = true;
    for (uint32_t i = 0; i < count && entered; i++) {
        keys[i] = tamis_key_use(engine, names[i], kinds[i]);
        entered = keys[i] != NULL;
    }
    tamis_tests made = *tests;
    made.count -= stand->implied;
    if (!entered || !enter(engine, keys[0], stand, handle, &made)) {
        for (uint32_t i = 0; i < count; i++) {
            tamis_key_drop(engine, names[i], kinds[i]);
        }
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        tamis_key_count(keys[i], stand->place, i > 0, roots[0], 1);
    }
    if (stand->place >= TAMIS_IN_BUCKET_SINGLE && stand->place <= TAMIS_IN_NAMED) {
        tamis_key_mark(engine, keys[0], roots[0]);
    }
    return true;
}

void tamis_begin_stand(tamis_record *record, const tamis_stand *stand, tamis_test access) {
    record->access = access;
    record->body = 0;
    record->place = stand->place & 127;
    record->branch = stand->branch & (TAMIS_BRANCHES_MAX - 1);
}

bool tamis_activate_at(tm_engine *engine, uint32_t handle, const tamis_stand *stand, const tamis_tests *tests,
                       const tamis_test roots[2]) {
    tamis_record *record = &engine->records[handle];
    tamis_record before = *record;
    tamis_begin_stand(record, stand, tamis_access_of(tests));
    if (!take_stand(engine, handle, tests, stand, roots)) {
        tamis_branches_count(engine, stand->branch, 0, 0);
        *record = before;
        return false;
    }
    tamis_branches_count(engine, stand->branch, 0, 1);
    engine->pair_filters += stand->place == TAMIS_IN_PAIR;
    engine->scanned += stand->place == TAMIS_IN_SCAN;
    engine->listed += !tamis_uses_cells(engine, tamis_interface_of(engine, handle));
    return true;
}

void tamis_find_roots(const tamis_tests *tests, tamis_test roots[2]) {
    roots[0] = tamis_access_of(tests);
    roots[1] = tests->count > 1 ? tests->tests[1] : 0;
}

bool tamis_activate_in(tm_engine *engine, uint32_t handle, tamis_place place, const tamis_tests *tests) {
    tamis_test roots[2];
    tamis_stand stand = {.place = place};
    tamis_find_roots(tests, roots);
    return tamis_activate_at(engine, handle, &stand, tests, roots);
}

/* ---- out ---- */

static void leave(tm_engine *engine, tamis_key *key, uint32_t handle, const tamis_tests *tests) {
    tamis_record *record = &engine->records[handle];
    uint64_t keys[TM_IN_VALUES_MAX];
    switch (record->place) {
    case TAMIS_IN_CELLS: {
        tamis_span span = {0};
        tamis_only_span(engine, tests, &span);
        span.interface = (uint16_t)tamis_interface_of(engine, handle);
        span.handle = handle;
        tamis_cells_remove(engine->memory, &tamis_range_key(key, record->access)->cells, span,
                           tamis_order_of(engine, record->access));
        break;
    }
    case TAMIS_IN_RUN: {
        bool at_most;
        int64_t bound = bound_of(record->access, &at_most);
        const tamis_key *part = tamis_range_key(key, record->access);
        tamis_run_remove(engine->memory, at_most ? part->at_most : part->at_least, bound,
                         (tamis_single){tamis_interface_of(engine, handle), handle},
                         tamis_order_of(engine, record->access));
        break;
    }
    case TAMIS_IN_INTERVALS:
        tamis_run_remove(
            engine->memory, tamis_range_key(key, record->access)->intervals, tamis_interval_of(engine, tests).low,
            (tamis_single){tamis_interface_of(engine, handle), handle}, tamis_order_of(engine, record->access));
        break;
    case TAMIS_IN_BUCKET_SINGLE:
        tamis_singles_remove(engine, keys, tamis_keys_by_value(engine, record->access, keys), handle);
        break;
    case TAMIS_IN_BUCKET:
    case TAMIS_IN_NAMED:
        tamis_entries_remove(engine, keys, tamis_keys_of_record(engine, record, keys), tamis_rest_of(engine, handle),
                             tamis_row_of(engine, record));
        break;
    case TAMIS_IN_PAIR:
        keys[0] = tamis_pair_key_of_record(engine, handle);
        tamis_entries_remove(engine, keys, 1, tamis_rest_of(engine, handle), tamis_row_of(engine, record));
        break;
    case TAMIS_IN_BOXES:
        tamis_boxes_leave(engine, handle);
        break;
    case TAMIS_IN_SCAN:
        tamis_list_remove(engine, &key->scan, handle);
        break;
    default:
        tamis_list_remove(engine, &engine->always, handle);
        break;
    }
}

void tamis_deactivate(tm_engine *engine, uint32_t handle) {
    tamis_record *record = &engine->records[handle];
    tamis_tests tests;
    tamis_tests_of_record(engine, handle, &tests);
    uint32_t branch = tamis_branch_of(record);
    tamis_test roots[2] = {branch == 0 ? tests.tests[0] : tamis_branch_root(engine, branch), tests.tests[1]};
    uint32_t names[2];
    unsigned kinds[2];
    uint32_t count = tamis_keys_of_place(engine, (tamis_place)record->place, roots, names, kinds);
    tamis_key *key = count == 0 ? NULL : engine->names.records[names[0]].keys[kinds[0]];
    leave(engine, key, handle, &tests);
    tamis_branches_count(engine, branch, 0, UINT32_MAX);
    record->branch = 0;
    engine->pair_filters -= record->place == TAMIS_IN_PAIR;
    engine->scanned -= record->place == TAMIS_IN_SCAN;
    engine->listed -= !tamis_uses_cells(engine, tamis_interface_of(engine, handle));
    for (uint32_t i = 0; i < count; i++) {
        tamis_key_count(engine->names.records[names[i]].keys[kinds[i]], (tamis_place)record->place, i > 0, roots[0],
                        UINT32_MAX);
        tamis_key_drop(engine, names[i], kinds[i]);
    }
    tamis_free_body(engine, handle);
    tamis_boxes_scatter(engine);
}
