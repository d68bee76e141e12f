/* cells.h - ranges of one key as bitsets over interfaces, for filters of links.
 *
 * Law: as in cells.c. The bounds of a filter in cells are all its tests; a match evaluates no others. Bounds are codes,
 * or where `strings` is not NULL a constant's id * 4 + delta (0: at it, 1: just above, 2: just below), ordered by the
 * current labels of the constants.
 */
#ifndef TM_ONEPATH_CELLS_H
#define TM_ONEPATH_CELLS_H

#include "engines/onepath/values/strings.h"
#include "engines/onepath/values/tests.h"

/* A range of one key, for cells: low and high are points (see cells.c), flags tell which bound is missing. */
typedef struct onepath_span {
    uint16_t interface;
    uint8_t no_low;
    uint8_t no_high;
    uint32_t handle;
    int32_t low;
    int32_t high;
} onepath_span;

/* The spans that cells are computed from: cold. */
typedef struct onepath_spans {
    onepath_span *rows;   /* sorted by interface */
    uint32_t *references; /* by point: spans that end at it */
    uint32_t count;       /* of rows */
    uint32_t capacity;
    uint32_t point_capacity;
} onepath_spans;

/* A match reads `bits` and what finds a cell in them (cells.c). */
typedef struct onepath_cells {
    uint64_t *bits; /* NULL: there never was a span */
    int32_t first;  /* of cells by code: the code of cell 1 */
    uint32_t width; /* of cells by code: their number; 0: cells are by point */
    int32_t *points;
    uint32_t count; /* of points */
    uint32_t words; /* of a cell */
    onepath_spans *spans;
} onepath_cells;

/* `strings` is NULL for codes, here and below (onepath_order_of). A point is a code, or a constant's id * 4 + delta (0:
 * at it, 1: just above, 2: just below). */

/* Return the span of a test; false if the test is no range. */
bool onepath_span_of(onepath_test test, onepath_span *span);
/* Narrow a span by another one; false if the rest is empty. */
bool onepath_span_intersect(onepath_span *span, onepath_span other, const onepath_strings *strings);
/* true if span `a` contains span `b`. */
bool onepath_span_covers(onepath_span a, onepath_span b, const onepath_strings *strings);
/* true if the value, a code or a label, is in the span. */
bool onepath_span_holds(onepath_span span, int64_t value, const onepath_strings *strings);
/* Add a span; false if out of memory. */
bool onepath_cells_add(tm_memory *memory, onepath_cells *cells, onepath_span span, const onepath_strings *strings);
/* Remove a span, which must be there. */
void onepath_cells_remove(tm_memory *memory, onepath_cells *cells, onepath_span span, const onepath_strings *strings);
void onepath_cells_clear(tm_memory *memory, onepath_cells *cells);
/* Return the spans of one interface: [first, end). */
void onepath_cells_spans(const onepath_cells *cells, uint32_t interface, uint32_t *first, uint32_t *end);
static inline bool onepath_cells_exist(const onepath_cells *cells) {
    return cells->bits != NULL;
}
/* Return the cell of a label, or of a code; cells must exist. */
const uint64_t *onepath_cells_of_label(const onepath_cells *cells, int64_t label, const onepath_strings *strings);
const uint64_t *onepath_cells_search(const onepath_cells *cells, int32_t code);
static inline const uint64_t *onepath_cells_of_code(const onepath_cells *cells, int32_t code) {
    if (cells->width == 0) {
        return onepath_cells_search(cells, code);
    }
    int64_t at = (int64_t)code - cells->first + 1;
    at = at < 0 ? 0 : at;
    return cells->bits + (at < cells->width ? (uint32_t)at : cells->width - 1) * (size_t)cells->words;
}
int onepath_cells_validate(const onepath_cells *cells, const onepath_strings *strings, const char **reason);

#endif
