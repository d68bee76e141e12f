/* ranges.h - a set of numbers as ranges: what a holder has done with, what is missing.
 *
 * Law: ranges are in order, do not overlap and do not touch. When memory fails the set is as it was.
 */
#ifndef TM_LOG_RANGES_H
#define TM_LOG_RANGES_H

#include "base/memory.h"

typedef struct tm_span {
    uint64_t first;
    uint64_t last; /* of it, too */
} tm_span;

typedef struct tm_ranges {
    tm_span *spans; /* owned */
    uint32_t count;
    uint32_t capacity;
} tm_ranges;

bool tm_ranges_add(tm_ranges *set, tm_memory *memory, uint64_t first, uint64_t last);
/* Take the numbers out; may need one more range. */
bool tm_ranges_cut(tm_ranges *set, tm_memory *memory, uint64_t first, uint64_t last);
bool tm_ranges_has(const tm_ranges *set, uint64_t number);
void tm_ranges_free(tm_ranges *set, tm_memory *memory);

#endif
