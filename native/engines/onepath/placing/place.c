/* place.c - a filter comes to the place that is chosen for it, and others around it move.
 *
 * Law: it stands there, and buckets that it fills up are opened, or nothing has changed. What moves after it may stay
 * where it is, which is as right.
 */
#include "engines/onepath/placing/place.h"

#include "engines/onepath/cost/choose.h"
#include "engines/onepath/paths/boxes.h"
#include "engines/onepath/paths/bucket_keys.h"
#include "engines/onepath/paths/buckets.h"
#include "engines/onepath/paths/entries.h"
#include "engines/onepath/placing/crowd.h"
#include "engines/onepath/placing/descend.h"
#include "engines/onepath/placing/enter.h"
#include "engines/onepath/placing/gather.h"
#include "engines/onepath/placing/line_moves.h"
#include "engines/onepath/records.h"
#include "engines/onepath/values/constants.h"

/* Of a pair that has filled up, the filters that came last go to their buckets, if that is better now. */
static void leave_pair(tm_engine *engine, uint64_t pair) {
    uint32_t handles[ONEPATH_CROWD_MAX];
    const onepath_slot *slot = onepath_buckets_find(&engine->buckets, pair);
    uint32_t filters = slot == NULL ? 0 : slot->entry_count;
    if (filters == 0 || filters % ONEPATH_PAIR_MAX != 0 || engine->full_pair != 0 || engine->scatters) {
        return;
    }
    uint32_t count = filters < ONEPATH_CROWD_MAX ? filters : ONEPATH_CROWD_MAX;
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
    }
    engine->full_pair = 0;
}

/* Filters that crowd in a bucket with the one that has come, and are of its family, become boxes. */
static void gather(tm_engine *engine, uint32_t handle, const onepath_tests *tests) {
    const onepath_record *record = &engine->records[handle];
    uint64_t key;
    onepath_lines_settle(engine, tests);
    switch (record->place) {
    case ONEPATH_IN_PAIR:
        onepath_boxes_gather(engine, onepath_pair_key_of(engine, tests), tests, ONEPATH_BOXES_MIN);
        leave_pair(engine, onepath_pair_key_of(engine, tests));
        break;
    case ONEPATH_IN_BOXES:
        onepath_boxes_gather(engine, onepath_bucket_of_test(tests->tests[0]), tests, ONEPATH_BOXES_MIN);
        onepath_boxes_follow(engine, tests);
        break;
    case ONEPATH_IN_BUCKET:
    case ONEPATH_IN_NAMED:
        if (tests->count > 1 && (record->place == ONEPATH_IN_NAMED || onepath_bucket_of_test(record->access) != 0)) {
            onepath_keys_of_record(engine, record, &key);
            onepath_boxes_gather(engine, key, tests, ONEPATH_BUCKET_FULL);
        }
        break;
    default:
        break;
    }
}

static bool activate_chosen(tm_engine *engine, uint32_t handle, onepath_place place, onepath_tests *tests) {
    onepath_record before = engine->records[handle];
    onepath_test roots[2];
    onepath_stand stand = {.place = place};
    onepath_find_roots(tests, roots);
    if (stand.place == ONEPATH_IN_BUCKET && !onepath_descend(engine, tests, &stand)) {
        return false;
    }
    if (!onepath_activate_at(engine, handle, &stand, tests, roots)) {
        return false;
    }
    if (!onepath_relieve(engine, handle)) {
        onepath_deactivate(engine, handle);
        engine->records[handle] = before;
        return false;
    }
    return true;
}

bool onepath_activate(tm_engine *engine, uint32_t handle, onepath_tests *tests) {
    uint32_t interface = onepath_interface_of(engine, handle);
    bool was_in_order = engine->records[handle].in_order;
    onepath_place place = onepath_choose(engine, interface, tests);
    if (onepath_needs_order(engine, interface, place) && !onepath_take_order(engine, handle, tests)) {
        return false;
    }
    if (!activate_chosen(engine, handle, place, tests)) {
        if (!was_in_order) {
            onepath_drop_order(engine, handle, tests);
        }
        return false;
    }
    gather(engine, handle, tests);
    return true;
}

bool onepath_move_anew(tm_engine *engine, uint32_t handle, bool to_boxes) {
    onepath_tests tests;
    onepath_tests_of_record(engine, handle, &tests);
    onepath_record before = engine->records[handle];
    if (!(to_boxes ? onepath_activate_in(engine, handle, ONEPATH_IN_BOXES, &tests)
                   : onepath_activate(engine, handle, &tests))) {
        return false;
    }
    onepath_record after = engine->records[handle];
    engine->records[handle] = before;
    onepath_deactivate(engine, handle);
    engine->records[handle] = after;
    if (!onepath_needs_order(engine, onepath_interface_of(engine, handle), after.place)) {
        onepath_drop_order(engine, handle, &tests);
    }
    return true;
}
