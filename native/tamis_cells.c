/* tamis_cells.c - ranges of one key as bitsets over interfaces.
 *
 * Law: with points p0 < p1 < ... < p(n-1), cell 2i+1 is the point pi itself, cell 2i the open interval below it, cell
 * 2n all above; bit j of a cell is set iff interface j has a span that contains the cell. A point exists as long as a
 * span ends at it.
 *
 *     cells      0     1     2     3     4
 *              -----  [p0] -----  [p1] -----
 *     x <= p1    1     1     1     1     0
 *     x >= p0    0     1     1     1     1
 *
 * Where the codes of numbers lie close together, `ranks` says the cell of every code without a search.
 */
#include <string.h>

#include "tamis.h"

#define POINTS_MIN 2U
#define SPANS_MIN 2U
#define RANKS_MAX 1024U
#define RANKS_PER_POINT 16U  /* about what the cells themselves take */
#define RANKED_POINTS_MIN 6U /* fewer are searched as fast */

/* ---- spans --------------------------------------------------------------------------------------------------------
 */

static inline int64_t key_of(int32_t point, const tamis_strings *strings) {
    if (strings == NULL) {
        return point;
    }
    static const int64_t DELTA[4] = {0, 1, -1, 0};
    return strings->records[point >> 2].label + DELTA[point & 3];
}

/* "Just above a" may share its key with "just below b", the next constant; it comes first. */
static inline bool point_below(int32_t a, int32_t b, const tamis_strings *strings) {
    int64_t a_key = key_of(a, strings);
    int64_t b_key = key_of(b, strings);
    return a_key < b_key || (a_key == b_key && strings != NULL && (a & 3) < (b & 3));
}

bool tamis_span_of(tamis_test test, tamis_span *span) {
    int32_t operand = (int32_t)tamis_test_operand(test);
    *span = (tamis_span){0};
    switch (tamis_test_op(test)) {
    case TAMIS_NUMBER_EQ:
        span->low = operand;
        span->high = operand;
        return true;
    case TAMIS_NUMBER_LE:
        span->high = operand;
        span->no_low = 1;
        return true;
    case TAMIS_NUMBER_GE:
        span->low = operand;
        span->no_high = 1;
        return true;
    case TAMIS_STRING_LE:
    case TAMIS_WIDE_LE:
        span->high = operand * 4;
        span->no_low = 1;
        return true;
    case TAMIS_STRING_LT:
    case TAMIS_WIDE_LT:
        span->high = operand * 4 + 2;
        span->no_low = 1;
        return true;
    case TAMIS_STRING_GE:
    case TAMIS_WIDE_GE:
        span->low = operand * 4;
        span->no_high = 1;
        return true;
    case TAMIS_STRING_GT:
    case TAMIS_WIDE_GT:
        span->low = operand * 4 + 1;
        span->no_high = 1;
        return true;
    default:
        return false;
    }
}

bool tamis_span_intersect(tamis_span *span, tamis_span other, const tamis_strings *strings) {
    if (!other.no_low && (span->no_low || point_below(span->low, other.low, strings))) {
        span->low = other.low;
        span->no_low = 0;
    }
    if (!other.no_high && (span->no_high || point_below(other.high, span->high, strings))) {
        span->high = other.high;
        span->no_high = 0;
    }
    return span->no_low || span->no_high || key_of(span->low, strings) <= key_of(span->high, strings);
}

bool tamis_span_covers(tamis_span a, tamis_span b, const tamis_strings *strings) {
    return (a.no_low || (!b.no_low && key_of(a.low, strings) <= key_of(b.low, strings))) &&
           (a.no_high || (!b.no_high && key_of(b.high, strings) <= key_of(a.high, strings)));
}

bool tamis_span_holds(tamis_span span, int64_t value, const tamis_strings *strings) {
    return (span.no_low || key_of(span.low, strings) <= value) && (span.no_high || value <= key_of(span.high, strings));
}

/* ---- points -------------------------------------------------------------------------------------------------------
 */

