/* runs.c - filters of one key sorted by (bound, handle), in chunks: those that a value satisfies are contiguous.
 *
 * Law: chunks are never empty, hold at most CHUNK_MAX and follow each other in order; a chunk's arrays have one
 * capacity; all chunks of a run have upper ends, or none has. An insertion moves at most a chunk; a full one splits. A
 * chunk of CHUNK_MAX has the fold of the interfaces of its rows (runs.h), and of few others. The run knows the greatest
 * upper ends (intervals.c).
 *
 *     chunks   [ 3 5 5 8 ] [ 9 9 12 ] [ 20 31 ]      value 9: "<= bound" holds from the first 9 to the end
 */
#include "engines/onepath/paths/runs.h"

#include <string.h>

#include "base/bits.h"
#include "engines/onepath/paths/intervals.h"

#define CHUNK_MIN 4U
#define CHUNK_MAX 512U
#define CHUNKS_MIN 1U
#define STALE_MAX 64U /* rows removed before the fold is recomputed: eight steps each */

/* Return the number of bounds below the value. Halves differ only in their start, so that the result of a comparison
 * needs no branch. */
static inline uint32_t bounds_below(const int64_t *bounds, uint32_t count, int64_t value,
                                    const onepath_strings *strings) {
    const int64_t *at = bounds;
    for (uint32_t left = count; left > 1; left -= left / 2) {
        at += left / 2 & -(uint32_t)(onepath_low_key(at[left / 2 - 1], strings) < value);
    }
    return (uint32_t)(at - bounds) + (onepath_low_key(*at, strings) < value);
}

