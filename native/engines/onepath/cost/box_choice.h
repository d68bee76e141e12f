/* box_choice.h - whether a filter is better a box, and of which family. Law: as in box_choice.c. */
#ifndef TM_ONEPATH_BOX_CHOICE_H
#define TM_ONEPATH_BOX_CHOICE_H

#include "engines/onepath/paths/boxes.h"

/* The names of the family that a filter of these tests would be of, and its guard. */
void onepath_family_choose(const tm_engine *engine, const onepath_tests *tests, onepath_family_names *out);
/* Choose the guard of a filter with ranges that has no bucket: of the tests that no box says the one that most others
 * may make, too. The more guarded families there are, the more filters a further one has to be worth. */
void onepath_family_choose_guard(const tm_engine *engine, const onepath_tests *tests, onepath_family_names *family);
/* Is there a family for the ranges of these tests, or a guard for one? */
bool onepath_boxes_take(const tm_engine *engine, const onepath_tests *tests);
/* Could there be one? */
bool onepath_boxes_may_take(const tm_engine *engine, const onepath_tests *tests);
/* The same as the first for tests of which this one has a bucket, and others where the filter would stand by it that
 * are worth being spared. */
bool onepath_boxes_split_full(const tm_engine *engine, const onepath_tests *tests, onepath_test access);

#endif
