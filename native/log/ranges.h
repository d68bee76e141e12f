/* ranges.h - a set of numbers as ranges: the done numbers of a holder, missing numbers.
 *
 * Law: ranges ascend, do not overlap and do not touch. If memory fails, the set is unchanged.
 */
#ifndef TM_LOG_RANGES_H
#define TM_LOG_RANGES_H

#include "base/memory.h"

typedef struct tm_span {
    uint64_t first;
    uint64_t last; /* inclusive */
} tm_span;

typedef struct tm_ranges {
    tm_span *spans; /* owned */
    uint32_t count;
    uint32_t capacity;
} tm_ranges;

/* Add the numbers from `first` to `last`. false: no memory. */
bool tm_ranges_add(tm_ranges *set, tm_memory *memory, uint64_t first, uint64_t last);
/* Remove the numbers, which may need one more range. false: no memory. */
bool tm_ranges_cut(tm_ranges *set, tm_memory *memory, uint64_t first, uint64_t last);
/* true if the set has the number. */
bool tm_ranges_has(const tm_ranges *set, uint64_t number);
void tm_ranges_free(tm_ranges *set, tm_memory *memory);

#endif