void onepath_run_find(const onepath_run *run, int64_t value, bool above, const onepath_strings *strings,
                      uint32_t *chunk, uint32_t *index) {
    value += above; /* codes and labels are far from the ends of an integer */
    uint32_t low = 0;
    uint32_t high = run->count;
    while (low < high) { /* the first chunk whose last bound passes */
        uint32_t middle = low + (high - low) / 2;
        const onepath_chunk *at = &run->chunks[middle];
        if (onepath_low_key(at->bounds[at->count - 1], strings) < value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *chunk = low;
    *index = 0;
    if (low < run->count) {
        const onepath_chunk *at = &run->chunks[low];
        *index = strings == NULL ? bounds_below(at->bounds, at->count, value, NULL)
                                 : bounds_below(at->bounds, at->count, value, strings);
    }
}

/* Find the place of (bound, handle): in a chunk that exists, unless the run is empty. */
static void locate(const onepath_run *run, int64_t bound, uint32_t handle, const onepath_strings *strings,
                   uint32_t *chunk, uint32_t *index) {
    int64_t key = onepath_low_key(bound, strings);
    uint32_t low = 0;
    uint32_t high = run->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const onepath_chunk *at = &run->chunks[middle];
        int64_t last = onepath_low_key(at->bounds[at->count - 1], strings);
        if (last < key || (last == key && at->handles[at->count - 1] < handle)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *chunk = low == run->count && low > 0 ? low - 1 : low;
    *index = 0;
    if (run->count == 0) {
        return;
    }
    const onepath_chunk *at = &run->chunks[*chunk];
    for (uint32_t left = at->count; left > 0;) {
        uint32_t middle = *index + left / 2;
        int64_t here = onepath_low_key(at->bounds[middle], strings);
        bool before = here < key || (here == key && at->handles[middle] < handle);
        *index = before ? middle + 1 : *index;
        left = before ? left - left / 2 - 1 : left / 2;
    }
}

/* ---- chunks ---- */

/* Return the number of stretches of ONEPATH_TOP_ROWS rows, the last of which may be shorter. */
static uint32_t tops_of(uint32_t rows) {
    return (rows + ONEPATH_TOP_ROWS - 1) / ONEPATH_TOP_ROWS;
}

static void free_chunk(tm_memory *memory, onepath_chunk *chunk) {
    TM_DELETE(memory, TM_HOT, chunk->bounds, int64_t, chunk->capacity);
    TM_DELETE(memory, TM_HOT, chunk->highs, int64_t, chunk->capacity);
    TM_DELETE(memory, TM_HOT, chunk->tops, int64_t, tops_of(chunk->capacity));
    TM_DELETE(memory, TM_HOT, chunk->interfaces, uint32_t, chunk->capacity);
    TM_DELETE(memory, TM_HOT, chunk->handles, uint32_t, chunk->capacity);
    TM_DELETE(memory, TM_HOT, chunk->present, uint64_t, ONEPATH_FOLD_WORDS);
    *chunk = (onepath_chunk){0};
}

static bool new_chunk(tm_memory *memory, onepath_chunk *chunk, uint32_t capacity, bool has_highs) {
    *chunk = (onepath_chunk){.capacity = (uint16_t)capacity};
    chunk->bounds = TM_NEW(memory, TM_HOT, int64_t, capacity);
    chunk->highs = has_highs ? TM_NEW(memory, TM_HOT, int64_t, capacity) : NULL;
    chunk->tops = has_highs ? TM_NEW(memory, TM_HOT, int64_t, tops_of(capacity)) : NULL;
    chunk->interfaces = TM_NEW(memory, TM_HOT, uint32_t, capacity);
    chunk->handles = TM_NEW(memory, TM_HOT, uint32_t, capacity);
    bool is_large = capacity == CHUNK_MAX;
    chunk->present = is_large ? TM_NEW(memory, TM_HOT, uint64_t, ONEPATH_FOLD_WORDS) : NULL;
    if (chunk->bounds == NULL || (has_highs && (chunk->highs == NULL || chunk->tops == NULL)) ||
        chunk->interfaces == NULL || chunk->handles == NULL || (is_large && chunk->present == NULL)) {
        free_chunk(memory, chunk);
        return false;
    }
    return true;
}

static void fold_rows(onepath_chunk *chunk) {
    if (chunk->present == NULL) {
        return;
    }
    memset(chunk->present, 0, sizeof *chunk->present * ONEPATH_FOLD_WORDS);
    for (uint32_t row = 0; row < chunk->count; row++) {
        onepath_fold_set(chunk->present, chunk->interfaces[row]);
    }
    chunk->stale = 0;
}

/* Copy `count` rows; the chunks are distinct. */
static void copy_rows(onepath_chunk *to, uint32_t at, const onepath_chunk *from, uint32_t first, uint32_t count) {
    memcpy(to->bounds + at, from->bounds + first, sizeof *to->bounds * count);
    if (to->highs != NULL) {
        memcpy(to->highs + at, from->highs + first, sizeof *to->highs * count);
    }
    memcpy(to->interfaces + at, from->interfaces + first, sizeof *to->interfaces * count);
    memcpy(to->handles + at, from->handles + first, sizeof *to->handles * count);
}

static void move_rows(onepath_chunk *chunk, uint32_t to, uint32_t from, uint32_t count) {
    memmove(chunk->bounds + to, chunk->bounds + from, sizeof *chunk->bounds * count);
    if (chunk->highs != NULL) {
        memmove(chunk->highs + to, chunk->highs + from, sizeof *chunk->highs * count);
    }
    memmove(chunk->interfaces + to, chunk->interfaces + from, sizeof *chunk->interfaces * count);
    memmove(chunk->handles + to, chunk->handles + from, sizeof *chunk->handles * count);
}

static bool reserve_tops(tm_memory *memory, onepath_run *run, uint32_t chunks) {
    uint32_t capacity = onepath_top_of_chunk(chunks - 1) + 1;
    if (capacity <= run->top_capacity) {
        return true;
    }
    int64_t *tops = TM_RESIZE(memory, TM_HOT, run->tops, int64_t, run->top_capacity, capacity);
    if (tops == NULL) {
        return false;
    }
    run->tops = tops;
    run->top_capacity = capacity;
    return true;
}

/* Reserve room for one more chunk; false if out of memory. */
static bool reserve_chunks(tm_memory *memory, onepath_run *run, bool has_highs) {
    if (run->count < run->capacity) {
        return true;
    }
    uint32_t capacity = run->capacity + run->capacity / 4 + CHUNKS_MIN;
    if (has_highs && !reserve_tops(memory, run, capacity)) {
        return false;
    }
    onepath_chunk *chunks = TM_RESIZE(memory, TM_HOT, run->chunks, onepath_chunk, run->capacity, capacity);
    if (chunks == NULL) {
        return false;
    }
    run->chunks = chunks;
    run->capacity = capacity & ~(1U << 31);
    return true;
}

static void insert_chunk(onepath_run *run, uint32_t at, onepath_chunk chunk) {
    memmove(run->chunks + at + 1, run->chunks + at, sizeof chunk * (run->count - at));
    run->chunks[at] = chunk;
    run->count++;
}

/* Make room in a full chunk: it grows by half, or at CHUNK_MAX moves its upper half to a new one; false if out of
 * memory. */
static bool make_room(tm_memory *memory, onepath_run *run, uint32_t at, const onepath_strings *strings) {
    onepath_chunk *chunk = &run->chunks[at];
    onepath_chunk fresh;
    if (chunk->capacity < CHUNK_MAX) {
        uint32_t capacity = chunk->capacity + chunk->capacity / 2;
        if (!new_chunk(memory, &fresh, capacity < CHUNK_MAX ? capacity : CHUNK_MAX, chunk->highs != NULL)) {
            return false;
        }
        copy_rows(&fresh, 0, chunk, 0, chunk->count);
        fresh.count = chunk->count;
        fold_rows(&fresh);
        onepath_top_rows(&fresh, 0, strings);
        free_chunk(memory, chunk);
        run->chunks[at] = fresh;
        return true;
    }
    bool has_highs = chunk->highs != NULL;
    if (!reserve_chunks(memory, run, has_highs) || !new_chunk(memory, &fresh, CHUNK_MAX, has_highs)) {
        return false;
    }
    chunk = &run->chunks[at];
    fresh.count = chunk->count / 2;
    chunk->count -= fresh.count;
    copy_rows(&fresh, 0, chunk, chunk->count, fresh.count);
    fold_rows(&fresh);
    fold_rows(chunk);
    onepath_top_rows(&fresh, 0, strings);
    onepath_top_rows(chunk, 0, strings);
    insert_chunk(run, at + 1, fresh);
    onepath_top_chunks(run, at, true, strings);
    return true;
}

/* ---- the run ---- */

static int64_t edge_of(const onepath_run *run) {
    const onepath_chunk *last = &run->chunks[run->count - 1];
    return run->is_at_most ? last->bounds[last->count - 1] : run->chunks[0].bounds[0];
}

/* `high`: the upper end of an interval, or NULL. false if out of memory, then nothing changed. */
static bool add_row(tm_memory *memory, onepath_run *run, int64_t bound, const int64_t *high, onepath_single single,
                    const onepath_strings *strings) {
    uint32_t at = 0;
    uint32_t index = 0;
    if (run->count == 0) {
        onepath_chunk first;
        if (!reserve_chunks(memory, run, high != NULL) || !new_chunk(memory, &first, CHUNK_MIN, high != NULL)) {
            return false;
        }
        insert_chunk(run, 0, first);
    } else {
        locate(run, bound, single.handle, strings, &at, &index);
        if (run->chunks[at].count == run->chunks[at].capacity) {
            if (!make_room(memory, run, at, strings)) {
                return false;
            }
            locate(run, bound, single.handle, strings, &at, &index);
        }
    }
    onepath_chunk *chunk = &run->chunks[at];
    move_rows(chunk, index + 1, index, chunk->count - index);
    chunk->bounds[index] = bound;
    chunk->interfaces[index] = single.interface;
    chunk->handles[index] = single.handle;
    if (chunk->present != NULL) {
        onepath_fold_set(chunk->present, single.interface);
    }
    chunk->count++;
    run->edge = edge_of(run);
    if (high != NULL) {
        chunk->highs[index] = *high;
        onepath_top_rows(chunk, index, strings);
        onepath_top_chunks(run, at, false, strings);
    }
    return true;
}

bool onepath_run_add(tm_memory *memory, onepath_run *run, int64_t bound, onepath_single single,
                     const onepath_strings *strings) {
    return add_row(memory, run, bound, NULL, single, strings);
}

bool onepath_run_add_interval(tm_memory *memory, onepath_run *run, onepath_interval interval, onepath_single single,
                              const onepath_strings *strings) {
    return add_row(memory, run, interval.low, &interval.high, single, strings);
}

void onepath_run_remove(tm_memory *memory, onepath_run *run, int64_t bound, onepath_single single,
                        const onepath_strings *strings) {
    uint32_t at;
    uint32_t index;
    locate(run, bound, single.handle, strings, &at, &index);
    onepath_chunk *chunk = &run->chunks[at];
    chunk->count--;
    move_rows(chunk, index, index + 1, chunk->count - index);
    if (++chunk->stale >= STALE_MAX) {
        fold_rows(chunk);
    }
    bool is_empty = chunk->count == 0;
    if (is_empty) {
        free_chunk(memory, chunk);
        run->count--;
        memmove(run->chunks + at, run->chunks + at + 1, sizeof *chunk * (run->count - at));
    } else {
        onepath_top_rows(chunk, index, strings);
    }
    run->edge = run->count == 0 ? 0 : edge_of(run);
    onepath_top_chunks(run, at, is_empty, strings);
}

void onepath_run_clear(tm_memory *memory, onepath_run *run) {
    for (uint32_t at = 0; at < run->count; at++) {
        free_chunk(memory, &run->chunks[at]);
    }
    TM_DELETE(memory, TM_HOT, run->chunks, onepath_chunk, run->capacity);
    TM_DELETE(memory, TM_HOT, run->tops, int64_t, run->top_capacity);
    *run = (onepath_run){0};
}

static bool is_fold_good(const onepath_chunk *chunk) {
    for (uint32_t row = 0; chunk->present != NULL && row < chunk->count; row++) {
        if (!tm_bit_at(chunk->present, chunk->interfaces[row] % ONEPATH_FOLD_BITS)) {
            return false;
        }
    }
    return (chunk->present != NULL) == (chunk->capacity == CHUNK_MAX);
}

int onepath_run_validate(const onepath_run *run, const onepath_strings *strings, const char **reason) {
    int64_t last_key = INT64_MIN;
    uint32_t last_handle = 0;
    bool first = true;
    for (uint32_t at = 0; at < run->count; at++) {
        const onepath_chunk *chunk = &run->chunks[at];
        if (chunk->count == 0 || chunk->count > chunk->capacity) {
            *reason = "a chunk of a run is empty or too full";
            return TM_MISUSED;
        }
        if (!is_fold_good(chunk)) {
            *reason = "a chunk of a run has an interface that its fold lacks, or is large and has none";
            return TM_MISUSED;
        }
        for (uint32_t index = 0; index < chunk->count; index++, first = false) {
            int64_t key = onepath_low_key(chunk->bounds[index], strings);
            if (!first && (key < last_key || (key == last_key && chunk->handles[index] <= last_handle))) {
                *reason = "a run is out of order";
                return TM_MISUSED;
            }
            last_key = key;
            last_handle = chunk->handles[index];
        }
    }
    if (run->count > 0 && run->edge != edge_of(run)) {
        *reason = "the edge of a run is not the bound that is satisfied most easily";
        return TM_MISUSED;
    }
    return onepath_tops_validate(run, strings, reason);
}
