/* gather.h - filters that move after another. Law: as in gather.c. */
#ifndef TM_ONEPATH_GATHER_H
#define TM_ONEPATH_GATHER_H

#include "engines/onepath/state.h"

/* A filter has come into this bucket: if at least so many in it are of its family, they become boxes. Without memory
 * some stay, which is as right. */
void onepath_boxes_gather(tm_engine *engine, uint64_t bucket, const onepath_tests *tests, uint32_t least);
/* A filter has become a box: if it is behind a guard, a few of those of its names follow that came before enough others
 * made the tests that they could be guarded by. Without memory they stay, which is as right. */
void onepath_boxes_follow(tm_engine *engine, const onepath_tests *tests);
/* This filter is a box: if few of its family are left, they go back to buckets. */
void onepath_boxes_scatter(tm_engine *engine, uint32_t handle);
/* A filter has come to the bucket of a pair: of one that has filled up, the filters that came last go to their buckets,
 * if that is better now. */
void onepath_pair_split_full(tm_engine *engine, uint64_t pair);

#endif
