/* branch_walk.h - from a branch up to the bucket that all this is behind. Law: as in branch_walk.c. */
#ifndef TM_ONEPATH_BRANCH_WALK_H
#define TM_ONEPATH_BRANCH_WALK_H

#include "engines/onepath/state.h"

/* How many branches stand behind one another, up to this one. */
uint32_t onepath_branch_depth(const tm_engine *engine, uint32_t branch);
/* May a filter that stands here stand behind one more branch? */
bool onepath_may_go_on(const tm_engine *engine, const onepath_stand *stand);
/* A filter more (1), none (0) or one less (UINT32_MAX) in a branch and those around it, up to `until`; those without a
 * filter go. */
void onepath_branches_count(tm_engine *engine, uint32_t branch, uint32_t until, uint32_t by);
/* Ask for the memory of the opened buckets that a branch is behind: they will be counted in soon. */
void onepath_branches_ask(const tm_engine *engine, uint32_t branch);
/* Append the tests that the branch implies. */
void onepath_branch_tests(const tm_engine *engine, uint32_t branch, onepath_tests *out);
/* The test of the bucket in no branch that all this is behind. */
onepath_test onepath_branch_root(const tm_engine *engine, uint32_t branch);

#endif
