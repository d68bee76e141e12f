/* routers.h - the other routers by small indices, which arrays by router use.
 *
 * Law: a router keeps its index as long as a filter, a link, a route or an epoch bound refers to it. Its index is its
 * interface in the network table. No array has an entry for a free index.
 */
#ifndef TM_ROUTERS_H
#define TM_ROUTERS_H

#include "base/idset.h"

#define ROUTER_NONE UINT32_MAX

/* Kinds of a router's filters: its own, and those of its worker groups. */
#define ROUTER_WANTS 0U
#define ROUTER_SHARES 1U
#define ROUTER_TABLES 2U

typedef struct tm_router {
    uint64_t number;                 /* 0: free */
    uint32_t filters[ROUTER_TABLES]; /* handle of the first one in each table, or FILTER_NONE; in a free row, [0] is the
                                        next free row */
    uint32_t filter_count[ROUTER_TABLES];
    uint32_t neighbour; /* its place among the neighbours, or NEIGHBOUR_NONE */
    uint32_t window;    /* hint: row of its messages in the windows of transit */
    uint64_t epoch_max; /* replaces the common bound; UINT64_MAX: it has none of its own */
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

/* Return the index of a router, or ROUTER_NONE. */
uint32_t tm_routers_find(const tm_routers *routers, uint64_t number);
/* Write the index of a router to `*index`, assigned if needed. Returns TM_OK, TM_NO_MEMORY, TM_TOO_MANY or (number 0)
 * TM_MISUSED. */
int tm_routers_use(tm_routers *routers, uint64_t number, uint32_t *index);
/* Free the index of a router that nothing refers to. */
void tm_routers_release(tm_routers *routers, uint32_t index);
bool tm_routers_are_sound(const tm_routers *routers);

#endif
