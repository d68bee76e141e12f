/* lines.c - finds the line of a filter, and decides which filters join one. Law: see lines.h. */
#include "engines/onepath/paths/lines.h"

#include "engines/onepath/values/compile.h"

/* true if all tests are bounds on numbers of one name. */
static bool is_of_bounds(const tm_engine *engine, const onepath_tests *tests) {
    for (uint32_t i = 0; i < tests->count; i++) {
        onepath_test test = tests->tests[i];
        if (!onepath_is_bound(test) || onepath_kind_of(engine, test) != ONEPATH_NUMBER ||
            onepath_test_name(test) != onepath_test_name(tests->tests[0])) {
            return false;
        }
    }
    return tests->count > 0;
}

static bool has_wide(const onepath_tests *tests) {
    bool found = false;
    for (uint32_t i = 0; i < tests->count; i++) {
        found |= onepath_op_is_wide(onepath_test_op(tests->tests[i]));
    }
    return found;
}

static tm_family *line_of(const tm_engine *engine, const onepath_tests *tests) {
    uint32_t name = onepath_test_name(tests->tests[0]) << 2 | ONEPATH_NUMBER;
    return tm_families_find(&engine->families, &name, 1, ONEPATH_NO_TEST);
}

tm_family *onepath_lines_find(const tm_engine *engine, const onepath_tests *tests) {
    return is_of_bounds(engine, tests) ? line_of(engine, tests) : NULL;
}

bool onepath_lines_has_open(const tm_engine *engine, const onepath_tests *tests) {
    const tm_family *line = onepath_lines_find(engine, tests);
    return line != NULL && !line->is_leaving;
}

static uint32_t limits_of_run(const onepath_run *run) {
    uint32_t limits = 0;
    for (uint32_t i = 0; run != NULL && i < run->count; i++) {
        limits += run->chunks[i].count;
    }
    return limits;
}

static uint32_t limits_of_cells(const onepath_cells *cells) {
    uint32_t limits = 0;
    for (uint32_t i = 0; onepath_cells_exist(cells) && i < cells->spans->count; i++) {
        limits += cells->spans->rows[i].no_low || cells->spans->rows[i].no_high;
    }
    return limits;
}

/* Return how many filters of the key, which has few, are limits. */
static uint32_t limits_of(const onepath_key *key) {
    uint32_t limits = 0;
    for (const onepath_key *part = key; part != NULL; part = part->wide) {
        limits += limits_of_run(part->at_most) + limits_of_run(part->at_least) + limits_of_cells(&part->cells);
    }
    return limits;
}

uint32_t onepath_lines_limits_max(const tm_engine *engine) {
    return engine->numbers.live < ONEPATH_LINE_NUMBERS_FEW ? ONEPATH_LINE_LIMITS_FEW : ONEPATH_LINE_LIMITS_MAX;
}

bool onepath_lines_take(const tm_engine *engine, const onepath_tests *tests) {
    if (!is_of_bounds(engine, tests)) {
        return false;
    }
    const tm_family *line = line_of(engine, tests);
    if (line != NULL) {
        return !line->is_leaving;
    }
    const onepath_key *key = engine->names.records[onepath_test_name(tests->tests[0])].keys[ONEPATH_NUMBER];
    return has_wide(tests) &&
           (key == NULL || (key->pins < ONEPATH_LINE_BEGINS && limits_of(key) <= onepath_lines_limits_max(engine) / 2));
}

void onepath_lines_count(tm_engine *engine, const onepath_tests *tests, uint32_t by) {
    if (tests->count == 1 && is_of_bounds(engine, tests)) {
        line_of(engine, tests)->limits += by;
    }
}
