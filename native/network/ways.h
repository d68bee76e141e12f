/* ways.h - behind which neighbour each router lies: one block for all routes that say the same.
 *
 * Law: a block never changes, and goes with the last of its holders. Sources whose trees are alike from here have one
 * between them, and so have generations that agree about a source: with it they share a view of the network table and
 * what is kept of who asks. Routers at the end that lie nowhere are left off, so that equal ways are one block.
 * Blocks are named by ids, from 1 on; an id is given out again once its block has gone.
 */
#ifndef TM_WAYS_H
#define TM_WAYS_H

#include "base/idset.h"
#include "network/places.h"
#include "network/remote_filters.h"
#include "tm.h"

#define WAY_NONE UINT32_MAX
#define WAYS_NONE 0U /* no block */

typedef struct tm_ways {
    uint64_t *children;        /* owned, NULL: a free row; bitset over neighbours that any router lies behind */
    uint64_t *asking;          /* owned, NULL: not asked for; of the children, those behind which a router asks */
    uint64_t asking_version;   /* of the filters, when that was so */
    const uint32_t *by_router; /* the neighbour, or WAY_NONE; the groups of `view` */
    uint32_t count;            /* routers; of a free row the id of the next free one */
    uint32_t view;             /* of the network table; 0: there are no ways */
    uint32_t neighbour_count;  /* all neighbours here are below it */
    uint64_t *reach;           /* owned, NULL: not asked for; for each child, ascending, a bitset over places */
    uint32_t reach_size;       /* of it, in words */
    uint32_t reach_version;    /* of the places, when that was so */
    uint32_t holders;
} tm_ways;

typedef struct tm_ways_store {
    tm_memory *memory; /* borrowed */
    tm_table *table;   /* borrowed; has the views */
    tm_ways *rows;     /* owned; by id, less one */
    uint32_t capacity;
    uint32_t used; /* rows that there have been */
    uint32_t free; /* id of a free row, or WAYS_NONE */
    tm_idset set;  /* of ids, by their ways */
} tm_ways_store;

void tm_ways_init(tm_ways_store *store, tm_memory *memory, tm_table *table);
void tm_ways_free(tm_ways_store *store); /* all blocks, whoever holds them */

/* The block with these ways, held once more; WAYS_NONE: no memory, or no room for a view. `ways` is copied. */
uint32_t tm_ways_take(tm_ways_store *store, const uint32_t *ways, uint32_t count);
/* Let go of a block, or of WAYS_NONE. */
void tm_ways_release(tm_ways_store *store, uint32_t id);

static inline void tm_ways_hold(tm_ways_store *store, uint32_t id) {
    if (id != WAYS_NONE) {
        store->rows[id - 1].holders++;
    }
}
/* Good until a block is taken. NULL: of WAYS_NONE. */
static inline tm_ways *tm_ways_at(const tm_ways_store *store, uint32_t id) {
    return id != WAYS_NONE ? &store->rows[id - 1] : NULL;
}
static inline uint32_t tm_ways_way(const tm_ways *ways, uint32_t router) {
    return ways != NULL && router < ways->count ? ways->by_router[router] : WAY_NONE;
}

/* The neighbours behind which some router has a filter, as a bitset of `*words`; good until a filter changes or the
 * block goes. NULL: no memory. */
const uint64_t *tm_ways_asking(tm_ways_store *store, uint32_t id, const tm_network *network, uint32_t *words);

/* Of each child, in ascending order, the routers that lie behind it, as a bitset over `places` of so many words as
 * these take; good until the places change or the block goes. NULL: no memory. */
const uint64_t *tm_ways_reach(tm_ways_store *store, uint32_t id, const tm_routers *routers, const tm_places *places);

bool tm_ways_are_sound(const tm_ways_store *store);

#endif
