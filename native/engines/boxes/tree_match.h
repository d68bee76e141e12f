/* tree_match.h - one point against a tree. */
#ifndef TM_BOXES_TREE_MATCH_H
#define TM_BOXES_TREE_MATCH_H

#include "engines/boxes/tree.h"

/* Report the boxes that contain the point, except those that can add nothing to the answer. */
void tm_boxes_match(const tm_boxes *tree, tm_box_query *query);
/* Report the boxes of a tree of one name that is not labelled. */
void tm_boxes_match_line(const tm_boxes *tree, tm_box_query *query);

#endif
