/* intervals.c - filters of several bounds on one key, found by the value between them.
 *
 * Law: intervals are in a run by their lower ends. The greatest upper end of each ONEPATH_TOP_ROWS of them, of each
 * chunk and of each ONEPATH_TOP_CHUNKS chunks is known exactly. Those that begin low enough are the first ones of the
 * run, and a stretch of these whose greatest upper end is not below the value has an interval that holds. So the reads
 * without a result are bounded by the results, however intervals are nested or stacked:
 *
 *     rows    [1 90] [2 8] [3 5] | [10 12] [11 13] [12 20] | [30 31] ...      value 14: begins behind the sixth row
 *     tops            90         |           20            |                  both stretches have one that holds
 *                                                                             value 25: only the first has
 *
 * Ends are codes, or constants in the order of their labels, so that every comparison is exact.
 */
#include "engines/onepath/paths/intervals.h"

#include "engines/onepath/values/compile.h"
#include "engines/onepath/values/constants.h"

/* ---- ends ---- */

bool onepath_only_span(const tm_engine *engine, const onepath_tests *tests, onepath_span *span) {
    unsigned kind = onepath_kind_of(engine, tests->tests[0]);
    uint32_t name = onepath_test_name(tests->tests[0]);
    const onepath_strings *order = onepath_order_of(engine, tests->tests[0]);
    for (uint32_t i = 0; i < tests->count; i++) {
        onepath_test test = tests->tests[i];
        onepath_span part;
        if (onepath_test_negated(test) || onepath_test_name(test) != name || !onepath_span_of(test, &part) ||
            onepath_kind_of(engine, test) != kind || onepath_order_of(engine, test) != order) {
            return false;
        }
        if (i == 0) {
            *span = part;
        } else if (!onepath_span_intersect(span, part, order)) {
            return false;
        }
    }
    return true;
}

onepath_interval onepath_interval_of(const tm_engine *engine, const onepath_tests *tests) {
    const onepath_strings *order = onepath_order_of(engine, tests->tests[0]);
    onepath_span span;
    onepath_span_of(tests->tests[0], &span);
    for (uint32_t i = 1; i < tests->count; i++) {
        onepath_span part;
        onepath_span_of(tests->tests[i], &part);
        onepath_span_intersect(&span, part, order);
    }
    onepath_interval ends = {span.low, span.high};
    if (span.no_low) {
        ends.low = order == NULL ? ONEPATH_NO_LOW : ends.high | ONEPATH_NO_END;
    } else if (span.no_high) {
        ends.high = order == NULL ? ONEPATH_NO_HIGH : ends.low | ONEPATH_NO_END;
    }
    return ends;
}

/* ---- the greatest upper ends ---- */

static int64_t greater(int64_t a, int64_t b, const onepath_strings *strings) {
    return onepath_high_key(a, strings) < onepath_high_key(b, strings) ? b : a;
}

/* Return the greatest end of rows [from, end), of which there is at least one. */
static int64_t top_of(const int64_t *highs, uint32_t from, uint32_t end, const onepath_strings *strings) {
    int64_t top = highs[from];
    for (uint32_t row = from + 1; row < end; row++) {
        top = greater(top, highs[row], strings);
    }
    return top;
}

static uint32_t end_of_stretch(uint32_t stretch, uint32_t length, uint32_t count) {
    uint32_t end = (stretch + 1) * length;
    return end < count ? end : count;
}

void onepath_top_rows(onepath_chunk *chunk, uint32_t row, const onepath_strings *strings) {
    if (chunk->highs == NULL) {
        return;
    }
    uint32_t count = onepath_top_of_row(chunk->count - 1U) + 1;
    for (uint32_t at = onepath_top_of_row(row); at < count; at++) {
        uint32_t end = end_of_stretch(at, ONEPATH_TOP_ROWS, chunk->count);
        chunk->tops[at] = top_of(chunk->highs, at * ONEPATH_TOP_ROWS, end, strings);
    }
    chunk->top = top_of(chunk->tops, 0, count, strings);
}

static int64_t top_of_chunks(const onepath_run *run, uint32_t stretch, const onepath_strings *strings) {
    uint32_t from = stretch * ONEPATH_TOP_CHUNKS;
    int64_t top = run->chunks[from].top;
    for (uint32_t at = from + 1; at < end_of_stretch(stretch, ONEPATH_TOP_CHUNKS, run->count); at++) {
        top = greater(top, run->chunks[at].top, strings);
    }
    return top;
}

/* Update `reach` of this chunk and the next one, which may not be set yet, and on as long as something changes. */
static void reach_on(onepath_run *run, uint32_t chunk, const onepath_strings *strings) {
    for (uint32_t at = chunk; at < run->count; at++) {
        int64_t top = run->chunks[at].top;
        int64_t reach = at == 0 ? top : greater(run->chunks[at - 1].reach, top, strings);
        if (at > chunk + 1 && reach == run->chunks[at].reach) {
            return;
        }
        run->chunks[at].reach = reach;
    }
}

void onepath_top_chunks(onepath_run *run, uint32_t chunk, bool behind, const onepath_strings *strings) {
    if (run->tops == NULL || run->count == 0) {
        return;
    }
    uint32_t last = onepath_top_of_chunk(run->count - 1);
    uint32_t from = onepath_top_of_chunk(chunk);
    for (uint32_t at = from; at <= (behind || from > last ? last : from); at++) {
        run->tops[at] = top_of_chunks(run, at, strings);
    }
    reach_on(run, chunk, strings);
}

/* ---- validation ---- */

static bool is_chunk_right(const onepath_chunk *chunk, const onepath_strings *strings) {
    int64_t top = top_of(chunk->highs, 0, chunk->count, strings);
    bool right = onepath_high_key(top, strings) == onepath_high_key(chunk->top, strings);
    for (uint32_t at = 0; at <= onepath_top_of_row(chunk->count - 1U); at++) {
        uint32_t end = end_of_stretch(at, ONEPATH_TOP_ROWS, chunk->count);
        top = top_of(chunk->highs, at * ONEPATH_TOP_ROWS, end, strings);
        right &= onepath_high_key(top, strings) == onepath_high_key(chunk->tops[at], strings);
    }
    return right;
}

int onepath_tops_validate(const onepath_run *run, const onepath_strings *strings, const char **reason) {
    bool right = true;
    for (uint32_t at = 0; at < run->count; at++) {
        const onepath_chunk *chunk = &run->chunks[at];
        right &= (chunk->highs != NULL) == (run->tops != NULL);
        if (chunk->highs != NULL) {
            right &= is_chunk_right(chunk, strings);
            right &= chunk->reach == (at == 0 ? chunk->top : greater(chunk[-1].reach, chunk->top, strings));
        }
    }
    for (uint32_t at = 0; run->tops != NULL && run->count > 0 && at <= onepath_top_of_chunk(run->count - 1); at++) {
        right &= onepath_high_key(top_of_chunks(run, at, strings), strings) == onepath_high_key(run->tops[at], strings);
    }
    if (!right) {
        *reason = "the greatest upper ends of a run of intervals are wrong";
        return TM_MISUSED;
    }
    return TM_OK;
}
