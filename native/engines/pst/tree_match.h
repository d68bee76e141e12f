/* tree_match.h - one message down the tree. Law: see tree_match.c. */
#ifndef TM_PST_TREE_MATCH_H
#define TM_PST_TREE_MATCH_H

#include "engines/pst/joint.h"

/* The interfaces of each group of a view in a ring, so that all are settled once one of them has matched. */
typedef struct pst_rings {
    uint16_t *next; /* owned; by interface below `count`; NULL: no rings */
    uint32_t count;
} pst_rings;

/* Match a message. `message` is a number that no earlier match had. `rings` are those of the answer's view; NULL:
 * none. */
void pst_tree_match(pst_tree *tree, pst_joint *joint, uint32_t message, const pst_rings *rings,
                    const tm_attribute *attributes, size_t count, tm_answer *answer);

#endif
