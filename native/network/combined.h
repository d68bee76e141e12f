/* combined.h - the ways of a source by all generations of trees in force, as one grouping of the network table.
 *
 * Law: routers that lie behind the same neighbours in each generation are a group, so that one match which asks for
 * groups finds all links that a message leaves by, and ends when every group has matched. Where generations agree a
 * group is a link; those that differ are few. A grouping is made of blocks of ways alone, holds them, and is kept until
 * another generation comes into force or one ends. Groupings take COMBINED_BYTES_MAX at most: past it none is made.
 */
#ifndef TM_COMBINED_H
#define TM_COMBINED_H

#include "network/next_hops.h"

#define COMBINED_NEXT_HOPS_MAX 4U
#define COMBINED_BYTES_MAX 67108864U
#define COMBINED_NONE 0U

/* The neighbours that the routers of a group lie behind, by generation, the oldest first; NEXT_HOP_NONE: nowhere. */
typedef struct tm_next_hop_group {
    uint32_t next_hops[COMBINED_NEXT_HOPS_MAX];
    bool is_reached; /* where the last way is nowhere: this router has a way to them as a source */
} tm_next_hop_group;

/* What a grouping is made of. */
typedef struct tm_next_hop_blocks {
    uint32_t ids[COMBINED_NEXT_HOPS_MAX]; /* of ways, by generation; NEXT_HOPS_NONE: it has no route */
    uint32_t count;
    uint32_t own; /* of the newest generation: the ways of this router's messages */
} tm_next_hop_blocks;

typedef struct tm_combined {
    tm_next_hop_blocks blocks; /* held */
    tm_next_hop_group *groups; /* owned */
    uint64_t *reaches;         /* owned; the neighbours of each group, as bits; 0 where one is past the 64th */
    uint64_t reached;          /* by all groups */
    uint32_t group_capacity;
    uint32_t reach_capacity;
    uint32_t group_count;
    uint32_t view; /* of the network table */
} tm_combined;

typedef struct tm_combined_store {
    tm_next_hops_store *next_hops; /* borrowed */
    tm_combined *rows;             /* owned; by id, less one */
    uint32_t capacity;
    uint32_t count;
    uint64_t bytes; /* of groups and views */
    tm_idset set;   /* of ids, by their blocks */
} tm_combined_store;

void tm_combined_init(tm_combined_store *store, tm_next_hops_store *next_hops);
void tm_combined_clear(tm_combined_store *store);

/* The id of the grouping of these blocks, made where there is none. COMBINED_NONE: no memory, or no room. */
uint32_t tm_combined_take(tm_combined_store *store, const tm_next_hop_blocks *blocks);
/* Good until another is made. */
static inline const tm_combined *tm_combined_at(const tm_combined_store *store, uint32_t id) {
    return &store->rows[id - 1];
}

#endif
