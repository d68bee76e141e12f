/* guards.h - tests that many filters of a bucket make. Law: as in guards.c. */
#ifndef TM_ONEPATH_GUARDS_H
#define TM_ONEPATH_GUARDS_H

#include "engines/onepath/state.h"

#define TAMIS_GUARD_OPEN (tamis_test_of(0, TAMIS_TRUE, 0)) /* of the other side of a guard: nothing is known */

/* Is the first a bound on the side of the second? */
bool tamis_guard_is_side(tamis_test a, tamis_test b);
/* How strict a bound is, among those on its side. */
int64_t tamis_guard_strictness(const tm_engine *engine, tamis_test bound);
/* Does every message that satisfies the test satisfy the guard, as far as that can be seen? */
bool tamis_guard_holds_for(const tm_engine *engine, tamis_test guard, tamis_test test);
/* The strictest guard of a node that the test implies; NULL: there is none. */
const tamis_fork *tamis_guard_of(const tm_engine *engine, const tamis_node *node, tamis_test test);
/* The guard that what stands here is right behind; TAMIS_NO_TEST: there is none. */
tamis_test tamis_guard_before(const tm_engine *engine, const tamis_stand *stand);
/* A reference more on the constant of a guard, if it is a bound. */
void tamis_guard_hold(tm_engine *engine, tamis_test test);
/* This is what the branch and its fork say of the other side of the guard. */
void tamis_guard_say_other(tm_engine *engine, uint32_t branch, tamis_test other);
/* A filter that makes these tests has come behind the branch: the guards around it say so. */
void tamis_guards_widen(tm_engine *engine, uint32_t branch, const tamis_tests *tests);
/* Nothing is behind the guard any more. */
void tamis_guards_release(tm_engine *engine, const tamis_branch *branch);

#endif
