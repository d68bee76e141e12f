/* constants.h - the constants of a filter's tests, all of them at once. Law: as in constants.c. */
#ifndef TM_ONEPATH_CONSTANTS_H
#define TM_ONEPATH_CONSTANTS_H

#include "engines/onepath/state.h"

/* Ask for the memory of the constants of tests that are about to be given back, and when that is there, for the memory
 * in which those that go will be looked up. */
void onepath_ask_constants(const tm_engine *engine, const onepath_tests *tests);
void onepath_ask_sets(const tm_engine *engine, const onepath_tests *tests);
/* And when that is there, for those that stand beside them and may move up. */
void onepath_ask_beside(const tm_engine *engine, const onepath_tests *tests);
/* The numbers without a code in the tests of a filter get labels if they have none; false: no memory, nothing changed.
 */
bool onepath_take_order(tm_engine *engine, uint32_t handle, const onepath_tests *tests);
/* They need none any more, if they have some. */
void onepath_drop_order(tm_engine *engine, uint32_t handle, const onepath_tests *tests);
/* Where the constants of a range stand in order; NULL: they are codes. */
static inline const onepath_strings *onepath_order_of(const tm_engine *engine, onepath_test test) {
    unsigned op = onepath_test_op(test);
    return op >= ONEPATH_STRING_EQ ? &engine->strings : onepath_op_is_wide(op) ? &engine->numbers : NULL;
}

#endif
