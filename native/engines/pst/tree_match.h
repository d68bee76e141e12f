/* tree_match.h - one message down the tree. Law: see tree_match.c. */
#ifndef TM_PST_TREE_MATCH_H
#define TM_PST_TREE_MATCH_H

#include "engines/pst/joint.h"

/* What is noted of a view: the interfaces of a group in a ring, so that all are settled once one of them has matched.
 */
typedef struct pst_rings {
    uint16_t *next; /* owned; by interface below `count`; NULL: nothing is noted */
    uint32_t count;
} pst_rings;

/* `message` is a number that no match had before. `rings` of the answer's view; NULL: none. */
void pst_tree_match(pst_tree *tree, pst_joint *joint, uint32_t message, const pst_rings *rings,
                    const tm_attribute *attributes, size_t count, tm_answer *answer);

#endif
