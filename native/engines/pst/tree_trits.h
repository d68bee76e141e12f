/* tree_trits.h - which interfaces have a filter below a node of the tree, updated as filters are added and removed.
 *
 * Law: a node has a position if and only if a child has it, or a filter that ends there. A node of many children counts
 * for each position the children that have it; a node of few searches them when a child has lost it. Room for positions
 * is reserved before anything changes, so that a gain cannot fail.
 */
#ifndef TM_PST_TREE_TRITS_H
#define TM_PST_TREE_TRITS_H

#include "engines/pst/tree.h"

static inline uint32_t pst_children(const pst_hub *hub) {
    return hub->tests + hub->filters;
}

/* Return the position of the interface of a filter. */
static inline uint32_t pst_position_of(const pst_tree *tree, uint32_t handle) {
    return pst_position(tm_holders_interface(tree->holders, handle));
}

/* Reserve room for the position in all nodes from the hub up. TM_NO_MEMORY: no node has gained it. */
int pst_tree_reserve_trits(pst_tree *tree, uint32_t hub, uint32_t position);
/* Add the position of a new filter at the hub, which has room for it. */
void pst_tree_gain(pst_tree *tree, uint32_t hub, uint32_t position);
/* Remove the position of a filter that has left the hub. */
void pst_tree_lose(pst_tree *tree, uint32_t hub, uint32_t position);
/* Free the counts of a node that has only few children left. */
void pst_tree_relax(pst_tree *tree, pst_trits *trits, uint32_t children);

#endif
