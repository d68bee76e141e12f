/* interval_matching.h - the intervals of a key that a value lies in.
 *
 * Law: as in intervals.c: of each width only the lower ends are looked at from which it may reach the value. All
 * that a match reads is hot, but for the records of filters in doubt. Private to match.c.
 */
#ifndef TM_ONEPATH_INTERVAL_MATCHING_H
#define TM_ONEPATH_INTERVAL_MATCHING_H

#include "engines/onepath/matching.h"

/* Where the ends leave a doubt. */
static bool interval_holds(matching *m, uint32_t handle) {
    tamis_tests tests;
    tamis_tests_of_record(m->engine, handle, &tests);
    m->work.steps += WORK_BODY;
    for (uint32_t i = 0; i < tests.count; i++) {
        if (!holds(m, tests.tests[i])) {
            return false;
        }
    }
    return true;
}

static void emit_width(matching *m, const tamis_width *width, int64_t place, bool on_grid) {
    uint32_t at;
    uint32_t row;
    int64_t last = on_grid ? place : place + 1;
    tamis_run_find(&width->run, tm_grid_reach(place, width->bits), false, NULL, &at, &row);
    for (; at < width->run.count; at++, row = 0) {
        const tamis_chunk *chunk = &width->run.chunks[at];
        for (; row < chunk->count; row++) {
            if (chunk->bounds[row] > last) {
                m->work.steps += row;
                return;
            }
            bool doubted = !on_grid && (chunk->bounds[row] > place || chunk->highs[row] == place);
            if (chunk->highs[row] >= place && (!doubted || interval_holds(m, chunk->handles[row]))) {
                emit_if_open(m, chunk->interfaces[row], chunk->handles[row]);
            }
        }
        if (!tm_work_spend(&m->work, chunk->count)) {
            return;
        }
    }
}

static void emit_intervals(matching *m, const tamis_intervals *intervals, int64_t place, bool on_grid) {
    for (uint32_t i = 0; i < intervals->count; i++) {
        emit_width(m, &intervals->widths[i], place, on_grid);
    }
}

#endif
