/* ranges.h - filters that are ranges on one key: cells, runs and intervals.
 *
 * Law: of a filter that stands here the bounds say all; a match asks no test of it, but where the ends of an interval
 * leave a doubt. Bounds are codes, or where `strings` is not NULL a constant's id * 4 + delta (0: at it, 1: just above,
 * 2: just below), which sort by the labels that the constants have now.
 */
#ifndef TM_ONEPATH_RANGES_H
#define TM_ONEPATH_RANGES_H

#include "engines/onepath/paths/rows.h"
#include "engines/onepath/values/strings.h"
#include "table/engine.h"

/* A range of one key, for cells: low and high are points (see cells.c), flags say which bound is missing. */
typedef struct tamis_span {
    uint16_t interface;
    uint8_t no_low;
    uint8_t no_high;
    uint32_t handle;
    int32_t low;
    int32_t high;
} tamis_span;

/* What cells are made of: cold. */
typedef struct tamis_spans {
    tamis_span *rows;     /* sorted by interface */
    uint32_t *references; /* by point: spans that end at it */
    uint32_t count;       /* of rows */
    uint32_t capacity;
    uint32_t point_capacity;
} tamis_spans;

/* See cells.c. A match reads `bits` and what finds a cell in it. */
typedef struct tamis_cells {
    uint64_t *bits; /* NULL: there never was a span */
    int32_t first;  /* of cells by code: the code of cell 1 */
    uint32_t width; /* of cells by code: how many; 0: cells are by point */
    int32_t *points;
    uint32_t count; /* of points */
    uint32_t words; /* of a cell */
    tamis_spans *spans;
} tamis_cells;

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

/* ---- cells.c ---- */

/* `strings` is NULL for codes, here and below (tamis_order_of). A point is a code, or a constant's id * 4 + delta (0:
 * at it, 1: just above, 2: just below). */
bool tamis_span_of(tamis_test test, tamis_span *span); /* is the test a range? */
bool tamis_span_intersect(tamis_span *span, tamis_span other,
                          const tamis_strings *strings); /* false: nothing is left */
bool tamis_span_covers(tamis_span a, tamis_span b, const tamis_strings *strings);
bool tamis_span_holds(tamis_span span, int64_t value, const tamis_strings *strings);
bool tamis_cells_add(tm_memory *memory, tamis_cells *cells, tamis_span span, const tamis_strings *strings);
void tamis_cells_remove(tm_memory *memory, tamis_cells *cells, tamis_span span, const tamis_strings *strings);
void tamis_cells_clear(tm_memory *memory, tamis_cells *cells);
/* The spans of one interface: [first, end). */
void tamis_cells_spans(const tamis_cells *cells, uint32_t interface, uint32_t *first, uint32_t *end);
static inline bool tamis_cells_exist(const tamis_cells *cells) {
    return cells->bits != NULL;
}
/* The cell of a label, where cells exist, and of a code. */
const uint64_t *tamis_cells_of_label(const tamis_cells *cells, int64_t label, const tamis_strings *strings);
const uint64_t *tamis_cells_search(const tamis_cells *cells, int32_t code);
static inline const uint64_t *tamis_cells_of_code(const tamis_cells *cells, int32_t code) {
    if (cells->width == 0) {
        return tamis_cells_search(cells, code);
    }
    int64_t at = (int64_t)code - cells->first + 1;
    at = at < 0 ? 0 : at;
    return cells->bits + (at < cells->width ? (uint32_t)at : cells->width - 1) * (size_t)cells->words;
}
int tamis_cells_validate(const tamis_cells *cells, const tamis_strings *strings, const char **reason);

/* ---- runs.c ---- */

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

/* ---- intervals.c ---- */

/* Is the test one bound of a positive range? */
bool tamis_is_bound(tamis_test test);
/* What all the tests, which are bounds of one key, leave. */
tamis_interval tamis_interval_of(const tm_engine *engine, const tamis_tests *tests);
/* Compute what the chunk says of upper ends anew, from this row on, and what is said of it in the run; with `behind` of
 * all chunks behind it, too. A run without intervals is left as it is. */
void tamis_top_rows(tamis_chunk *chunk, uint32_t row, const tamis_strings *strings);
void tamis_top_chunks(tamis_run *run, uint32_t chunk, bool behind, const tamis_strings *strings);
int tamis_tops_validate(const tamis_run *run, const tamis_strings *strings, const char **reason);

#endif
