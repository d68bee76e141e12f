/* constants.c - the constants of a filter's tests, all of them at once.
 *
 * Law: a prefetch changes nothing. A record has a bit that tells whether the numbers without a code in its tests are
 * ordered, each by one reference of its own; they must be where onepath_needs_order requires it.
 */
#include "engines/onepath/values/constants.h"

/* ---- prefetches ---- */

/* Return the set of constants that has the test's constant; NULL if the test has none. */
static const onepath_strings *constants_of(const tm_engine *engine, onepath_test test) {
    unsigned op = onepath_test_op(test);
    if (onepath_op_is_wide(op)) {
        return &engine->numbers;
    }
    return op >= ONEPATH_STRING_EQ && op <= ONEPATH_STRING_GE ? &engine->strings : NULL;
}

void onepath_ask_constants(const tm_engine *engine, const onepath_tests *tests) {
    for (uint32_t i = 0; i < tests->count; i++) {
        const onepath_strings *strings = constants_of(engine, tests->tests[i]);
        if (strings != NULL) {
            __builtin_prefetch(&strings->records[onepath_test_operand(tests->tests[i])]);
        }
    }
}

void onepath_ask_sets(const tm_engine *engine, const onepath_tests *tests) {
    for (uint32_t i = 0; i < tests->count; i++) {
        const onepath_strings *strings = constants_of(engine, tests->tests[i]);
        if (strings != NULL) {
            onepath_strings_ask_last(strings, onepath_test_operand(tests->tests[i]));
        }
    }
}

void onepath_ask_beside(const tm_engine *engine, const onepath_tests *tests) {
    for (uint32_t i = 0; i < tests->count; i++) {
        const onepath_strings *strings = constants_of(engine, tests->tests[i]);
        if (strings != NULL) {
            onepath_strings_ask_beside(strings, onepath_test_operand(tests->tests[i]));
        }
    }
}

/* ---- ordered numbers ---- */

static void disorder(tm_engine *engine, const onepath_tests *tests, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (onepath_op_is_wide(onepath_test_op(tests->tests[i]))) {
            onepath_strings_disorder(&engine->numbers, onepath_test_operand(tests->tests[i]));
        }
    }
}

bool onepath_take_order(tm_engine *engine, uint32_t handle, const onepath_tests *tests) {
    onepath_record *record = &engine->records[handle];
    for (uint32_t i = 0; i < tests->count && !record->in_order; i++) {
        onepath_test test = tests->tests[i];
        if (onepath_op_is_wide(onepath_test_op(test)) &&
            !onepath_strings_order(&engine->numbers, onepath_test_operand(test))) {
            disorder(engine, tests, i);
            return false;
        }
    }
    record->in_order = 1;
    return true;
}

void onepath_drop_order(tm_engine *engine, uint32_t handle, const onepath_tests *tests) {
    onepath_record *record = &engine->records[handle];
    if (record->in_order) {
        disorder(engine, tests, tests->count);
    }
    record->in_order = 0;
}
