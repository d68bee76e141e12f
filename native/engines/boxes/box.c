/* box.c - numbers and bounds as floats.
 *
 * Law: a box is bounded by floats alone, so an integer that is no float is never a bound; a value may be such an
 * integer, and then lies strictly between `below` and `above`, the two floats next to it.
 */
#include <math.h>

#include "engines/boxes/box.h"
#include "model/filter.h"
#include "model/number.h"

#define EXACT_MAX (INT64_C(1) << 53) /* integers up to it are floats */

tm_box_value tm_box_value_of(bool is_real, int64_t integer, double real) {
    if (is_real || (integer >= -EXACT_MAX && integer <= EXACT_MAX)) {
        double number = is_real ? real : (double)integer;
        return (tm_box_value){number, number};
    }
    double near = (double)integer;
    int order = tm_number_compare(integer, 0, false, 0, near, true);
    return order == 0  ? (tm_box_value){near, near}
           : order < 0 ? (tm_box_value){nextafter(near, -INFINITY), near}
                       : (tm_box_value){near, nextafter(near, INFINITY)};
}

void tm_box_open(tm_box *box, uint32_t names) {
    for (uint32_t name = 0; name < names; name++) {
        box->ends[name] = -INFINITY;
        box->ends[names + name] = INFINITY;
    }
    box->strict = 0;
}

void tm_box_narrow_labelled(tm_box *box, uint32_t names, uint32_t name, bool is_low, double end,
                            const int64_t *labels) {
    double *at = &box->ends[is_low ? name : names + name];
    int64_t before = tm_box_label(labels, *at);
    int64_t label = tm_box_label(labels, end);
    *at = (is_low ? label > before : label < before) ? end : *at;
}

void tm_box_narrow(tm_box *box, uint32_t names, uint32_t name, bool is_low, bool is_strict, double bound) {
    uint32_t end = is_low ? name : names + name;
    double at = is_strict ? nextafter(bound, is_low ? INFINITY : -INFINITY) : bound;
    uint32_t bit = 1U << end;
    bool narrower = is_low ? at > box->ends[end] : at < box->ends[end];
    if (narrower) {
        box->ends[end] = at;
        box->strict = is_strict ? box->strict | bit : box->strict & ~bit;
    } else if (at == box->ends[end] &&
               !is_strict) { /* of two bounds at one float the one that is not strict is narrower */
        box->strict &= ~bit;
    }
}
