/* tree_trits.h - the trits of the nodes, updated as filters are added and removed.
 *
 * Law: a node has a position if and only if its children entitle it to that (tree.h). A node of many children counts
 * for each position the children that have it; a node of few searches them when a child has lost it. Room for positions
 * is reserved before anything changes, so that a gain cannot fail. A tree that is not annotated has none.
 */
#ifndef TM_PST_TREE_TRITS_H
#define TM_PST_TREE_TRITS_H

#include "engines/pst/tree.h"

static inline uint32_t pst_children(const pst_hub *hub) {
    return hub->tests + hub->filters;
}

/* Return the position of the interface of a seat's filter. */
static inline uint32_t pst_position_of(const pst_tree *tree, uint32_t seat) {
    return pst_position(tm_holders_interface(tree->holders, tree->seats[seat].handle));
}

/* Return a set of a hub or test; `sure` only where there are keys. */
static inline pst_trits *pst_hub_trits(const pst_tree *tree, uint32_t hub, pst_trit_set set) {
    return set == PST_SOME ? &tree->hubs[hub].some : &tree->sure_hubs[hub];
}

static inline pst_trits *pst_test_trits(const pst_tree *tree, uint32_t test, pst_trit_set set) {
    return set == PST_SOME ? &tree->tests[test].some : &tree->sure_tests[test];
}

/* Return the number of sets that nodes have. */
static inline int pst_trit_sets(const pst_tree *tree) {
    return tree->factor.keys > 0 ? PST_TRIT_SETS : PST_SOME + 1;
}

/* Make room for the sets `sure` of hubs and tests below these ids. TM_NO_MEMORY: unchanged. */
int pst_tree_reserve_sure(pst_tree *tree, uint32_t hubs, uint32_t tests);

/* Reserve room for the position in all nodes from the hub up. TM_NO_MEMORY: no node has gained it. */
int pst_tree_reserve_trits(pst_tree *tree, uint32_t hub, uint32_t position);
/* Add the position of a new filter at the hub, which has room for it. */
void pst_tree_gain(pst_tree *tree, uint32_t hub, uint32_t position);
/* Remove the position of a filter that has left the hub. */
void pst_tree_lose(pst_tree *tree, uint32_t hub, uint32_t position);
/* Free the counts of a node that has only few children left. */
void pst_tree_relax_hub(pst_tree *tree, uint32_t hub);
void pst_tree_relax_test(pst_tree *tree, uint32_t test);

#endif
