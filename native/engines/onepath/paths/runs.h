/* runs.h - filters of one key that are ranges, sorted by a bound.
 *
 * Law: as in runs.c. Of a filter that stands here the bounds say all; a match asks no test of it, but where the ends of
 * an interval leave a doubt. Bounds are as in cells.h.
 */
#ifndef TM_ONEPATH_RUNS_H
#define TM_ONEPATH_RUNS_H

#include "engines/onepath/paths/rows.h"
#include "engines/onepath/values/strings.h"

/* Both ends are bounds as those of runs are; one that is missing is ONEPATH_NO_LOW or ONEPATH_NO_HIGH of codes, and of
 * constants the other end with ONEPATH_NO_END. */
typedef struct onepath_interval {
    int64_t low;
    int64_t high;
} onepath_interval;

#define ONEPATH_NO_LOW INT64_MIN
#define ONEPATH_NO_HIGH INT64_MAX
#define ONEPATH_NO_END 3U /* in place of a delta: below all constants as a lower end, above them as an upper one */

/* Bits by which a match knows that a chunk has no row of an interface that is open: interface i is bit i % 1,024, so of
 * as many interfaces it is exact, and of more it may err on the safe side. */
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
    int64_t *highs; /* NULL, or of intervals the other end */
    int64_t *tops;  /* the same: of each ONEPATH_TOP_ROWS rows the greatest upper end, or one equal to it */
    int64_t top;    /* of intervals: the greatest of all */
    int64_t reach;  /* the same of this chunk and all before it */
    uint32_t *interfaces;
    uint32_t *handles;
    uint64_t *present; /* owned: the fold of its interfaces, and of some that were; NULL until the chunk is large */
} onepath_chunk;

#define ONEPATH_TOP_ROWS 16U   /* looked at together: two cache lines of upper ends */
#define ONEPATH_TOP_CHUNKS 32U /* passed over together */

typedef struct onepath_run {
    onepath_chunk *chunks;
    int64_t *tops; /* NULL, or of intervals the greatest upper end of each ONEPATH_TOP_CHUNKS chunks */
    uint32_t count;
    uint32_t capacity : 31;
    uint32_t is_at_most : 1;
    int64_t
        edge; /* the bound that is satisfied most easily: of <= the highest, else the lowest; where it is not empty */
    uint32_t top_capacity;
} onepath_run;

static inline uint32_t onepath_top_of_row(uint32_t row) {
    return row / ONEPATH_TOP_ROWS;
}
static inline uint32_t onepath_top_of_chunk(uint32_t chunk) {
    return chunk / ONEPATH_TOP_CHUNKS;
}

/* Bounds are codes, or constant's id * 4 + delta as above; of a run that has intervals, their lower ends. */
bool onepath_run_add(tm_memory *memory, onepath_run *run, int64_t bound, onepath_single single,
                     const onepath_strings *strings);
void onepath_run_remove(tm_memory *memory, onepath_run *run, int64_t bound, onepath_single single,
                        const onepath_strings *strings);
/* A run has either intervals, sorted by their lower ends and removed as bounds are, or singles. */
bool onepath_run_add_interval(tm_memory *memory, onepath_run *run, onepath_interval interval, onepath_single single,
                              const onepath_strings *strings);
void onepath_run_clear(tm_memory *memory, onepath_run *run);
/* A bound in the order of values, as a lower and as an upper end. Labels are below 2^61, and the distance to an end
 * that is missing is more than that of any two. */
#define ONEPATH_FAR (INT64_C(1) << 62)

static inline int64_t onepath_low_key(int64_t bound, const onepath_strings *strings) {
    static const int64_t DELTA[4] = {0, 1, -1, -ONEPATH_FAR};
    return strings == NULL ? bound : strings->labels[bound >> 2] + DELTA[bound & 3];
}
static inline int64_t onepath_high_key(int64_t bound, const onepath_strings *strings) {
    static const int64_t DELTA[4] = {0, 1, -1, ONEPATH_FAR};
    return strings == NULL ? bound : strings->labels[bound >> 2] + DELTA[bound & 3];
}

/* Does the value satisfy any bound of the run? Nothing but the run itself is read. */
static inline bool onepath_run_reaches(const onepath_run *run, int64_t value, const onepath_strings *strings) {
    if (run->count == 0) {
        return false;
    }
    int64_t edge = onepath_low_key(run->edge, strings);
    return run->is_at_most ? edge >= value : edge <= value;
}
/* The first (chunk, index) whose bound is not below the value; `above`: whose bound is above it. */
void onepath_run_find(const onepath_run *run, int64_t value, bool above, const onepath_strings *strings,
                      uint32_t *chunk, uint32_t *index);
int onepath_run_validate(const onepath_run *run, const onepath_strings *strings, const char **reason);

#endif
