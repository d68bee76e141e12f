/* seats.h - filters in the tree: each ends at a hub of the whole tree, and at one below each key that it allows.
 *
 * Law: a filter has all its seats or none. The one in the whole tree is its first, with all its labels on the way.
 */
#ifndef TM_PST_SEATS_H
#define TM_PST_SEATS_H

#include "engines/pst/tree.h"

/* Add a filter with these labels, of `count` different names, which are tested in this order. TM_NO_MEMORY: unchanged.
 */
int pst_seats_add(pst_tree *tree, const uint32_t *labels, uint32_t count, uint32_t handle);
void pst_seats_remove(pst_tree *tree, uint32_t handle);
/* Move a seat to the end of these labels, which are its own in another order. Out of memory it stays. */
void pst_seats_move(pst_tree *tree, uint32_t seat, const uint32_t *labels, uint32_t count);
/* Write the labels that lead to a seat, from the root on; returns their number. */
uint32_t pst_seats_path(const pst_tree *tree, uint32_t seat, uint32_t labels[TM_CONSTRAINTS_MAX]);

#endif
