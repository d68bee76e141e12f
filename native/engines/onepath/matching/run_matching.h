/* run_matching.h - matches the runs of a key: the spans that a value satisfies, and the chunks that may add results.
 *
 * Law: a chunk is skipped only where none of its interfaces is open. The set of open interfaces is not updated with
 * every result: a scan refreshes it when enough rows have been read that the scan costs an eighth of them. Between
 * scans the fold may mark interfaces as open that have matched since. Private to match.c.
 */
#ifndef TM_ONEPATH_RUN_MATCHING_H
#define TM_ONEPATH_RUN_MATCHING_H

#include "engines/onepath/matching/matching.h"

#define ROWS_A_LOOK 8U       /* rows read for each word, or in a grouping each interface, that a scan reads */
#define ROWS_A_LOOK_MIN 256U /* lower limit: half a chunk */
#define COPIED_ROWS_SHIFT 3  /* rows that are only copied are cheap: eight are a step */
#define CHUNKS_AHEAD 4U      /* chunks whose fold is prefetched */

/* ---- which interfaces are open ---- */

/* Return the open interfaces of a word, of an answer without a grouping. */
static uint64_t open_word(const matching *m, uint32_t word) {
    uint64_t open = tm_answer_open_word(m->answer, word);
    if (m->plain && word < ONEPATH_CELL_WORDS) { /* what is collected as bits is not in the answer yet */
        open &= ~(m->collected[word] & m->matched[word]);
    }
    return open;
}

static void look_at_words(matching *m, uint32_t words) {
    for (uint32_t at = 0; at < words; at++) {
        m->open[at % ONEPATH_FOLD_WORDS] |= open_word(m, at);
    }
}

static void look_at_interfaces(matching *m, uint32_t interfaces) {
    const tm_answer *answer = m->answer;
    for (uint32_t at = 0; at < interfaces; at++) {
        if (tm_bit_at(answer->holders->occupied, at) && tm_answer_open(answer, at)) {
            onepath_fold_set(m->open, at);
        }
    }
}

/* Refresh the set of open interfaces, or postpone the scan until enough rows were read. */
static __attribute__((noinline)) void look_at_open(matching *m) {
    const tm_answer *answer = m->answer;
    bool by_word = answer->grouping == NULL;
    uint32_t reads = by_word ? tm_bit_words(answer->group_count) : answer->holders->interface_count;
    uint64_t rows = (uint64_t)reads * ROWS_A_LOOK;
    rows = rows < ROWS_A_LOOK_MIN ? ROWS_A_LOOK_MIN : rows;
    if (m->rows_seen < rows) {
        m->rows_due = rows;
        return;
    }
    m->rows_seen = 0;
    m->rows_due = rows;
    m->answer->work.steps += reads / WORK_BYTES;
    memset(m->open, 0, sizeof m->open);
    if (by_word) {
        look_at_words(m, reads);
    } else {
        look_at_interfaces(m, reads);
    }
    uint64_t any = 0;
    for (uint32_t word = 0; word < ONEPATH_FOLD_WORDS; word++) {
        any |= m->open[word];
    }
    m->knows_open = true;
    m->is_done = any == 0;
}

/* Count rows of a run or of intervals that were read; refresh the open interfaces when that is due. */
static inline void note_rows(matching *m, uint32_t rows) {
    m->rows_seen += rows;
    if (m->rows_seen >= m->rows_due && !m->answer->distinct) {
        look_at_open(m);
    }
}

/* true if a row of the chunk may add a result. */
static inline bool is_worth_a_look(const matching *m, const onepath_chunk *chunk) {
    if (!m->knows_open || chunk->present == NULL) {
        return !m->is_done;
    }
    uint64_t open = 0;
    for (uint32_t word = 0; word < ONEPATH_FOLD_WORDS; word++) {
        open |= chunk->present[word] & m->open[word];
    }
    return open != 0;
}

static inline void ask_for_fold(const onepath_run *run, uint32_t chunk) {
    if (chunk < run->count) {
        __builtin_prefetch(run->chunks[chunk].present);
        __builtin_prefetch(run->chunks[chunk].present + ONEPATH_FOLD_WORDS / 2);
    }
}

/* ---- spans ---- */

/* Return a bitset of interfaces that are known to be settled without a request to the answer; NULL if there is none. */
static inline const uint64_t *settled_bits(const matching *m) {
    const tm_answer *answer = m->answer;
    if (answer->grouping != NULL) {
        return NULL;
    }
    bool in_bits = answer->hits->bits != NULL && answer->group_count >= answer->holders->interface_count;
    return in_bits ? answer->hits->bits : answer->marks;
}

