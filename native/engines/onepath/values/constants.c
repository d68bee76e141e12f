/* constants.c - the constants of a filter's tests, all of them at once.
 *
 * Law: asking for memory changes nothing. A record says whether the numbers without a code in its tests are in order,
 * each by one reference of its own; they must be where tamis_needs_order says so.
 */
#include "engines/onepath/values/constants.h"

/* ---- those that lie far apart are asked for together ---- */

/* The constants that the test refers to one of; NULL: none. */
static const tamis_strings *constants_of(const tm_engine *engine, tamis_test test) {
    unsigned op = tamis_test_op(test);
    if (tamis_op_is_wide(op)) {
        return &engine->numbers;
    }
    return op >= TAMIS_STRING_EQ && op <= TAMIS_STRING_GE ? &engine->strings : NULL;
}

void tamis_ask_constants(const tm_engine *engine, const tamis_tests *tests) {
    for (uint32_t i = 0; i < tests->count; i++) {
        const tamis_strings *strings = constants_of(engine, tests->tests[i]);
        if (strings != NULL) {
            __builtin_prefetch(&strings->records[tamis_test_operand(tests->tests[i])]);
        }
    }
}

void tamis_ask_sets(const tm_engine *engine, const tamis_tests *tests) {
    for (uint32_t i = 0; i < tests->count; i++) {
        const tamis_strings *strings = constants_of(engine, tests->tests[i]);
        if (strings != NULL) {
            tamis_strings_ask_last(strings, tamis_test_operand(tests->tests[i]));
        }
    }
}

void tamis_ask_beside(const tm_engine *engine, const tamis_tests *tests) {
    for (uint32_t i = 0; i < tests->count; i++) {
        const tamis_strings *strings = constants_of(engine, tests->tests[i]);
        if (strings != NULL) {
            tamis_strings_ask_beside(strings, tamis_test_operand(tests->tests[i]));
        }
    }
}

/* ---- numbers in order ---- */

static void disorder(tm_engine *engine, const tamis_tests *tests, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (tamis_op_is_wide(tamis_test_op(tests->tests[i]))) {
            tamis_strings_disorder(&engine->numbers, tamis_test_operand(tests->tests[i]));
        }
    }
}

bool tamis_take_order(tm_engine *engine, uint32_t handle, const tamis_tests *tests) {
    tamis_record *record = &engine->records[handle];
    for (uint32_t i = 0; i < tests->count && !record->in_order; i++) {
        tamis_test test = tests->tests[i];
        if (tamis_op_is_wide(tamis_test_op(test)) && !tamis_strings_order(&engine->numbers, tamis_test_operand(test))) {
            disorder(engine, tests, i);
            return false;
        }
    }
    record->in_order = 1;
    return true;
}

void tamis_drop_order(tm_engine *engine, uint32_t handle, const tamis_tests *tests) {
    tamis_record *record = &engine->records[handle];
    if (record->in_order) {
        disorder(engine, tests, tests->count);
    }
    record->in_order = 0;
}
