/* tree.h - the filter tree of PrimAS (paper 003, 4.1.1): what intersecting has found is remembered.
 *
 *     level 0    all filters
 *     axis 1       |-- (.. 5] --> {7 8}      a node: a level, and the filters that are left there
 *                  |-- (5 .. 20] --> {7 9}   a branch: an edge of the axis, or * where the message has no value
 *     axis 2             ...                 the last level: what matches
 *
 * Law: a node is what the intersections of its path leave, so that a match takes one step an axis; nodes of a level
 * with equal filters are one node. A tree is part of no answer: any change of the structure clears it, and where it
 * would pass its bound in bytes, or finds no memory, it is cleared and begins again. Nodes and branches lie in three
 * blocks.
 */
#ifndef TM_INTERVAL_TREE_H
#define TM_INTERVAL_TREE_H

#include "engines/interval/store.h"

#define TM_NODE_NONE UINT32_MAX /* a branch that nobody has taken yet */
#define TM_NODE_ROOT 0U

typedef struct tm_tree_node {
    uint64_t hash;
    uint32_t items; /* of the pool: ids, two a word, or words */
    uint32_t count; /* of filters */
    uint32_t words; /* of bits */
    uint32_t next;  /* of equal hash, from 1; 0: none */
    uint16_t level;
    bool is_bits;
} tm_tree_node;

typedef struct tm_tree_branch {
    uint64_t key; /* node << 32 | edge, plus 1; 0: free */
    uint32_t node;
} tm_tree_branch;

typedef struct tm_interval_tree {
    tm_tree_node *nodes;      /* owned, as what follows */
    uint64_t *pool;           /* filters of all nodes */
    tm_tree_branch *branches; /* a hash; a power of two of them */
    uint32_t *buckets;        /* by hash of what a node has: the first of them, from 1; as many as branches */
    uint64_t bytes;           /* that all of it takes */
    uint32_t node_count;
    uint32_t node_capacity;
    uint32_t pool_count;
    uint32_t pool_capacity;
    uint32_t branch_count;
    uint32_t branch_capacity;
    uint32_t grown_node; /* where making it ahead has come to: a node and one of its branches */
    uint32_t grown_edge;
    bool is_whole;
} tm_interval_tree;

void tm_tree_clear(tm_interval_tree *tree, tm_interval_store *store);

#endif
