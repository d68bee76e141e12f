/* counters.h - the counts of one message in a hash by filter, as the papers print it: a map that starts empty.
 *
 * Law: an entry of another message is an empty one, so nothing is cleared between messages. There is room for the
 * counts of all filters, at most half full; it is reserved when filters are added, never by a match.
 */
#ifndef TM_COUNTERS_H
#define TM_COUNTERS_H

#include "base/memory.h"
#include "tm.h"

#define TM_COUNT_VETOED 0x80u /* no count can reach it, or leave it */

typedef struct tm_counter {
    uint32_t filter;
    uint32_t state; /* message << 8 | counted, or TM_COUNT_VETOED */
} tm_counter;

typedef struct tm_counters {
    tm_counter *entries; /* owned */
    uint32_t capacity;   /* a power of two, or 0 */
    uint32_t shift;      /* of a 32-bit product, to an index */
} tm_counters;

/* Reserve room for the counts of `filters`; false if out of memory, then nothing changed. Drops all counts. */
bool tm_counters_reserve(tm_counters *counters, tm_memory *memory, uint32_t filters);
void tm_counters_free(tm_counters *counters, tm_memory *memory);
/* Clear all entries. */
void tm_counters_forget(tm_counters *counters);

/* Return the counter of a filter. Filters are numbered by the table: one product spreads them, and no outside input
 * chooses them. */
static inline uint32_t *tm_counter_of(const tm_counters *counters, uint32_t filter, uint32_t message) {
    uint32_t mask = counters->capacity - 1;
    for (uint32_t at = filter * 0x9e3779b1U >> counters->shift;; at = (at + 1) & mask) {
        tm_counter *entry = &counters->entries[at];
        if (entry->state >> 8 != message) {
            *entry = (tm_counter){filter, message << 8};
        }
        if (entry->filter == filter) {
            return &entry->state;
        }
    }
}

#endif
