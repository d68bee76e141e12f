/* places.h - the places of routers in a set that a message carries: the routers that a digest covers, by number.
 *
 * Law: place i is that of the i-th number, in ascending order. The place that a router had at its last lookup is cached
 * by its index and used only if its number still has that place, so that an index may be reused by another router.
 */
#ifndef TM_PLACES_H
#define TM_PLACES_H

#include "network/routers.h"

#define PLACE_NONE UINT32_MAX

typedef struct tm_places {
    tm_memory *memory; /* borrowed */
    uint64_t *numbers; /* owned; ascending */
    uint32_t count;
    uint32_t capacity;
    uint32_t *found; /* owned; by index of a router: its place at the last lookup */
    uint32_t found_capacity;
    uint32_t version; /* changes with `numbers`; never 0 */
} tm_places;

void tm_places_init(tm_places *places, tm_memory *memory);
void tm_places_clear(tm_places *places);

/* Set the numbers (copied). TM_OK; TM_NO_MEMORY: the old ones stay; TM_MISUSED: they do not ascend from 1. */
int tm_places_set(tm_places *places, const uint64_t *numbers, uint32_t count);
/* Make room for tm_places_of with indices below `routers`; false: no memory. */
bool tm_places_reserve(tm_places *places, uint32_t routers);
/* Return the place of the router `index`, or PLACE_NONE. */
uint32_t tm_places_of(tm_places *places, const tm_routers *routers, uint32_t index);

#endif