/* The number of points below `point`. */
static uint32_t rank_of(const tamis_cells *cells, int32_t point, const tamis_strings *strings) {
    uint32_t low = 0;
    uint32_t high = cells->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (point_below(cells->points[middle], point, strings)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Halves that differ by nothing but where they start, so that the outcome of a comparison needs no jump. */
static inline uint32_t search(const tamis_cells *cells, int64_t key, const tamis_strings *strings) {
    const int32_t *at = cells->points;
    if (cells->count == 0) {
        return 0;
    }
    for (uint32_t left = cells->count; left > 1; left -= left / 2) {
        at += left / 2 & -(uint32_t)(key_of(at[left / 2 - 1], strings) < key);
    }
    int64_t last = key_of(*at, strings);
    return 2 * (uint32_t)(at - cells->points) + 2 * (last < key) + (last == key);
}

uint32_t tamis_cells_of_label(const tamis_cells *cells, int64_t label, const tamis_strings *strings) {
    return search(cells, label, strings);
}

uint32_t tamis_cells_search(const tamis_cells *cells, int32_t code) {
    return search(cells, code, NULL);
}

static inline uint64_t *cell_at(const tamis_cells *cells, uint32_t cell) {
    return cells->bits + (size_t)cell * cells->words;
}

/* Insert `point` (there is room); its two new cells inherit what held around it. */
static void use_point(tamis_cells *cells, int32_t point, const tamis_strings *strings) {
    uint32_t rank = rank_of(cells, point, strings);
    if (rank < cells->count && cells->points[rank] == point) {
        cells->references[rank]++;
        return;
    }
    uint32_t behind = cells->count - rank;
    memmove(cells->points + rank + 1, cells->points + rank, sizeof *cells->points * behind);
    memmove(cells->references + rank + 1, cells->references + rank, sizeof *cells->references * behind);
    cells->points[rank] = point;
    cells->references[rank] = 1;
    size_t stride = sizeof(uint64_t) * cells->words;
    memmove(cell_at(cells, 2 * rank + 2), cell_at(cells, 2 * rank), stride * (2 * behind + 1));
    memcpy(cell_at(cells, 2 * rank + 1), cell_at(cells, 2 * rank + 2), stride);
    memcpy(cell_at(cells, 2 * rank), cell_at(cells, 2 * rank + 2), stride);
    cells->count++;
}

/* The last span has left the point: its three cells are equal and become one. */
static void drop_point(tamis_cells *cells, int32_t point, const tamis_strings *strings) {
    uint32_t rank = rank_of(cells, point, strings);
    if (--cells->references[rank] != 0) {
        return;
    }
    uint32_t behind = cells->count - rank - 1;
    memmove(cells->points + rank, cells->points + rank + 1, sizeof *cells->points * behind);
    memmove(cells->references + rank, cells->references + rank + 1, sizeof *cells->references * behind);
    memmove(cell_at(cells, 2 * rank), cell_at(cells, 2 * rank + 2), sizeof(uint64_t) * cells->words * (2 * behind + 1));
    cells->count--;
}

/* The cells of a span: from *first to *last, both in. */
static void range_of(const tamis_cells *cells, tamis_span span, const tamis_strings *strings, uint32_t *first,
                     uint32_t *last) {
    *first = span.no_low ? 0 : 2 * rank_of(cells, span.low, strings) + 1;
    *last = span.no_high ? 2 * cells->count : 2 * rank_of(cells, span.high, strings) + 1;
}

static void set_bits(tamis_cells *cells, tamis_span span, const tamis_strings *strings) {
    uint32_t first;
    uint32_t last;
    range_of(cells, span, strings, &first, &last);
    for (uint32_t cell = first; cell <= last; cell++) {
        cell_at(cells, cell)[span.interface / 64] |= UINT64_C(1) << (span.interface % 64);
    }
}

/* ---- room ---------------------------------------------------------------------------------------------------------
 */

static size_t bit_words(uint32_t capacity, uint32_t words) {
    return (2 * (size_t)capacity + 1) * words;
}

/* A wider or longer array of cells; the points must have room already. */
static bool move_bits(tm_memory *memory, tamis_cells *cells, uint32_t old_capacity, uint32_t words) {
    uint64_t *bits = TM_NEW(memory, TM_HOT, uint64_t, bit_words(cells->capacity, words));
    if (bits == NULL) {
        return false;
    }
    for (uint32_t cell = 0; cells->bits != NULL && cell <= 2 * cells->count; cell++) {
        memcpy(bits + (size_t)cell * words, cell_at(cells, cell), sizeof *bits * cells->words);
    }
    TM_DELETE(memory, TM_HOT, cells->bits, uint64_t, bit_words(old_capacity, cells->words));
    cells->bits = bits;
    cells->words = words;
    return true;
}

static bool reserve_points(tm_memory *memory, tamis_cells *cells, uint32_t words) {
    uint32_t old = cells->capacity;
    if (words < cells->words) {
        words = cells->words;
    }
    if (cells->count + 2 <= old && words == cells->words) {
        return true;
    }
    uint32_t capacity = cells->count + 2 <= old ? old : old + old / 4 + POINTS_MIN;
    int32_t *points = TM_RESIZE(memory, TM_HOT, cells->points, int32_t, old, capacity);
    if (points == NULL) {
        return false;
    }
    cells->points = points;
    uint32_t *references = TM_RESIZE(memory, TM_COLD, cells->references, uint32_t, old, capacity);
    if (references != NULL) {
        cells->references = references;
        cells->capacity = capacity;
        if (move_bits(memory, cells, old, words)) {
            return true;
        }
        cells->capacity = old;
        cells->references = TM_RESIZE(memory, TM_COLD, references, uint32_t, capacity, old);
    }
    cells->points = TM_RESIZE(memory, TM_HOT, points, int32_t, capacity, old);
    return false;
}

static bool reserve_span(tm_memory *memory, tamis_cells *cells) {
    if (cells->span_count < cells->span_capacity) {
        return true;
    }
    uint32_t capacity = cells->span_capacity + cells->span_capacity / 4 + SPANS_MIN;
    tamis_span *spans = TM_RESIZE(memory, TM_COLD, cells->spans, tamis_span, cells->span_capacity, capacity);
    if (spans == NULL) {
        return false;
    }
    cells->spans = spans;
    cells->span_capacity = capacity;
    return true;
}

/* ---- ranks --------------------------------------------------------------------------------------------------------
 */

static void drop_ranks(tm_memory *memory, tamis_cells *cells) {
    TM_DELETE(memory, TM_HOT, cells->ranks, uint16_t, cells->rank_capacity);
    cells->ranks = NULL;
    cells->rank_capacity = 0;
    cells->width = 0;
}

/* Codes from the first point to the last and one at either side, where they are few for so many points; else 0. */
static uint32_t width_of(const tamis_cells *cells, const tamis_strings *strings) {
    if (strings != NULL || cells->count < RANKED_POINTS_MIN) {
        return 0;
    }
    int64_t width = (int64_t)cells->points[cells->count - 1] - cells->points[0] + 3;
    return width <= RANKS_MAX && width <= (int64_t)RANKS_PER_POINT * cells->count ? (uint32_t)width : 0;
}

/* Let the ranks say where the points are now. Cells are right without them: no memory, no ranks. */
static void rank_codes(tm_memory *memory, tamis_cells *cells, const tamis_strings *strings) {
    uint32_t width = width_of(cells, strings);
    if (width > cells->rank_capacity || width == 0) {
        drop_ranks(memory, cells);
        cells->ranks = width == 0 ? NULL : TM_NEW(memory, TM_HOT, uint16_t, width);
        cells->rank_capacity = cells->ranks == NULL ? 0 : width;
    }
    if (cells->ranks == NULL) {
        return;
    }
    cells->first = cells->points[0];
    cells->width = width;
    uint32_t at = 0;
    for (uint32_t point = 0; point < cells->count; point++) {
        uint32_t end = (uint32_t)(cells->points[point] - cells->first) + 1;
        while (at < end) {
            cells->ranks[at++] = (uint16_t)(2 * point);
        }
        cells->ranks[at++] = (uint16_t)(2 * point + 1);
    }
    cells->ranks[at] = (uint16_t)(2 * cells->count);
}

/* ---- adding and removing ------------------------------------------------------------------------------------------
 */

void tamis_cells_spans(const tamis_cells *cells, uint32_t interface, uint32_t *first, uint32_t *end) {
    uint32_t low = 0;
    uint32_t high = cells->span_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (cells->spans[middle].interface < interface) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *first = low;
    while (low < cells->span_count && cells->spans[low].interface == interface) {
        low++;
    }
    *end = low;
}

bool tamis_cells_add(tm_memory *memory, tamis_cells *cells, tamis_span span, const tamis_strings *strings) {
    if (!reserve_span(memory, cells) || !reserve_points(memory, cells, span.interface / 64 + 1)) {
        return false;
    }
    uint32_t points = cells->count;
    if (!span.no_low) {
        use_point(cells, span.low, strings);
    }
    if (!span.no_high) {
        use_point(cells, span.high, strings);
    }
    uint32_t first;
    uint32_t end;
    tamis_cells_spans(cells, span.interface, &first, &end);
    memmove(cells->spans + end + 1, cells->spans + end, sizeof span * (cells->span_count - end));
    cells->spans[end] = span;
    cells->span_count++;
    set_bits(cells, span, strings);
    if (cells->count != points) {
        rank_codes(memory, cells, strings);
    }
    return true;
}

void tamis_cells_remove(tm_memory *memory, tamis_cells *cells, tamis_span span, const tamis_strings *strings) {
    uint32_t points = cells->count;
    uint32_t first;
    uint32_t end;
    tamis_cells_spans(cells, span.interface, &first, &end);
    uint32_t at = first;
    while (cells->spans[at].handle != span.handle) {
        at++;
    }
    memmove(cells->spans + at, cells->spans + at + 1, sizeof span * (cells->span_count - at - 1));
    cells->span_count--;
    uint32_t cell;
    uint32_t last;
    range_of(cells, span, strings, &cell, &last);
    for (; cell <= last; cell++) {
        cell_at(cells, cell)[span.interface / 64] &= ~(UINT64_C(1) << (span.interface % 64));
    }
    for (at = first; at < end - 1; at++) {
        set_bits(cells, cells->spans[at], strings);
    }
    if (!span.no_low) {
        drop_point(cells, span.low, strings);
    }
    if (!span.no_high) {
        drop_point(cells, span.high, strings);
    }
    if (cells->count != points) {
        rank_codes(memory, cells, strings);
    }
}

void tamis_cells_clear(tm_memory *memory, tamis_cells *cells) {
    drop_ranks(memory, cells);
    TM_DELETE(memory, TM_HOT, cells->bits, uint64_t,
              cells->bits == NULL ? 0 : bit_words(cells->capacity, cells->words));
    TM_DELETE(memory, TM_HOT, cells->points, int32_t, cells->capacity);
    TM_DELETE(memory, TM_COLD, cells->references, uint32_t, cells->capacity);
    TM_DELETE(memory, TM_COLD, cells->spans, tamis_span, cells->span_capacity);
    *cells = (tamis_cells){0};
}

static int validate_ranks(const tamis_cells *cells, const char **reason) {
    for (int64_t code = (int64_t)cells->first - 2; code <= (int64_t)cells->first + cells->width; code++) {
        if (code >= INT32_MIN && code <= INT32_MAX &&
            tamis_cells_of_code(cells, (int32_t)code) != tamis_cells_search(cells, (int32_t)code)) {
            *reason = "the rank of a code is not that of its cell";
            return TM_MISUSED;
        }
    }
    return TM_OK;
}

int tamis_cells_validate(const tamis_cells *cells, const tamis_strings *strings, const char **reason) {
    uint32_t ends = 0;
    if (cells->bits == NULL) {
        *reason = "cells of a key have no array";
        return TM_MISUSED;
    }
    for (uint32_t rank = 0; rank < cells->count; rank++) {
        ends += cells->references[rank];
        if (rank > 0 && !point_below(cells->points[rank - 1], cells->points[rank], strings)) {
            *reason = "the points of a key are out of order";
            return TM_MISUSED;
        }
    }
    for (uint32_t cell = 0; cell <= 2 * cells->count; cell++) {
        uint64_t expected[TAMIS_CELL_WORDS] = {0};
        for (uint32_t at = 0; at < cells->span_count; at++) {
            uint32_t first;
            uint32_t last;
            range_of(cells, cells->spans[at], strings, &first, &last);
            if (cell >= first && cell <= last) {
                expected[cells->spans[at].interface / 64] |= UINT64_C(1) << (cells->spans[at].interface % 64);
            }
            ends -= cell == 0 ? !cells->spans[at].no_low + !cells->spans[at].no_high : 0;
        }
        if (memcmp(expected, cell_at(cells, cell), sizeof(uint64_t) * cells->words) != 0) {
            *reason = "a cell's interfaces are not those of the spans";
            return TM_MISUSED;
        }
    }
    if (ends != 0) {
        *reason = "a point's references are not those of the spans";
        return TM_MISUSED;
    }
    return cells->ranks == NULL ? TM_OK : validate_ranks(cells, reason);
}
