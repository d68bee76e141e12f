/* guards.h - tests that many filters of a bucket have. Law: as in guards.c. */
#ifndef TM_ONEPATH_GUARDS_H
#define TM_ONEPATH_GUARDS_H

#include "engines/onepath/state.h"

#define ONEPATH_GUARD_OPEN (onepath_test_of(0, ONEPATH_TRUE, 0)) /* the other side of a guard has no bound */

/* true if the first test is a bound on the side of the second. */
bool onepath_guard_is_side(onepath_test a, onepath_test b);
/* Return the strictness of a bound, comparable with those on its side. */
int64_t onepath_guard_strictness(const tm_engine *engine, onepath_test bound);
/* true if every message that satisfies the test satisfies the guard, as far as it can be decided. */
bool onepath_guard_holds_for(const tm_engine *engine, onepath_test guard, onepath_test test);
/* Return the strictest guard of a node that the test implies; NULL if there is none. */
const onepath_fork *onepath_guard_of(const tm_engine *engine, const onepath_node *node, onepath_test test);
/* Return the guard that this place is directly behind; ONEPATH_NO_TEST if there is none. */
onepath_test onepath_guard_before(const tm_engine *engine, const onepath_stand *stand);
/* Add a reference to the constant of a guard, if it is a bound with one. */
void onepath_guard_hold(tm_engine *engine, onepath_test test);
/* Set the other side of the guard, in the branch and its fork. */
void onepath_guard_say_other(tm_engine *engine, uint32_t branch, onepath_test other);
/* Widen the guards around a branch for a filter of these tests that was added behind it. */
void onepath_guards_widen(tm_engine *engine, uint32_t branch, const onepath_tests *tests);
/* Release the constants of a guard that has no filter behind it. */
void onepath_guards_release(tm_engine *engine, const onepath_branch *branch);

#endif
