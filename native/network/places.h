/* places.h - the places of routers in a set that a message carries: the routers that a digest is about, by number.
 *
 * Law: place i is that of the i-th number, which ascend. Where a router stood when it was looked up last is kept by its
 * index, and is good only if its number still stands there, so that an index may be given to another router.
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
    uint32_t *found; /* owned; by index of a router: where it stood */
    uint32_t found_capacity;
    uint32_t version; /* changes with `numbers`; never 0 */
} tm_places;

void tm_places_init(tm_places *places, tm_memory *memory);
void tm_places_clear(tm_places *places);

/* Count these numbers (copied) from now on. TM_OK; TM_NO_MEMORY, and those before are counted; TM_MISUSED: they do not
 * ascend from 1. */
int tm_places_set(tm_places *places, const uint64_t *numbers, uint32_t count);
/* Let tm_places_of take indices below `routers`. false: no memory. */
bool tm_places_reserve(tm_places *places, uint32_t routers);
/* The place of the router `index`, or PLACE_NONE. */
uint32_t tm_places_of(tm_places *places, const tm_routers *routers, uint32_t index);

#endif
