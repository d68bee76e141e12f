/* tree_growing.h - how a tree is walked, and grows on the way. Law: see tree.h. */
#ifndef TM_INTERVAL_TREE_GROWING_H
#define TM_INTERVAL_TREE_GROWING_H

#include "engines/interval/survivors.h"

/* What a tree grows from. Borrowed. */
typedef struct tm_growth {
    tm_memory *memory;
    const tm_structure *structure;
    tm_survivor_room *room;
    uint64_t bytes_max;
    uint32_t dense_from;
} tm_growth;

/* Let the root be there. false: there is no room. */
bool tm_tree_begin(tm_interval_tree *tree, tm_growth *growth);
/* Where the branch of an edge of the next axis leads (its count of edges: the branch *), made if nobody has taken it,
 * which adds to `*places`. TM_NODE_NONE: there is no room. */
uint32_t tm_tree_take(tm_interval_tree *tree, tm_growth *growth, uint32_t node, uint32_t edge, uint64_t *places);
/* What is left at a node. */
tm_survivors tm_tree_survivors(const tm_interval_tree *tree, uint32_t node);
/* Make branches ahead, as many as the steps allow, which fall. */
void tm_tree_grow(tm_interval_tree *tree, tm_growth *growth, uint64_t *steps);

#endif
