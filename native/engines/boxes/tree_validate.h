/* tree_validate.h - checks the invariants of tree.h one by one. For tests: it reads everything. */
#ifndef TM_BOXES_TREE_VALIDATE_H
#define TM_BOXES_TREE_VALIDATE_H

#include "engines/boxes/tree.h"

/* Recompute every bound; `is_at` checks boxes and their leaves for the owner (NULL: no check). */
int tm_boxes_validate(const tm_boxes *tree, bool (*is_at)(const void *owner, uint32_t id, const tm_box_node *leaf),
                      const char **reason);

#endif
