/* next_hops.h - behind which neighbour each router lies: one block for all routes that say the same.
 *
 * Law: a block never changes, and goes with the last of its holders. Sources whose trees are alike from here have one
 * between them, and so have generations that agree about a source: with it they share a view of the network table and
 * what is kept of who asks. Routers at the end that lie nowhere are left off, so that equal ways are one block.
 * Blocks are named by ids, from 1 on; an id is given out again once its block has gone.
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
    uint64_t *children;        /* owned, NULL: a free row; bitset over neighbours that any router lies behind */
    uint64_t *asking;          /* owned, NULL: not asked for; of the children, those behind which a router asks */
    uint64_t asking_version;   /* of the filters, when that was so */
    const uint32_t *by_router; /* the neighbour, or NEXT_HOP_NONE; the groups of `view` */
    uint32_t count;            /* routers; of a free row the id of the next free one */
    uint32_t view;             /* of the network table; 0: there are no ways */
    uint32_t neighbour_count;  /* all neighbours here are below it */
    uint64_t *reach;           /* owned, NULL: not asked for; for each child, ascending, a bitset over places */
    uint32_t reach_size;       /* of it, in words */
    uint32_t reach_version;    /* of the places, when that was so */
    uint32_t holders;
} tm_next_hops;

typedef struct tm_next_hops_store {
    tm_memory *memory;  /* borrowed */
    tm_table *table;    /* borrowed; has the views */
    tm_next_hops *rows; /* owned; by id, less one */
    uint32_t capacity;
    uint32_t used; /* rows that there have been */
    uint32_t free; /* id of a free row, or NEXT_HOPS_NONE */
    tm_idset set;  /* of ids, by their ways */
} tm_next_hops_store;

void tm_next_hops_init(tm_next_hops_store *store, tm_memory *memory, tm_table *table);
void tm_next_hops_free(tm_next_hops_store *store); /* all blocks, whoever holds them */

/* The block with these ways, held once more; NEXT_HOPS_NONE: no memory, or no room for a view. `ways` is copied. */
uint32_t tm_next_hops_take(tm_next_hops_store *store, const uint32_t *next_hops, uint32_t count);
/* Let go of a block, or of NEXT_HOPS_NONE. */
void tm_next_hops_release(tm_next_hops_store *store, uint32_t id);

static inline void tm_next_hops_hold(tm_next_hops_store *store, uint32_t id) {
    if (id != NEXT_HOPS_NONE) {
        store->rows[id - 1].holders++;
    }
}
/* Good until a block is taken. NULL: of NEXT_HOPS_NONE. */
static inline tm_next_hops *tm_next_hops_at(const tm_next_hops_store *store, uint32_t id) {
    return id != NEXT_HOPS_NONE ? &store->rows[id - 1] : NULL;
}
static inline uint32_t tm_next_hops_towards(const tm_next_hops *next_hops, uint32_t router) {
    return next_hops != NULL && router < next_hops->count ? next_hops->by_router[router] : NEXT_HOP_NONE;
}

/* The neighbours behind which some router has a filter, as a bitset of `*words`; good until a filter changes or the
 * block goes. NULL: no memory. */
const uint64_t *tm_next_hops_asking(tm_next_hops_store *store, uint32_t id, const tm_network *network, uint32_t *words);

/* Of each child, in ascending order, the routers that lie behind it, as a bitset over `places` of so many words as
 * these take; good until the places change or the block goes. NULL: no memory. */
const uint64_t *tm_next_hops_reach(tm_next_hops_store *store, uint32_t id, const tm_routers *routers,
                                   const tm_places *places);

bool tm_next_hops_are_sound(const tm_next_hops_store *store);

#endif
