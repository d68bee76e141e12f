/* box_choice.h - decides whether a filter is better a box, and of which family. Law: as in box_choice.c. */
#ifndef TM_ONEPATH_BOX_CHOICE_H
#define TM_ONEPATH_BOX_CHOICE_H

#include "engines/onepath/paths/boxes.h"

/* Return the names of the family that a filter of these tests would have, and its guard. */
void onepath_family_choose(const tm_engine *engine, const onepath_tests *tests, onepath_family_names *out);
/* Choose the guard of a filter with ranges that has no bucket: of the tests that no box expresses the one that most
 * other filters may have. The more guarded families there are, the more filters a further one requires. */
void onepath_family_choose_guard(const tm_engine *engine, const onepath_tests *tests, onepath_family_names *family);
/* true if there is a family for the ranges of these tests, or a guard for one. */
bool onepath_boxes_take(const tm_engine *engine, const onepath_tests *tests);
/* true if there could be a family for these tests. */
bool onepath_boxes_may_take(const tm_engine *engine, const onepath_tests *tests);
/* Return how many filters of a family in the bucket of this filter, which has `rows`, become boxes: few, where messages
 * are expected to read entries there, or in those of other values, that cost more than a tree. */
uint32_t onepath_boxes_least(const tm_engine *engine, const onepath_tests *tests, uint32_t handle, uint32_t rows);
/* Return the same for the pair of names in front; `rows`: its entries. */
uint32_t onepath_boxes_least_of_pair(const tm_engine *engine, const onepath_tests *tests, uint32_t rows);
/* true if the tests have a family, and `access`, which has a bucket, has enough other filters for a box to pay. */
bool onepath_boxes_split_full(const tm_engine *engine, const onepath_tests *tests, onepath_test access);

#endif
