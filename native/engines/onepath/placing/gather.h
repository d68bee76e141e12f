/* gather.h - filters that move after another. Law: as in gather.c. */
#ifndef TM_ONEPATH_GATHER_H
#define TM_ONEPATH_GATHER_H

#include "engines/onepath/state.h"

/* Make boxes of the filters in this bucket that are of the family of a filter just added, if there are at least
 * `least`. Out of memory some stay, which is exact, too. */
void onepath_boxes_gather(tm_engine *engine, uint64_t bucket, const onepath_tests *tests, uint32_t least);
/* Move a few boxes behind the guard of a filter that has just become a box: those of its names that were added before
 * enough others had the test that guards them. Out of memory they stay, which is exact, too. */
void onepath_boxes_follow(tm_engine *engine, const onepath_tests *tests);
/* Move the family of this filter, a box, back to buckets if few of it are left. */
void onepath_boxes_scatter(tm_engine *engine, uint32_t handle);
/* Move filters out of the bucket of a pair that is full after an addition: the last ones go to their own buckets, if
 * those are now cheaper. */
void onepath_pair_split_full(tm_engine *engine, uint64_t pair);

#endif
