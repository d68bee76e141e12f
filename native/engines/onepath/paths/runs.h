/* runs.h - filters of one key that are ranges, sorted by a bound.
 *
 * Law: as in runs.c. The bounds of a filter in a run are all its tests; a match evaluates no others. Bounds are as in
 * cells.h.
 */
#ifndef TM_ONEPATH_RUNS_H
#define TM_ONEPATH_RUNS_H

#include "engines/onepath/paths/rows.h"
#include "engines/onepath/values/strings.h"

/* Both ends are bounds as those of runs are; a missing end is ONEPATH_NO_LOW or ONEPATH_NO_HIGH of codes, and of
 * constants the other end with ONEPATH_NO_END. */
typedef struct onepath_interval {
    int64_t low;
    int64_t high;
} onepath_interval;

#define ONEPATH_NO_LOW INT64_MIN
#define ONEPATH_NO_HIGH INT64_MAX
#define ONEPATH_NO_END 3U /* as a delta: below all constants as a lower end, above them as an upper one */

/* The fold of a chunk, by which a match skips chunks without an open interface: interface i is bit i % 1,024, so that
 * it is exact for up to 1,024 interfaces; with more, it may include too many. */
#define ONEPATH_FOLD_BITS 1024U
#define ONEPATH_FOLD_WORDS (ONEPATH_FOLD_BITS / 64)

static inline void onepath_fold_set(uint64_t *fold, uint32_t interface) {
    fold[interface / 64 % ONEPATH_FOLD_WORDS] |= UINT64_C(1) << (interface % 64);
}

/* Filters sorted by bound, in chunks. */
typedef struct onepath_chunk {
    uint16_t count;
    uint16_t capacity;
    uint32_t stale; /* rows removed since `present` was computed */
    int64_t *bounds;
    int64_t *highs; /* of intervals, the other end; otherwise NULL */
    int64_t *tops;  /* of intervals, the greatest upper end of each ONEPATH_TOP_ROWS rows, or one equal to it */
    int64_t top;    /* of intervals: the greatest upper end of the chunk */
    int64_t reach;  /* of intervals: the greatest upper end of this chunk and all before it */
    uint32_t *interfaces;
    uint32_t *handles;
    uint64_t *present; /* owned: the fold of its interfaces, and of some removed ones; NULL until the chunk is large */
} onepath_chunk;

#define ONEPATH_TOP_ROWS 16U   /* compared together: two cache lines of upper ends */
#define ONEPATH_TOP_CHUNKS 32U /* skipped together */

typedef struct onepath_run {
    onepath_chunk *chunks;
    int64_t *tops; /* of intervals, the greatest upper end of each ONEPATH_TOP_CHUNKS chunks; otherwise NULL */
    uint32_t count;
    uint32_t capacity : 31;
    uint32_t is_at_most : 1;
    int64_t edge; /* the bound that most values satisfy: of <= the highest, else the lowest; 0: empty */
    uint32_t top_capacity;
} onepath_run;

static inline uint32_t onepath_top_of_row(uint32_t row) {
    return row / ONEPATH_TOP_ROWS;
}
static inline uint32_t onepath_top_of_chunk(uint32_t chunk) {
    return chunk / ONEPATH_TOP_CHUNKS;
}

/* Bounds are codes, or constant's id * 4 + delta (cells.h); of a run that has intervals, their lower ends. */
bool onepath_run_add(tm_memory *memory, onepath_run *run, int64_t bound, onepath_single single,
                     const onepath_strings *strings);
/* Remove a bound, which must be there. */
void onepath_run_remove(tm_memory *memory, onepath_run *run, int64_t bound, onepath_single single,
                        const onepath_strings *strings);
/* Add an interval; false if out of memory. A run has either intervals, sorted and removed by their lower ends, or
 * singles. */
bool onepath_run_add_interval(tm_memory *memory, onepath_run *run, onepath_interval interval, onepath_single single,
                              const onepath_strings *strings);
void onepath_run_clear(tm_memory *memory, onepath_run *run);
/* Return a bound in the order of values, as a lower and as an upper end. Labels are below 2^61, and the distance to a
 * missing end is more than that of any two. */
#define ONEPATH_FAR (INT64_C(1) << 62)

static inline int64_t onepath_low_key(int64_t bound, const onepath_strings *strings) {
    static const int64_t DELTA[4] = {0, 1, -1, -ONEPATH_FAR};
    return strings == NULL ? bound : strings->labels[bound >> 2] + DELTA[bound & 3];
}
static inline int64_t onepath_high_key(int64_t bound, const onepath_strings *strings) {
    static const int64_t DELTA[4] = {0, 1, -1, ONEPATH_FAR};
    return strings == NULL ? bound : strings->labels[bound >> 2] + DELTA[bound & 3];
}

/* true if the value satisfies any bound of the run. Reads only the run itself. */
static inline bool onepath_run_reaches(const onepath_run *run, int64_t value, const onepath_strings *strings) {
    if (run->count == 0) {
        return false;
    }
    int64_t edge = onepath_low_key(run->edge, strings);
    return run->is_at_most ? edge >= value : edge <= value;
}
/* Find the first (chunk, index) whose bound is not below the value; `above`: whose bound is above it. */
void onepath_run_find(const onepath_run *run, int64_t value, bool above, const onepath_strings *strings,
                      uint32_t *chunk, uint32_t *index);
int onepath_run_validate(const onepath_run *run, const onepath_strings *strings, const char **reason);

#endif
