/* grid.h - a line of integers on which numbers and strings have places, so that an interval of them has a width.
 *
 * Law: places never fall as values rise. A value *on* the grid is the only one at its place that is; every other value
 * lies above its place and below the next. Places keep a distance from the ends of 64 bits, so that one more or one
 * less is a place too.
 *
 *     numbers up to 2^31    their multiples of 2^-31, evenly: widths mean the same at 5 and at 500
 *     numbers beyond        the floats, one after the other
 *     strings               their first eight bytes; never on the grid
 */
#ifndef TM_GRID_H
#define TM_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The place of the number, and whether it is on the grid. The number is canonical, as in number.h. */
bool tm_grid_of_number(int64_t integer, double real, bool is_real, int64_t *place);
int64_t tm_grid_of_text(const uint8_t *bytes, size_t size);

/* How wide an interval is, as the number of bits of the distance: 0 where its ends meet (or have crossed), 64 at most.
 */
static inline unsigned tm_grid_width(int64_t low, int64_t high) {
    uint64_t distance = (uint64_t)high - (uint64_t)low;
    return low >= high ? 0 : 64 - (unsigned)__builtin_clzll(distance);
}

/* The lowest place from which an interval of so many bits still reaches `place`. */
static inline int64_t tm_grid_reach(int64_t place, unsigned bits) {
    uint64_t distance = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    return (uint64_t)place - (uint64_t)INT64_MIN < distance ? INT64_MIN : (int64_t)((uint64_t)place - distance);
}

#endif
