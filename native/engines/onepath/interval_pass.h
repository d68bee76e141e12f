/* interval_pass.h - the intervals of a key that a value lies in.
 *
 * Law: as in intervals.c: of each width only the lower ends are looked at from which it may reach the value. All
 * that a match reads is hot, but for the records of filters in doubt. Private to match.c.
 */
#ifndef TM_ONEPATH_INTERVAL_PASS_H
#define TM_ONEPATH_INTERVAL_PASS_H

#include "engines/onepath/pass.h"

/* Where the ends leave a doubt. */
static bool interval_holds(pass *p, uint32_t handle) {
    tamis_tests tests;
    tamis_tests_of_record(p->engine, handle, &tests);
    p->work.steps += WORK_BODY;
    for (uint32_t i = 0; i < tests.count; i++) {
        if (!holds(p, tests.tests[i])) {
            return false;
        }
    }
    return true;
}

static void emit_width(pass *p, const tamis_width *width, int64_t place, bool on_grid) {
    uint32_t at;
    uint32_t row;
    int64_t last = on_grid ? place : place + 1;
    tamis_run_find(&width->run, tm_grid_reach(place, width->bits), false, NULL, &at, &row);
    for (; at < width->run.count; at++, row = 0) {
        const tamis_chunk *chunk = &width->run.chunks[at];
        for (; row < chunk->count; row++) {
            if (chunk->bounds[row] > last) {
                p->work.steps += row;
                return;
            }
            bool doubted = !on_grid && (chunk->bounds[row] > place || chunk->highs[row] == place);
            if (chunk->highs[row] >= place && (!doubted || interval_holds(p, chunk->handles[row]))) {
                emit_if_open(p, chunk->interfaces[row], chunk->handles[row]);
            }
        }
        if (!tm_work_spend(&p->work, chunk->count)) {
            return;
        }
    }
}

static void emit_intervals(pass *p, const tamis_intervals *intervals, int64_t place, bool on_grid) {
    for (uint32_t i = 0; i < intervals->count; i++) {
        emit_width(p, &intervals->widths[i], place, on_grid);
    }
}

#endif
