/* interval_matching.h - matches the intervals of a key that contain a value.
 *
 * Law: as in intervals.c: of the rows that begin low enough the match reads only stretches in which one row reaches the
 * value, from the last stretch back to the one before which no row reaches it, and no chunk whose interfaces have all
 * matched. Private to match.c.
 */
#ifndef TM_ONEPATH_INTERVAL_MATCHING_H
#define TM_ONEPATH_INTERVAL_MATCHING_H

#include "engines/onepath/matching/run_matching.h"

#define LOOKS_A_STEP 8U /* adjacent upper ends that one step compares */

/* Emit those of rows [from, end), at most ONEPATH_TOP_ROWS, that reach the value. Ends are in no order, so rows are
 * selected without a branch for each. */
static inline void emit_stretch(matching *m, const onepath_chunk *chunk, uint32_t from, uint32_t end, int64_t value,
                                const onepath_strings *strings, const uint64_t *settled) {
    uint32_t fits[ONEPATH_TOP_ROWS];
    uint32_t count = 0;
    for (uint32_t row = from; row < end; row++) {
        fits[count] = row;
        count += onepath_high_key(chunk->highs[row], strings) >= value;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t interface = chunk->interfaces[fits[i]];
        if (settled == NULL || !tm_bit_at(settled, interface)) {
            emit_if_open(m, interface, chunk->handles[fits[i]]);
        }
    }
    m->answer->work.steps += count;
}

/* Emit the rows of a chunk before `end` that reach the value. */
static inline void emit_rows_around(matching *m, const onepath_chunk *chunk, uint32_t end, int64_t value,
                                    const onepath_strings *strings) {
    const uint64_t *settled = m->knows_open ? settled_bits(m) : NULL;
    uint32_t seen = 0;
    for (uint32_t from = 0; from < end; from += ONEPATH_TOP_ROWS) {
        if (onepath_high_key(chunk->tops[onepath_top_of_row(from)], strings) >= value) {
            uint32_t stop = from + ONEPATH_TOP_ROWS < end ? from + ONEPATH_TOP_ROWS : end;
            emit_stretch(m, chunk, from, stop, value, strings, settled);
            seen += stop - from;
        }
    }
    m->answer->work.steps += (onepath_top_of_row(end) + seen) / LOOKS_A_STEP;
    note_rows(m, seen);
}

static inline __attribute__((always_inline)) void emit_around(matching *m, const onepath_run *run, int64_t value,
                                                              const onepath_strings *strings) {
    uint32_t last;
    uint32_t end;
    onepath_run_find(run, value, true, strings, &last, &end);
    uint32_t looks = 0;
    uint32_t at = last + (end > 0); /* chunks that have a row which begins low enough: from the last one back */
    while (at > 0 && !m->is_done && onepath_high_key(run->chunks[at - 1].reach, strings) >= value) {
        looks++;
        if (at % ONEPATH_TOP_CHUNKS == 0 &&
            onepath_high_key(run->tops[onepath_top_of_chunk(at - 1)], strings) < value) {
            at -= ONEPATH_TOP_CHUNKS;
            continue;
        }
        const onepath_chunk *chunk = &run->chunks[--at];
        if (onepath_high_key(chunk->top, strings) >= value && is_worth_a_look(m, chunk)) {
            emit_rows_around(m, chunk, at < last ? chunk->count : end, value, strings);
            if (!tm_work_spend(&m->answer->work, 1)) {
                return;
            }
        }
    }
    m->answer->work.steps += 1 + looks / LOOKS_A_STEP;
}

/* Emit the intervals that contain the value: a code, or a label in the order of `strings`. */
static void emit_intervals(matching *m, const onepath_run *run, int64_t value, const onepath_strings *strings) {
    if (strings == NULL) {
        emit_around(m, run, value, NULL);
    } else {
        emit_around(m, run, value, strings);
    }
}

#endif
