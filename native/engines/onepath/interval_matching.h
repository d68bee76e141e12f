/* interval_matching.h - the intervals of a key that a value lies in.
 *
 * Law: as in intervals.c: of each width only the lower ends are looked at from which it may reach the value, and of
 * those no chunk whose interfaces have all matched. All that a match reads is hot, but for the records of filters in
 * doubt. Private to match.c.
 */
#ifndef TM_ONEPATH_INTERVAL_MATCHING_H
#define TM_ONEPATH_INTERVAL_MATCHING_H

#include "engines/onepath/run_matching.h"

#define FITS_AT_ONCE 64U

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

/* The rows of a chunk that begin at `last` or below are those before the one returned. */
static inline uint32_t rows_up_to(const tamis_chunk *chunk, int64_t last) {
    if (chunk->bounds[chunk->count - 1] <= last) {
        return chunk->count;
    }
    const int64_t *at = chunk->bounds;
    for (uint32_t left = chunk->count; left > 1; left -= left / 2) {
        at += left / 2 & -(uint32_t)(at[left / 2 - 1] <= last);
    }
    return (uint32_t)(at - chunk->bounds) + (*at <= last);
}

/* The value lies off the grid: where an end shares its place, or the next one, the tests decide. */
static void emit_doubted(matching *m, const tamis_chunk *chunk, uint32_t row, uint32_t end, int64_t place) {
    for (; row < end; row++) {
        bool doubted = chunk->bounds[row] > place || chunk->highs[row] == place;
        if (chunk->highs[row] >= place && (!doubted || interval_holds(m, chunk->handles[row]))) {
            emit_if_open(m, chunk->interfaces[row], chunk->handles[row]);
        }
    }
}

/* Rows end in no order, so those that reach the value are picked first, without a jump for each. */
static void emit_fitting(matching *m, const tamis_chunk *chunk, uint32_t row, uint32_t end, int64_t place) {
    const uint64_t *settled = settled_bits(m);
    uint32_t fits[FITS_AT_ONCE];
    while (row < end) {
        uint32_t stop = end - row > FITS_AT_ONCE ? row + FITS_AT_ONCE : end;
        uint32_t count = 0;
        for (; row < stop; row++) {
            fits[count] = row;
            count += chunk->highs[row] >= place;
        }
        for (uint32_t i = 0; i < count; i++) {
            if (settled == NULL || !tm_bit_at(settled, chunk->interfaces[fits[i]])) {
                emit_if_open(m, chunk->interfaces[fits[i]], chunk->handles[fits[i]]);
            }
        }
    }
}

/* The rows of one chunk from `row` on; false: no later chunk begins low enough. */
static bool emit_chunk(matching *m, const tamis_chunk *chunk, uint32_t row, int64_t place, bool on_grid) {
    int64_t last = on_grid ? place : place + 1;
    if (!is_worth_a_look(m, chunk)) {
        m->work.steps++;
        return chunk->bounds[chunk->count - 1] <= last;
    }
    uint32_t end = rows_up_to(chunk, last);
    if (on_grid) {
        emit_fitting(m, chunk, row, end, place);
    } else {
        emit_doubted(m, chunk, row, end, place);
    }
    uint32_t rows = end > row ? end - row : 0;
    m->work.steps += rows;
    note_rows(m, rows);
    return end == chunk->count;
}

static void emit_width(matching *m, const tamis_width *width, int64_t place, bool on_grid) {
    uint32_t at;
    uint32_t row;
    tamis_run_find(&width->run, tm_grid_reach(place, width->bits), false, NULL, &at, &row);
    for (; at < width->run.count && !m->is_done && !tm_work_is_over(&m->work); at++, row = 0) {
        if (!emit_chunk(m, &width->run.chunks[at], row, place, on_grid)) {
            return;
        }
        if (m->knows_open) {
            ask_for_fold(&width->run, at + CHUNKS_AHEAD);
        }
    }
}

static void emit_intervals(matching *m, const tamis_intervals *intervals, int64_t place, bool on_grid) {
    for (uint32_t i = 0; i < intervals->count && !m->is_done; i++) {
        emit_width(m, &intervals->widths[i], place, on_grid);
    }
}

#endif
