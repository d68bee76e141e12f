/* interval_matching.h - the intervals of a key that a value lies in.
 *
 * Law: as in intervals.c: of each width only the lower ends are looked at from which it may reach the value, and of
 * those no chunk whose interfaces have all matched. All that a match reads is hot, but for the records of filters in
 * doubt. Private to match.c.
 */
#ifndef TM_ONEPATH_INTERVAL_MATCHING_H
#define TM_ONEPATH_INTERVAL_MATCHING_H

#include "engines/onepath/run_matching.h"

#define ROWS_AT_ONCE 16U

/* Where the ends leave a doubt. */
static __attribute__((noinline)) bool interval_holds(matching *m, uint32_t handle) {
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

/* Where the ends leave a doubt, which they do where one shares the place of a value off the grid, or the next one, the
 * tests decide. */
static inline bool fits_for_certain(const tamis_chunk *chunk, uint32_t row, int64_t place, bool on_grid) {
    return on_grid || (chunk->bounds[row] <= place && chunk->highs[row] != place);
}

/* Row by row, from `row` on; returns the first row that does not begin low enough. */
static inline uint32_t emit_few(matching *m, const tamis_chunk *chunk, uint32_t row, int64_t place, bool on_grid) {
    int64_t last = on_grid ? place : place + 1;
    for (; row < chunk->count && chunk->bounds[row] <= last; row++) {
        if (chunk->highs[row] >= place &&
            (fits_for_certain(chunk, row, place, on_grid) || interval_holds(m, chunk->handles[row]))) {
            emit_if_open(m, chunk->interfaces[row], chunk->handles[row]);
        }
    }
    return row;
}

/* The same, of a long stretch: rows end in no order, so those that reach the value are picked ROWS_AT_ONCE at a time,
 * without a jump for each, and most of them are settled. */
static inline uint32_t emit_many(matching *m, const tamis_chunk *chunk, uint32_t row, int64_t place, bool on_grid) {
    int64_t last = on_grid ? place : place + 1;
    const uint64_t *settled = settled_bits(m);
    while (row + ROWS_AT_ONCE <= chunk->count && chunk->bounds[row + ROWS_AT_ONCE - 1] <= last) {
        uint32_t fits[ROWS_AT_ONCE];
        uint32_t count = 0;
        for (uint32_t stop = row + ROWS_AT_ONCE; row < stop; row++) {
            fits[count] = row;
            count += chunk->highs[row] >= place;
        }
        for (uint32_t i = 0; i < count; i++) {
            uint32_t interface = chunk->interfaces[fits[i]];
            if ((settled == NULL || !tm_bit_at(settled, interface)) &&
                (fits_for_certain(chunk, fits[i], place, on_grid) || interval_holds(m, chunk->handles[fits[i]]))) {
                emit_if_open(m, interface, chunk->handles[fits[i]]);
            }
        }
    }
    return emit_few(m, chunk, row, place, on_grid);
}

/* A width from (at, row) on, once it is known which interfaces are open. */
static __attribute__((noinline)) void emit_open_chunks(matching *m, const tamis_run *run, uint32_t at, uint32_t row,
                                                       int64_t place, bool on_grid) {
    int64_t last = on_grid ? place : place + 1;
    for (; at < run->count && !m->is_done; at++, row = 0) {
        const tamis_chunk *chunk = &run->chunks[at];
        uint32_t end = chunk->bounds[chunk->count - 1] <= last ? chunk->count : 0;
        uint32_t rows = 0;
        if (is_worth_a_look(m, chunk)) {
            end = emit_many(m, chunk, row, place, on_grid);
            rows = end - row;
            note_rows(m, rows);
        }
        if (!tm_work_spend(&m->work, rows + 1) || end < chunk->count) {
            return;
        }
        ask_for_fold(run, at + CHUNKS_AHEAD);
    }
}

static void emit_width(matching *m, const tamis_width *width, int64_t place, bool on_grid) {
    uint32_t at;
    uint32_t row;
    tamis_run_find(&width->run, tm_grid_reach(place, width->bits), false, NULL, &at, &row);
    for (; at < width->run.count && !m->knows_open; at++) {
        const tamis_chunk *chunk = &width->run.chunks[at];
        uint32_t end = emit_few(m, chunk, row, place, on_grid);
        note_rows(m, end - row);
        if (!tm_work_spend(&m->work, end - row) || end < chunk->count) {
            return;
        }
        row = 0;
    }
    if (at < width->run.count) {
        emit_open_chunks(m, &width->run, at, row, place, on_grid);
    }
}

static void emit_intervals(matching *m, const tamis_intervals *intervals, int64_t place, bool on_grid) {
    for (uint32_t i = 0; i < intervals->count && !m->is_done; i++) {
        emit_width(m, &intervals->widths[i], place, on_grid);
    }
}

#endif
