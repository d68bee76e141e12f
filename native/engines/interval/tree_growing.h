/* tree_growing.h - walks a tree, and grows it on demand. Law: see tree.h. */
#ifndef TM_INTERVAL_TREE_GROWING_H
#define TM_INTERVAL_TREE_GROWING_H

#include "engines/interval/survivors.h"

/* What a tree is grown from. Borrowed. */
typedef struct tm_growth {
    tm_memory *memory;
    const tm_structure *structure;
    tm_survivor_room *room;
    uint64_t bytes_max;
    uint32_t dense_from;
} tm_growth;

/* Make the root, if there is none; false if there is no room. */
bool tm_tree_begin(tm_interval_tree *tree, tm_growth *growth);
/* Return the node of the branch of an edge of the next axis (its count of edges: the branch *). A missing branch is
 * made, which adds to `*places`. TM_NODE_NONE if there is no room. */
uint32_t tm_tree_take(tm_interval_tree *tree, tm_growth *growth, uint32_t node, uint32_t edge, uint64_t *places);
/* Return the survivors at a node. */
tm_survivors tm_tree_survivors(const tm_interval_tree *tree, uint32_t node);
/* Make branches ahead in at most `*steps` steps, and reduce `*steps`. */
void tm_tree_grow(tm_interval_tree *tree, tm_growth *growth, uint64_t *steps);

#endif
