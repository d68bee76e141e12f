/* order.h - the order in which the names of a filter are tested: the name that most filters have comes first.
 *
 * Law: any order is right, and filters of one order share their paths. Names are ranked by how many filters had them
 * when the ranks were last taken. Ranks are taken again when the filters added since are as many as there were then.
 * Filters whose path is of an earlier ranking are moved, a few with each addition and as many as `settle` allows.
 */
#ifndef TM_PST_ORDER_H
#define TM_PST_ORDER_H

#include "engines/pst/seats.h"

typedef enum {
    PST_ORDER_AUTO,  /* by the number of filters that have a name, then by name */
    PST_ORDER_NAMES, /* by name alone */
} pst_order_kind;

typedef struct pst_order {
    pst_order_kind kind;
    uint64_t ranked_at; /* filters when ranks were taken */
    uint64_t added;     /* since then */
    uint32_t next;      /* next handle to be checked; `end`: all are checked */
    uint32_t end;
} pst_order;

#define PST_RANKED_NAMES_MAX 65536U /* with more names ranks are not updated, so that no addition takes long */
#define PST_RANKED_FROM 16U         /* filters */
#define PST_MOVES_WITH_AN_ADD 4U    /* steps of `settle` */
#define PST_MOVE_STEPS 4U           /* steps that `settle` counts for a seat that is moved; 1 for another */

/* true if name `one` comes before another. */
bool pst_order_before(const pst_labels *labels, uint32_t one, uint32_t other);
/* Sort the labels of one filter. */
void pst_order_sort(const pst_labels *labels, uint32_t *ids, uint32_t count);

/* Update the counts and ranks after a filter of these labels was added, or before it is removed. */
void pst_order_added(pst_order *order, pst_tree *tree, const uint32_t *ids, uint32_t count);
void pst_order_removed(pst_tree *tree, uint32_t handle);

/* Check at most `steps` filters, and move those that are in another order. Out of memory they stay. */
void pst_order_settle(pst_order *order, pst_tree *tree, uint64_t steps);

#endif
