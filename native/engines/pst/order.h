/* order.h - in which order the names of a filter are tested: the one that most filters speak of comes first.
 *
 * Law: any order is right, and filters that follow the same one share their paths. Names are ranked by how many filters
 * spoke of them when the ranks were last taken, which is done once as many filters have been added as there were then.
 * Filters whose path is of an earlier ranking are moved, a few with each addition and as many as it may with `settle`.
 */
#ifndef TM_PST_ORDER_H
#define TM_PST_ORDER_H

#include "engines/pst/tree.h"

typedef enum {
    PST_ORDER_AUTO,  /* by how many filters speak of a name, then by name */
    PST_ORDER_NAMES, /* by name alone */
} pst_order_kind;

typedef struct pst_order {
    pst_order_kind kind;
    uint64_t ranked_at; /* filters when ranks were taken */
    uint64_t added;     /* since then */
    uint32_t next;      /* handle to be looked at; `end`: all have been */
    uint32_t end;
} pst_order;

#define PST_RANKED_NAMES_MAX 65536U /* with more names ranks stay as they are, so that no addition takes long */
#define PST_RANKED_FROM 16U         /* filters */
#define PST_MOVES_WITH_AN_ADD 4U    /* filters that are looked at */
#define PST_MOVE_STEPS 4U           /* that a move counts for in `settle` */

/* Does name `one` come before another? */
bool pst_order_before(const pst_labels *labels, uint32_t one, uint32_t other);
/* Sort the labels of one filter. */
void pst_order_sort(const pst_labels *labels, uint32_t *ids, uint32_t count);

/* A filter of these labels was added, or is to be removed. */
void pst_order_added(pst_order *order, pst_tree *tree, const uint32_t *ids, uint32_t count);
void pst_order_removed(pst_tree *tree, uint32_t handle);

/* Look at as many filters as the steps are for, and move those that are in another order. Without memory they stay. */
void pst_order_settle(pst_order *order, pst_tree *tree, uint64_t steps);

#endif
