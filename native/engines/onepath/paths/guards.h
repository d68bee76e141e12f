/* guards.h - tests that many filters of a bucket make. Law: as in guards.c. */
#ifndef TM_ONEPATH_GUARDS_H
#define TM_ONEPATH_GUARDS_H

#include "engines/onepath/state.h"

#define ONEPATH_GUARD_OPEN (onepath_test_of(0, ONEPATH_TRUE, 0)) /* of the other side of a guard: nothing is known */

/* Is the first a bound on the side of the second? */
bool onepath_guard_is_side(onepath_test a, onepath_test b);
/* How strict a bound is, among those on its side. */
int64_t onepath_guard_strictness(const tm_engine *engine, onepath_test bound);
/* Does every message that satisfies the test satisfy the guard, as far as that can be seen? */
bool onepath_guard_holds_for(const tm_engine *engine, onepath_test guard, onepath_test test);
/* The strictest guard of a node that the test implies; NULL: there is none. */
const onepath_fork *onepath_guard_of(const tm_engine *engine, const onepath_node *node, onepath_test test);
/* The guard that what stands here is right behind; ONEPATH_NO_TEST: there is none. */
onepath_test onepath_guard_before(const tm_engine *engine, const onepath_stand *stand);
/* A reference more on the constant of a guard, if it is a bound. */
void onepath_guard_hold(tm_engine *engine, onepath_test test);
/* This is what the branch and its fork say of the other side of the guard. */
void onepath_guard_say_other(tm_engine *engine, uint32_t branch, onepath_test other);
/* A filter that makes these tests has come behind the branch: the guards around it say so. */
void onepath_guards_widen(tm_engine *engine, uint32_t branch, const onepath_tests *tests);
/* Nothing is behind the guard any more. */
void onepath_guards_release(tm_engine *engine, const onepath_branch *branch);

#endif
