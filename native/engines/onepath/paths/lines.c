/* lines.c - ranges of numbers on one name alone, as boxes of one dimension. Law: see lines.h. */
#include "engines/onepath/paths/lines.h"

#include "engines/onepath/values/compile.h"

/* Nothing but bounds on numbers of one name? */
static bool is_of_bounds(const tm_engine *engine, const tamis_tests *tests) {
    for (uint32_t i = 0; i < tests->count; i++) {
        tamis_test test = tests->tests[i];
        if (!tamis_is_bound(test) || tamis_kind_of(engine, test) != TAMIS_NUMBER ||
            tamis_test_name(test) != tamis_test_name(tests->tests[0])) {
            return false;
        }
    }
    return tests->count > 0;
}

static bool has_wide(const tamis_tests *tests) {
    bool found = false;
    for (uint32_t i = 0; i < tests->count; i++) {
        found |= tamis_op_is_wide(tamis_test_op(tests->tests[i]));
    }
    return found;
}

static tm_family *line_of(const tm_engine *engine, const tamis_tests *tests) {
    uint32_t name = tamis_test_name(tests->tests[0]) << 2 | TAMIS_NUMBER;
    return tm_families_find(&engine->families, &name, 1, TAMIS_NO_TEST);
}

tm_family *tamis_lines_find(const tm_engine *engine, const tamis_tests *tests) {
    return is_of_bounds(engine, tests) ? line_of(engine, tests) : NULL;
}

bool tamis_lines_has_open(const tm_engine *engine, const tamis_tests *tests) {
    const tm_family *line = tamis_lines_find(engine, tests);
    return line != NULL && !line->is_leaving;
}

bool tamis_lines_take(const tm_engine *engine, const tamis_tests *tests) {
    if (!is_of_bounds(engine, tests)) {
        return false;
    }
    const tm_family *line = line_of(engine, tests);
    if (line != NULL) {
        return !line->is_leaving;
    }
    const tamis_key *key = engine->names.records[tamis_test_name(tests->tests[0])].keys[TAMIS_NUMBER];
    return has_wide(tests) && (key == NULL || key->pins < TAMIS_LINE_BEGINS);
}

void tamis_lines_count(tm_engine *engine, const tamis_tests *tests, uint32_t by) {
    if (tests->count == 1 && is_of_bounds(engine, tests)) {
        line_of(engine, tests)->limits += by;
    }
}
