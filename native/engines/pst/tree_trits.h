/* tree_trits.h - which interfaces have a filter below a node of the tree, kept as filters come and go.
 *
 * Law: a node has a position if and only if a child has it, or a filter that ends there. A node of many children counts
 * for each position how many do; one of few looks at them when a child has lost it. Positions are made room for before
 * anything changes, so that a gain cannot fail.
 */
#ifndef TM_PST_TREE_TRITS_H
#define TM_PST_TREE_TRITS_H

#include "engines/pst/tree.h"

static inline uint32_t pst_children(const pst_hub *hub) {
    return hub->tests + hub->filters;
}

/* That of the interface of a filter. */
static inline uint32_t pst_position_of(const pst_tree *tree, uint32_t handle) {
    return pst_position(tm_holders_interface(tree->holders, handle));
}

/* Room for the position in all nodes from the hub up. TM_NO_MEMORY: no node has it that had it not. */
int pst_tree_reserve_trits(pst_tree *tree, uint32_t hub, uint32_t position);
/* A filter of the position has come to the hub, which has room for it. */
void pst_tree_gain(pst_tree *tree, uint32_t hub, uint32_t position);
/* A filter of the position has left the hub. */
void pst_tree_lose(pst_tree *tree, uint32_t hub, uint32_t position);
/* A node that has only few children left counts no more. */
void pst_tree_relax(pst_tree *tree, pst_trits *trits, uint32_t children);

#endif
