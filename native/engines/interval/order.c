/* order.c - the order in which a match reads the axes of a structure.
 *
 * Law: the axis that leaves the fewest filters comes first, so that most messages are rejected where it costs least.
 * The estimate of an axis is the mean of its sets and the filters without a predicate on it; or, by messages, the mean
 * of what recent messages left. The order changes the work of a match and never its answer. It is updated after an
 * eighth of the filters has changed, and when a table is settled.
 */
#include "engines/interval/structure.h"

#define LOOKS_MIN 64U /* messages before their counts are used */

static double left_by(const tm_structure *structure, const tm_axis *axis, tm_interval_order order) {
    if (order == TM_ORDER_MESSAGES && axis->looks >= LOOKS_MIN) {
        return (double)axis->left / (double)axis->looks;
    }
    return (double)(structure->filters - axis->care_count) + (double)axis->members / (double)axis->count;
}

bool tm_structure_order(tm_structure *structure, const tm_interval_ways *ways) {
    double left[TM_AXES_MAX];
    bool has_changed = false;
    structure->changes = 0;
    if (ways->order == TM_ORDER_ARRIVAL) {
        return false;
    }
    for (uint32_t i = 0; i < structure->axis_count; i++) {
        tm_axis *axis = structure->axes[i];
        double own = left_by(structure, axis, ways->order);
        uint32_t at = i;
        for (; at > 0 && left[at - 1] > own; at--) {
            left[at] = left[at - 1];
            structure->axes[at] = structure->axes[at - 1];
        }
        left[at] = own;
        structure->axes[at] = axis;
        has_changed = has_changed || at != i;
    }
    return has_changed;
}

void tm_structure_note_change(tm_structure *structure, const tm_interval_ways *ways) {
    structure->changes++;
    if ((uint64_t)structure->changes * 8 >= (uint64_t)structure->filters + 64) {
        tm_structure_order(structure, ways);
    }
}
