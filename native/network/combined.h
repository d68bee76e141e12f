/* combined.h - the next hops of a source in all generations in force, as one grouping of the network table.
 *
 * Law: routers behind equal neighbours in each generation form a group, so that one match that returns groups finds all
 * links by which a message leaves, and ends when every group has matched. Where generations agree a group is a link;
 * those that differ are few. A grouping depends on its blocks of next hops alone, holds them, and is kept until a
 * generation comes into force or ends. Groupings take at most COMBINED_BYTES_MAX; beyond it none is made.
 */
#ifndef TM_COMBINED_H
#define TM_COMBINED_H

#include "network/next_hops.h"

#define COMBINED_NEXT_HOPS_MAX 4U
#define COMBINED_BYTES_MAX 67108864U
#define COMBINED_NONE 0U

/* The next hops to the routers of a group, by generation, the oldest first; NEXT_HOP_NONE: there is none. */
typedef struct tm_next_hop_group {
    uint32_t next_hops[COMBINED_NEXT_HOPS_MAX];
    bool is_reached; /* the last generation has no next hop, but this router as a source has a route to them */
} tm_next_hop_group;

/* The blocks that a grouping is made of. */
typedef struct tm_next_hop_blocks {
    uint32_t ids[COMBINED_NEXT_HOPS_MAX]; /* of next hops, by generation; NEXT_HOPS_NONE: it has no route */
    uint32_t count;
    uint32_t own; /* block of this router's own messages in the newest generation */
} tm_next_hop_blocks;

typedef struct tm_combined {
    tm_next_hop_blocks blocks; /* each with a hold */
    tm_next_hop_group *groups; /* owned */
    uint64_t *reaches;         /* owned; bitset of neighbours for each group; 0 if one is above 63 */
    uint64_t reached;          /* union of `reaches` */
    uint32_t group_capacity;
    uint32_t reach_capacity;
    uint32_t group_count;
    uint32_t view; /* of the network table */
} tm_combined;

typedef struct tm_combined_store {
    tm_next_hops_store *next_hops; /* borrowed */
    tm_combined *rows;             /* owned; by id - 1 */
    uint32_t capacity;
    uint32_t count;
    uint64_t bytes; /* of groups and views */
    tm_idset set;   /* of ids, by their blocks */
} tm_combined_store;

void tm_combined_init(tm_combined_store *store, tm_next_hops_store *next_hops);
void tm_combined_clear(tm_combined_store *store);

/* Return the id of the grouping of these blocks, made if needed. COMBINED_NONE: no memory, or the bound is reached. */
uint32_t tm_combined_take(tm_combined_store *store, const tm_next_hop_blocks *blocks);
/* Return a grouping, valid until another is made. */
static inline const tm_combined *tm_combined_at(const tm_combined_store *store, uint32_t id) {
    return &store->rows[id - 1];
}

#endif
