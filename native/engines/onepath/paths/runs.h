/* runs.h - filters of one key that are ranges, sorted by a bound.
 *
 * Law: as in runs.c. Of a filter that stands here the bounds say all; a match asks no test of it, but where the ends of
 * an interval leave a doubt. Bounds are as in cells.h.
 */
#ifndef TM_ONEPATH_RUNS_H
#define TM_ONEPATH_RUNS_H

#include "engines/onepath/paths/rows.h"
#include "engines/onepath/values/strings.h"

/* Both ends are bounds as those of runs are; one that is missing is TAMIS_NO_LOW or TAMIS_NO_HIGH of codes, and of
 * constants the other end with TAMIS_NO_END. */
typedef struct tamis_interval {
    int64_t low;
    int64_t high;
} tamis_interval;

#define TAMIS_NO_LOW INT64_MIN
#define TAMIS_NO_HIGH INT64_MAX
#define TAMIS_NO_END 3U /* in place of a delta: below all constants as a lower end, above them as an upper one */

/* Bits by which a match knows that a chunk has no row of an interface that is open: interface i is bit i % 1,024, so of
 * as many interfaces it is exact, and of more it may err on the safe side. */
#define TAMIS_FOLD_BITS 1024U
#define TAMIS_FOLD_WORDS (TAMIS_FOLD_BITS / 64)

static inline void tamis_fold_set(uint64_t *fold, uint32_t interface) {
    fold[interface / 64 % TAMIS_FOLD_WORDS] |= UINT64_C(1) << (interface % 64);
}

/* Filters sorted by bound, in chunks. */
typedef struct tamis_chunk {
    uint16_t count;
    uint16_t capacity;
    uint32_t stale; /* rows removed since `present` was computed */
    int64_t *bounds;
    int64_t *highs; /* NULL, or of intervals the other end */
    int64_t *tops;  /* the same: of each TAMIS_TOP_ROWS rows the greatest upper end, or one equal to it */
    int64_t top;    /* of intervals: the greatest of all */
    int64_t reach;  /* the same of this chunk and all before it */
    uint32_t *interfaces;
    uint32_t *handles;
    uint64_t *present; /* owned: the fold of its interfaces, and of some that were; NULL until the chunk is large */
} tamis_chunk;

#define TAMIS_TOP_ROWS 16U   /* looked at together: two cache lines of upper ends */
#define TAMIS_TOP_CHUNKS 32U /* passed over together */

typedef struct tamis_run {
    tamis_chunk *chunks;
    int64_t *tops; /* NULL, or of intervals the greatest upper end of each TAMIS_TOP_CHUNKS chunks */
    uint32_t count;
    uint32_t capacity : 31;
    uint32_t is_at_most : 1;
    int64_t
        edge; /* the bound that is satisfied most easily: of <= the highest, else the lowest; where it is not empty */
    uint32_t top_capacity;
} tamis_run;

static inline uint32_t tamis_top_of_row(uint32_t row) {
    return row / TAMIS_TOP_ROWS;
}
static inline uint32_t tamis_top_of_chunk(uint32_t chunk) {
    return chunk / TAMIS_TOP_CHUNKS;
}

/* Bounds are codes, or constant's id * 4 + delta as above; of a run that has intervals, their lower ends. */
bool tamis_run_add(tm_memory *memory, tamis_run *run, int64_t bound, tamis_single single, const tamis_strings *strings);
void tamis_run_remove(tm_memory *memory, tamis_run *run, int64_t bound, tamis_single single,
                      const tamis_strings *strings);
/* A run has either intervals, sorted by their lower ends and removed as bounds are, or singles. */
bool tamis_run_add_interval(tm_memory *memory, tamis_run *run, tamis_interval interval, tamis_single single,
                            const tamis_strings *strings);
void tamis_run_clear(tm_memory *memory, tamis_run *run);
/* A bound in the order of values, as a lower and as an upper end. Labels are below 2^61, and the distance to an end
 * that is missing is more than that of any two. */
#define TAMIS_FAR (INT64_C(1) << 62)

static inline int64_t tamis_low_key(int64_t bound, const tamis_strings *strings) {
    static const int64_t DELTA[4] = {0, 1, -1, -TAMIS_FAR};
    return strings == NULL ? bound : strings->labels[bound >> 2] + DELTA[bound & 3];
}
static inline int64_t tamis_high_key(int64_t bound, const tamis_strings *strings) {
    static const int64_t DELTA[4] = {0, 1, -1, TAMIS_FAR};
    return strings == NULL ? bound : strings->labels[bound >> 2] + DELTA[bound & 3];
}

/* Does the value satisfy any bound of the run? Nothing but the run itself is read. */
static inline bool tamis_run_reaches(const tamis_run *run, int64_t value, const tamis_strings *strings) {
    if (run->count == 0) {
        return false;
    }
    int64_t edge = tamis_low_key(run->edge, strings);
    return run->is_at_most ? edge >= value : edge <= value;
}
/* The first (chunk, index) whose bound is not below the value; `above`: whose bound is above it. */
void tamis_run_find(const tamis_run *run, int64_t value, bool above, const tamis_strings *strings, uint32_t *chunk,
                    uint32_t *index);
int tamis_run_validate(const tamis_run *run, const tamis_strings *strings, const char **reason);

#endif
