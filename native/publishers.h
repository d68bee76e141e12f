/* publishers.h - which message ids were seen, publisher by publisher.
 *
 * Law: of each remembered publisher the last PUBLISHER_WINDOW counters below its highest are known exactly; anything
 * older counts as seen. At the bound the publisher that has been quiet longest is forgotten.
 */
#ifndef TM_PUBLISHERS_H
#define TM_PUBLISHERS_H

#include "memory.h"

#define PUBLISHER_WINDOW 4096U
#define PUBLISHER_NONE UINT32_MAX

typedef struct tm_publisher {
    uint64_t origin; /* 0: free */
    uint64_t highest;
    uint64_t seen[PUBLISHER_WINDOW / 64]; /* by counter modulo the window */
    uint32_t newer;                       /* in order of use */
    uint32_t older;
} tm_publisher;

typedef struct tm_publishers {
    tm_memory *memory; /* borrowed */
    tm_publisher *rows;
    uint32_t *slots; /* hash of the origin -> row, or PUBLISHER_NONE */
    uint32_t count;
    uint32_t capacity;
    uint32_t slot_capacity; /* a power of two, at least twice the rows */
    uint32_t rows_max;
    uint32_t newest;
    uint32_t oldest;
} tm_publishers;

void tm_publishers_init(tm_publishers *publishers, tm_memory *memory, uint32_t rows_max);
void tm_publishers_clear(tm_publishers *publishers);

/* Note a message; `*row` is where this publisher stood last time, a hint that is kept up to date. false: no memory, and
 * nothing is remembered. `*fresh`: it was not seen before. */
bool tm_publishers_note(tm_publishers *publishers, uint64_t origin, uint64_t counter, uint32_t *row, bool *fresh);
bool tm_publishers_are_sound(const tm_publishers *publishers);

#endif