/* Emit rows [from, to) of a chunk. After many rows most interfaces have matched: one test of a bit skips them. */
static void emit_rows(matching *m, const onepath_chunk *chunk, uint32_t from, uint32_t to) {
    const uint64_t *settled = m->knows_open ? settled_bits(m) : NULL;
    if (settled == NULL) {
        for (uint32_t i = from; i < to; i++) {
            emit_if_open(m, chunk->interfaces[i], chunk->handles[i]);
        }
        note_rows(m, to - from);
        return;
    }
    for (uint32_t i = from; i < to; i++) {
        if (!tm_bit_at(settled, chunk->interfaces[i])) {
            emit_if_open(m, chunk->interfaces[i], chunk->handles[i]);
        }
    }
    note_rows(m, to - from);
}

/* Emit all rows of the chunks in [from, to). */
static void emit_chunks(matching *m, const onepath_run *run, uint32_t from, uint32_t to) {
    for (; from < to && !m->is_done; from++) {
        const onepath_chunk *chunk = &run->chunks[from];
        bool is_open = is_worth_a_look(m, chunk);
        if (!tm_work_spend(&m->answer->work, is_open ? chunk->count : 1)) {
            return;
        }
        if (is_open) {
            emit_rows(m, chunk, 0, chunk->count);
        }
        if (m->knows_open) {
            ask_for_fold(run, from + CHUNKS_AHEAD);
        }
    }
}

/* Emit the rows from (chunk, from) to (end, to). */
static void emit_span(matching *m, const onepath_run *run, uint32_t chunk, uint32_t from, uint32_t end, uint32_t to) {
    if (chunk == end) {
        emit_rows(m, &run->chunks[chunk], from, to);
        return;
    }
    emit_rows(m, &run->chunks[chunk], from, run->chunks[chunk].count);
    emit_chunks(m, run, chunk + 1, end);
    if (to > 0 && !m->is_done) {
        emit_rows(m, &run->chunks[end], 0, to);
    }
}

/* Copy a span to an answer in which every row is a result of its own; runs hold no interface with cells. */
static void copy_span(matching *m, const onepath_run *run, uint32_t chunk, uint32_t from, uint32_t end, uint32_t to) {
    for (; chunk <= end && chunk < run->count; chunk++, from = 0) {
        const onepath_chunk *rows = &run->chunks[chunk];
        uint32_t stop = chunk == end ? to : rows->count;
        if (stop == from) {
            return;
        }
        if (!tm_work_spend(&m->answer->work, (stop - from) >> COPIED_ROWS_SHIFT)) {
            return;
        }
        tm_answer_emit_rows(m->answer, rows->interfaces + from, rows->handles + from, stop - from);
    }
}

static void see_span(matching *m, const onepath_run *run, uint32_t chunk, uint32_t from, uint32_t end, uint32_t to) {
    if (m->answer->direct) {
        copy_span(m, run, chunk, from, end, to);
    } else if (chunk < run->count) {
        emit_span(m, run, chunk, from, end, to);
    }
}

static void emit_runs(matching *m, const onepath_key *key, int64_t value, const onepath_strings *strings) {
    uint32_t chunk;
    uint32_t index;
    if (key->at_most != NULL && onepath_run_reaches(key->at_most, value, strings)) {
        onepath_run_find(key->at_most, value, false, strings, &chunk, &index);
        see_span(m, key->at_most, chunk, index, key->at_most->count, 0);
    }
    if (key->at_least != NULL && onepath_run_reaches(key->at_least, value, strings)) {
        onepath_run_find(key->at_least, value, true, strings, &chunk, &index);
        see_span(m, key->at_least, 0, 0, chunk, index);
    }
}

/* Emit the runs of a key, unless see_spans_found does it later. */
static inline void see_runs(matching *m, const onepath_key *key, int64_t value, const onepath_strings *strings) {
    if ((key->at_most != NULL || key->at_least != NULL) && !m->at_once) {
        emit_runs(m, key, value, strings);
    }
}

/* Find the spans of a key and prefetch their first rows; see_spans_found copies them. */
static inline void find_spans(matching *m, const onepath_key *key, int64_t value, const onepath_strings *strings) {
    if (key->at_most != NULL && onepath_run_reaches(key->at_most, value, strings)) {
        found_span *span = &m->spans[m->span_count++];
        *span = (found_span){.run = key->at_most, .end = key->at_most->count};
        onepath_run_find(span->run, value, false, strings, &span->chunk, &span->from);
        if (span->chunk < span->end) {
            __builtin_prefetch(span->run->chunks[span->chunk].interfaces + span->from);
        }
    }
    if (key->at_least != NULL && onepath_run_reaches(key->at_least, value, strings)) {
        found_span *span = &m->spans[m->span_count++];
        *span = (found_span){.run = key->at_least};
        onepath_run_find(span->run, value, true, strings, &span->end, &span->to);
        __builtin_prefetch(span->run->chunks[0].interfaces);
    }
}

static void see_spans_found(matching *m) {
    for (uint32_t i = 0; i < m->span_count; i++) {
        const found_span *span = &m->spans[i];
        copy_span(m, span->run, span->chunk, span->from, span->end, span->to);
    }
    m->span_count = 0;
}

#endif
