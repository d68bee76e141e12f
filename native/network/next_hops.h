/* next_hops.h - the next hop to each router, in blocks shared by all routes with equal next hops.
 *
 * Law: a block never changes, and is freed with its last hold. Sources whose trees look alike from here share one
 * block, and so do generations that agree about a source; with it they share a view of the network table and the cached
 * sets. Trailing routers without a next hop are left off, so that equal next hops give one block. Blocks are named by
 * ids from 1 on; an id is reused after its block was freed.
 */
#ifndef TM_NEXT_HOPS_H
#define TM_NEXT_HOPS_H

#include "base/idset.h"
#include "network/places.h"
#include "network/remote_filters.h"
#include "tm.h"

#define NEXT_HOP_NONE UINT32_MAX
#define NEXT_HOPS_NONE 0U /* no block */

typedef struct tm_next_hops {
    uint64_t *children;      /* owned, NULL: a free row; bitset of neighbours that are a next hop */
    uint64_t *asking;        /* owned, NULL: not computed; of the children, those that lead to a router with filters */
    uint64_t asking_version; /* of the filters, when `asking` was computed */
    const uint32_t *by_router; /* the next hop, or NEXT_HOP_NONE; the groups of `view` */
    uint32_t count;            /* number of routers; in a free row the id of the next free one */
    uint32_t view;             /* of the network table; 0: there are no next hops */
    uint32_t neighbour_count;  /* above every neighbour of the block */
    uint64_t *reach;           /* owned, NULL: not computed; for each child, ascending, a bitset over places */
    uint32_t reach_size;       /* in words */
    uint32_t reach_version;    /* of the places, when `reach` was computed */
    uint32_t holders;
} tm_next_hops;

typedef struct tm_next_hops_store {
    tm_memory *memory;  /* borrowed */
    tm_table *table;    /* borrowed; has the views */
    tm_next_hops *rows; /* owned; by id - 1 */
    uint32_t capacity;
    uint32_t used; /* rows ever used */
    uint32_t free; /* id of a free row, or NEXT_HOPS_NONE */
    tm_idset set;  /* of ids, by their next hops */
} tm_next_hops_store;

void tm_next_hops_init(tm_next_hops_store *store, tm_memory *memory, tm_table *table);
void tm_next_hops_free(tm_next_hops_store *store); /* frees all blocks, even those with holds */

/* Return the block of these next hops (copied) with one more hold; NEXT_HOPS_NONE: no memory, or no room for a view. */
uint32_t tm_next_hops_take(tm_next_hops_store *store, const uint32_t *next_hops, uint32_t count);
/* Release a hold on a block; NEXT_HOPS_NONE is allowed. */
void tm_next_hops_release(tm_next_hops_store *store, uint32_t id);

static inline void tm_next_hops_hold(tm_next_hops_store *store, uint32_t id) {
    if (id != NEXT_HOPS_NONE) {
        store->rows[id - 1].holders++;
    }
}
/* Return a block, valid until tm_next_hops_take is called; NULL for NEXT_HOPS_NONE. */
static inline tm_next_hops *tm_next_hops_at(const tm_next_hops_store *store, uint32_t id) {
    return id != NEXT_HOPS_NONE ? &store->rows[id - 1] : NULL;
}
static inline uint32_t tm_next_hops_towards(const tm_next_hops *next_hops, uint32_t router) {
    return next_hops != NULL && router < next_hops->count ? next_hops->by_router[router] : NEXT_HOP_NONE;
}

/* Return the next hops that lead to a router with a filter, as a bitset of `*words`, valid until a filter changes or
 * the block is freed. NULL: no memory. */
const uint64_t *tm_next_hops_asking(tm_next_hops_store *store, uint32_t id, const tm_network *network, uint32_t *words);

/* Return for each child, in ascending order, the routers behind it, as a bitset over `places` of as many words as they
 * need; valid until the places change or the block is freed. NULL: no memory. */
const uint64_t *tm_next_hops_reach(tm_next_hops_store *store, uint32_t id, const tm_routers *routers,
                                   const tm_places *places);

bool tm_next_hops_are_sound(const tm_next_hops_store *store);

#endif
