/* constants.h - the constants of a filter's tests, all of them at once. Law: as in constants.c. */
#ifndef TM_ONEPATH_CONSTANTS_H
#define TM_ONEPATH_CONSTANTS_H

#include "engines/onepath/state.h"

/* Prefetch the constants of tests that are about to be released; then, with those in the cache, the index slots of the
 * constants that will be removed. */
void onepath_ask_constants(const tm_engine *engine, const onepath_tests *tests);
void onepath_ask_sets(const tm_engine *engine, const onepath_tests *tests);
/* Then prefetch the neighbours in the index that may move up. */
void onepath_ask_beside(const tm_engine *engine, const onepath_tests *tests);
/* Give labels to the numbers without a code in the tests of a filter; false if out of memory, then nothing changed. */
bool onepath_take_order(tm_engine *engine, uint32_t handle, const onepath_tests *tests);
/* Release the labels of a filter's numbers, if it has any. */
void onepath_drop_order(tm_engine *engine, uint32_t handle, const onepath_tests *tests);
/* Return the ordered constants of a range's bounds; NULL if the bounds are codes. */
static inline const onepath_strings *onepath_order_of(const tm_engine *engine, onepath_test test) {
    unsigned op = onepath_test_op(test);
    return op >= ONEPATH_STRING_EQ ? &engine->strings : onepath_op_is_wide(op) ? &engine->numbers : NULL;
}

#endif
