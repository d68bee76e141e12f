/* tree.h - the filter tree of PrimAS (paper 003, 4.1.1): a cache of intersections.
 *
 *     level 0    all filters
 *     axis 1       |-- (.. 5] --> {7 8}      a node: a level, and the filters that remain there
 *                  |-- (5 .. 20] --> {7 9}   a branch: an edge of the axis, or * where the message has no value
 *     axis 2             ...                 the last level: what matches
 *
 * Law: a node has what the intersections of its path leave, so that a match takes one step an axis; nodes of a level
 * with equal filters are one node. Answers do not depend on the tree: any change of the structure clears it, and where
 * it would exceed its bound in bytes, or memory runs out, it is cleared and begins again. Nodes and branches are in
 * three blocks.
 */
#ifndef TM_INTERVAL_TREE_H
#define TM_INTERVAL_TREE_H

#include "engines/interval/store.h"

#define TM_NODE_NONE UINT32_MAX /* a branch that no match has taken yet */
#define TM_NODE_ROOT 0U

typedef struct tm_tree_node {
    uint64_t hash;
    uint32_t items; /* index in the pool: ids, two a word, or words */
    uint32_t count; /* of filters */
    uint32_t words; /* of bits */
    uint32_t next;  /* node of equal hash, from 1; 0: none */
    uint16_t level;
    bool is_bits;
} tm_tree_node;

typedef struct tm_tree_branch {
    uint64_t key; /* node << 32 | edge, plus 1; 0: free */
    uint32_t node;
} tm_tree_branch;

typedef struct tm_interval_tree {
    tm_tree_node *nodes;      /* owned, as are the next three */
    uint64_t *pool;           /* filters of all nodes */
    tm_tree_branch *branches; /* a hash; a power of two of them */
    uint32_t *buckets;        /* by hash of the filters of a node: the first such node, from 1; as many as branches */
    uint64_t bytes;           /* memory of all four */
    uint32_t node_count;
    uint32_t node_capacity;
    uint32_t pool_count;
    uint32_t pool_capacity;
    uint32_t branch_count;
    uint32_t branch_capacity;
    uint32_t grown_node; /* progress of making it ahead: a node and one of its branches */
    uint32_t grown_edge;
    bool is_whole;
} tm_interval_tree;

void tm_tree_clear(tm_interval_tree *tree, tm_interval_store *store);

#endif
