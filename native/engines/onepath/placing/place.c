/* place.c - puts a filter into the place that is chosen for it.
 *
 * Law: on success the filter is in its place and the buckets that it fills are opened; otherwise nothing has changed.
 */
#include "engines/onepath/placing/place.h"

#include "engines/onepath/cost/choose.h"
#include "engines/onepath/paths/entries.h"
#include "engines/onepath/placing/descend.h"
#include "engines/onepath/placing/enter.h"
#include "engines/onepath/placing/full_bucket.h"
#include "engines/onepath/records.h"
#include "engines/onepath/values/constants.h"

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
    if (!onepath_split_full(engine, handle)) {
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
