/* routers.h - the other routers by small numbers: an index stands for a router wherever an array is kept by router.
 *
 * Law: a router has its index as long as anything speaks of it: a filter, a link, a route, a bound of its epochs. Its
 * interface in the network table is its index. An index that is free is in nobody's array.
 */
#ifndef TM_ROUTERS_H
#define TM_ROUTERS_H

#include "base/idset.h"

#define ROUTER_NONE UINT32_MAX

/* What a router wants: its filters, and apart from them those of worker groups. */
#define ROUTER_WANTS 0U
#define ROUTER_SHARES 1U
#define ROUTER_TABLES 2U

typedef struct tm_router {
    uint64_t number;                 /* 0: free */
    uint32_t filters[ROUTER_TABLES]; /* handle of the first one in each table, or FILTER_NONE; the first, of a free row,
                                        is the next free one */
    uint32_t filter_count[ROUTER_TABLES];
    uint32_t neighbour; /* its place among the neighbours, or NEIGHBOUR_NONE */
    uint32_t window;    /* where its messages in transit were noted last: a hint */
    uint32_t leaper;    /* the neighbour by which they last leapt ahead, or NEIGHBOUR_NONE */
    uint64_t epoch_max; /* in the place of that of all; UINT64_MAX: it has none of its own */
} tm_router;

typedef struct tm_routers {
    tm_memory *memory; /* borrowed */
    tm_router *rows;   /* owned */
    uint32_t count;    /* high-water mark of indices */
    uint32_t capacity;
    uint32_t free;
    uint32_t live;
    tm_idset set; /* of indices + 1, by number */
} tm_routers;

void tm_routers_init(tm_routers *routers, tm_memory *memory);
void tm_routers_clear(tm_routers *routers);

/* The index of a router, or ROUTER_NONE. */
uint32_t tm_routers_find(const tm_routers *routers, uint64_t number);
/* Write the index of a router to `*index`; a router without one gets one. TM_OK, TM_NO_MEMORY, TM_TOO_MANY or (number
 * 0) TM_MISUSED. */
int tm_routers_use(tm_routers *routers, uint64_t number, uint32_t *index);
void tm_routers_release(tm_routers *routers, uint32_t index);
bool tm_routers_are_sound(const tm_routers *routers);

#endif
