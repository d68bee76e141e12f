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
    uint32_t handles[TAMIS_CROWD_MAX];
    const tamis_slot *slot = tamis_buckets_find(&engine->buckets, pair);
    uint32_t filters = slot == NULL ? 0 : slot->entry_count;
    if (filters == 0 || filters % TAMIS_PAIR_MAX != 0 || engine->full_pair != 0 || engine->scatters) {
        return;
    }
    uint32_t count = filters < TAMIS_CROWD_MAX ? filters : TAMIS_CROWD_MAX;
    const tamis_entry *last = tamis_slot_entries(&engine->buckets, slot) + filters - count;
    for (uint32_t i = 0; i < count; i++) {
        handles[i] = tamis_handle_of_entry(engine, &last[i]);
    }
    engine->full_pair = pair;
    engine->full_pair_filters = filters;
    for (uint32_t i = count; i > 0; i--) {
        tamis_tests tests;
        tamis_tests_of_record(engine, handles[i - 1], &tests);
        bool leaves = tamis_choose(engine, tamis_interface_of(engine, handles[i - 1]), &tests) == TAMIS_IN_BUCKET;
        if (leaves ? !tamis_move_anew(engine, handles[i - 1], false) : i == count) {
            break; /* no memory, or not even the last one leaves */
        }
    }
    engine->full_pair = 0;
}

/* Filters that crowd in a bucket with the one that has come, and are of its family, become boxes. */
static void gather(tm_engine *engine, uint32_t handle, const tamis_tests *tests) {
    const tamis_record *record = &engine->records[handle];
    uint64_t key;
    tamis_lines_settle(engine, tests);
    switch (record->place) {
    case TAMIS_IN_PAIR:
        tamis_boxes_gather(engine, tamis_pair_key_of(engine, tests), tests, TAMIS_BOXES_MIN);
        leave_pair(engine, tamis_pair_key_of(engine, tests));
        break;
    case TAMIS_IN_BOXES:
        tamis_boxes_gather(engine, tamis_bucket_of_test(tests->tests[0]), tests, TAMIS_BOXES_MIN);
        tamis_boxes_follow(engine, tests);
        break;
    case TAMIS_IN_BUCKET:
    case TAMIS_IN_NAMED:
        if (tests->count > 1 && (record->place == TAMIS_IN_NAMED || tamis_bucket_of_test(record->access) != 0)) {
            tamis_keys_of_record(engine, record, &key);
            tamis_boxes_gather(engine, key, tests, TAMIS_BUCKET_FULL);
        }
        break;
    default:
        break;
    }
}

static bool activate_chosen(tm_engine *engine, uint32_t handle, tamis_place place, tamis_tests *tests) {
    tamis_record before = engine->records[handle];
    tamis_test roots[2];
    tamis_stand stand = {.place = place};
    tamis_find_roots(tests, roots);
    if (stand.place == TAMIS_IN_BUCKET && !tamis_descend(engine, tests, &stand)) {
        return false;
    }
    if (!tamis_activate_at(engine, handle, &stand, tests, roots)) {
        return false;
    }
    if (!tamis_relieve(engine, handle)) {
        tamis_deactivate(engine, handle);
        engine->records[handle] = before;
        return false;
    }
    return true;
}

bool tamis_activate(tm_engine *engine, uint32_t handle, tamis_tests *tests) {
    uint32_t interface = tamis_interface_of(engine, handle);
    bool was_in_order = engine->records[handle].in_order;
    tamis_place place = tamis_choose(engine, interface, tests);
    if (tamis_needs_order(engine, interface, place) && !tamis_take_order(engine, handle, tests)) {
        return false;
    }
    if (!activate_chosen(engine, handle, place, tests)) {
        if (!was_in_order) {
            tamis_drop_order(engine, handle, tests);
        }
        return false;
    }
    gather(engine, handle, tests);
    return true;
}

bool tamis_move_anew(tm_engine *engine, uint32_t handle, bool to_boxes) {
    tamis_tests tests;
    tamis_tests_of_record(engine, handle, &tests);
    tamis_record before = engine->records[handle];
    if (!(to_boxes ? tamis_activate_in(engine, handle, TAMIS_IN_BOXES, &tests)
                   : tamis_activate(engine, handle, &tests))) {
        return false;
    }
    tamis_record after = engine->records[handle];
    engine->records[handle] = before;
    tamis_deactivate(engine, handle);
    engine->records[handle] = after;
    if (!tamis_needs_order(engine, tamis_interface_of(engine, handle), after.place)) {
        tamis_drop_order(engine, handle, &tests);
    }
    return true;
}
