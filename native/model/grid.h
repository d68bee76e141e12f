/* grid.h - a line of integers on which numbers and strings have places, so that an interval of them has a width.
 *
 * Law: places never decrease as values increase. A value *on* the grid is the only such value at its place; every other
 * value lies above its place and below the next. Places keep a distance from the ends of 64 bits, so that place + 1 and
 * place - 1 are places, too.
 *
 *     numbers up to 2^31    their multiples of 2^-31, evenly: a width means as much at 5 as at 500
 *     numbers beyond        the floats, one after the other
 *     strings               their first eight bytes; never on the grid
 */
#ifndef TM_GRID_H
#define TM_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Set the place of a canonical number (number.h); true if it is on the grid */
bool tm_grid_of_number(int64_t integer, double real, bool is_real, int64_t *place);
int64_t tm_grid_of_text(const uint8_t *bytes, size_t size);

/* Return the width of an interval as the number of bits of its length: 0 if its ends meet or cross, 64 at most. */
static inline unsigned tm_grid_width(int64_t low, int64_t high) {
    uint64_t distance = (uint64_t)high - (uint64_t)low;
    return low >= high ? 0 : 64 - (unsigned)__builtin_clzll(distance);
}

/* Return the lowest place from which an interval of `bits` bits reaches `place`. */
static inline int64_t tm_grid_reach(int64_t place, unsigned bits) {
    uint64_t distance = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    return (uint64_t)place - (uint64_t)INT64_MIN < distance ? INT64_MIN : (int64_t)((uint64_t)place - distance);
}

#endif
