/* branch_walk.h - from a branch up to its bucket outside all branches. Law: as in branch_walk.c. */
#ifndef TM_ONEPATH_BRANCH_WALK_H
#define TM_ONEPATH_BRANCH_WALK_H

#include "engines/onepath/state.h"

/* Return the number of branches from the outermost one to this one. */
uint32_t onepath_branch_depth(const tm_engine *engine, uint32_t branch);
/* true if a filter at this place may go behind one more branch. */
bool onepath_may_go_on(const tm_engine *engine, const onepath_stand *stand);
/* Count a filter more (1), none (0) or one less (UINT32_MAX) in a branch and those around it, up to `until`; removes
 * branches without a filter. */
void onepath_branches_count(tm_engine *engine, uint32_t branch, uint32_t until, uint32_t by);
/* Prefetch the opened buckets that a branch is behind, whose counts are about to change. */
void onepath_branches_ask(const tm_engine *engine, uint32_t branch);
/* Append the tests that the branch implies. */
void onepath_branch_tests(const tm_engine *engine, uint32_t branch, onepath_tests *out);
/* Return the test of the bucket outside all branches that this branch is behind. */
onepath_test onepath_branch_root(const tm_engine *engine, uint32_t branch);

#endif
