/* tree_match.h - one point against a tree. */
#ifndef TM_BOXES_TREE_MATCH_H
#define TM_BOXES_TREE_MATCH_H

#include "engines/boxes/tree.h"

/* The boxes that the point is in, as far as there is something to gain from them. */
void tm_boxes_match(const tm_boxes *tree, tm_box_query *query);
/* The same of a tree of one name that is not labelled. */
void tm_boxes_match_line(const tm_boxes *tree, tm_box_query *query);

#endif
