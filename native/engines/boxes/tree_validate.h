/* tree_validate.h - the invariants of tree.h, checked one by one. For tests: it reads everything. */
#ifndef TM_BOXES_TREE_VALIDATE_H
#define TM_BOXES_TREE_VALIDATE_H

#include "engines/boxes/tree.h"

/* Recomputes every bound; the owner compares the number of boxes and their leaves (NULL: it does not). */
int tm_boxes_validate(const tm_boxes *tree, bool (*is_at)(const void *owner, uint32_t id, const tm_box_node *leaf),
                      const char **reason);

#endif
