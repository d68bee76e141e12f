/* cells.c - ranges of one key as bitsets over interfaces.
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
 * Where numbers lie close together there is a cell for every code instead, from one below the lowest point to one above
 * the highest, and nothing is searched: cell i is that of code `first` + i - 1, the outer two stand for all beyond.
 */
#include "engines/onepath/paths/cells.h"

#include <string.h>

#include "engines/onepath/state.h"

#define POINTS_MIN 2U
#define SPANS_MIN 2U
#define CODES_MAX 1024U
#define CODES_PER_POINT 8U /* cells by point take two for each, and the point itself */
#define CODED_POINTS_MIN 6U

/* ---- spans ---- */

static inline int64_t key_of(int32_t point, const onepath_strings *strings) {
    if (strings == NULL) {
        return point;
    }
    static const int64_t DELTA[4] = {0, 1, -1, 0};
    return strings->labels[point >> 2] + DELTA[point & 3];
}

/* "Just above a" may have the key of "just below b", the next constant; it comes first. */
static inline bool point_below(int32_t a, int32_t b, const onepath_strings *strings) {
    int64_t a_key = key_of(a, strings);
    int64_t b_key = key_of(b, strings);
    return a_key < b_key || (a_key == b_key && strings != NULL && (a & 3) < (b & 3));
}

bool onepath_span_of(onepath_test test, onepath_span *span) {
    int32_t operand = (int32_t)onepath_test_operand(test);
    *span = (onepath_span){0};
    switch (onepath_test_op(test)) {
    case ONEPATH_NUMBER_EQ:
        span->low = operand;
        span->high = operand;
        return true;
    case ONEPATH_NUMBER_LE:
        span->high = operand;
        span->no_low = 1;
        return true;
    case ONEPATH_NUMBER_GE:
        span->low = operand;
        span->no_high = 1;
        return true;
    case ONEPATH_STRING_LE:
    case ONEPATH_WIDE_LE:
        span->high = operand * 4;
        span->no_low = 1;
        return true;
    case ONEPATH_STRING_LT:
    case ONEPATH_WIDE_LT:
        span->high = operand * 4 + 2;
        span->no_low = 1;
        return true;
    case ONEPATH_STRING_GE:
    case ONEPATH_WIDE_GE:
        span->low = operand * 4;
        span->no_high = 1;
        return true;
    case ONEPATH_STRING_GT:
    case ONEPATH_WIDE_GT:
        span->low = operand * 4 + 1;
        span->no_high = 1;
        return true;
    default:
        return false;
    }
}

bool onepath_span_intersect(onepath_span *span, onepath_span other, const onepath_strings *strings) {
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

bool onepath_span_covers(onepath_span a, onepath_span b, const onepath_strings *strings) {
    return (a.no_low || (!b.no_low && key_of(a.low, strings) <= key_of(b.low, strings))) &&
           (a.no_high || (!b.no_high && key_of(b.high, strings) <= key_of(a.high, strings)));
}

bool onepath_span_holds(onepath_span span, int64_t value, const onepath_strings *strings) {
    return (span.no_low || key_of(span.low, strings) <= value) && (span.no_high || value <= key_of(span.high, strings));
}

/* ---- points ---- */

/* Return the number of points below `point`. */
static uint32_t rank_of(const onepath_cells *cells, int32_t point, const onepath_strings *strings) {
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

static inline uint64_t *cell_at(const onepath_cells *cells, uint32_t cell) {
    return cells->bits + (size_t)cell * cells->words;
}

/* Halves differ only in their start, so that the result of a comparison needs no branch. */
static inline const uint64_t *search(const onepath_cells *cells, int64_t key, const onepath_strings *strings) {
    const int32_t *at = cells->points;
    if (cells->count == 0) {
        return cells->bits;
    }
    for (uint32_t left = cells->count; left > 1; left -= left / 2) {
        at += left / 2 & -(uint32_t)(key_of(at[left / 2 - 1], strings) < key);
    }
    int64_t last = key_of(*at, strings);
    return cell_at(cells, 2 * (uint32_t)(at - cells->points) + 2 * (last < key) + (last == key));
}

const uint64_t *onepath_cells_of_label(const onepath_cells *cells, int64_t label, const onepath_strings *strings) {
    return search(cells, label, strings);
}

const uint64_t *onepath_cells_search(const onepath_cells *cells, int32_t code) {
    return search(cells, code, NULL);
}

/* Insert `point` (there is room); by point, its two new cells get the bits around it. */
static void use_point(onepath_cells *cells, int32_t point, const onepath_strings *strings) {
    uint32_t rank = rank_of(cells, point, strings);
    if (rank < cells->count && cells->points[rank] == point) {
        cells->spans->references[rank]++;
        return;
    }
    uint32_t behind = cells->count - rank;
    memmove(cells->points + rank + 1, cells->points + rank, sizeof *cells->points * behind);
    uint32_t *references = cells->spans->references;
    memmove(references + rank + 1, references + rank, sizeof *references * behind);
    cells->points[rank] = point;
    references[rank] = 1;
    cells->count++;
    if (cells->width > 0) {
        return;
    }
    size_t stride = sizeof(uint64_t) * cells->words;
    memmove(cell_at(cells, 2 * rank + 2), cell_at(cells, 2 * rank), stride * (2 * behind + 1));
    memcpy(cell_at(cells, 2 * rank + 1), cell_at(cells, 2 * rank + 2), stride);
    memcpy(cell_at(cells, 2 * rank), cell_at(cells, 2 * rank + 2), stride);
}

/* Remove the point with the last span that ends at it; by point, its three cells are equal and become one. */
static void drop_point(onepath_cells *cells, int32_t point, const onepath_strings *strings) {
    uint32_t rank = rank_of(cells, point, strings);
    uint32_t *references = cells->spans->references;
    if (--references[rank] != 0) {
        return;
    }
    uint32_t behind = cells->count - rank - 1;
    memmove(cells->points + rank, cells->points + rank + 1, sizeof *cells->points * behind);
    memmove(references + rank, references + rank + 1, sizeof *references * behind);
    cells->count--;
    if (cells->width == 0) {
        size_t stride = sizeof(uint64_t) * cells->words;
        memmove(cell_at(cells, 2 * rank), cell_at(cells, 2 * rank + 2), stride * (2 * behind + 1));
    }
}

static uint32_t cell_count(const onepath_cells *cells) {
    return cells->width > 0 ? cells->width : 2 * cells->count + 1;
}

static uint32_t cell_of_point(const onepath_cells *cells, int32_t point, const onepath_strings *strings) {
    return cells->width > 0 ? (uint32_t)(point - cells->first) + 1 : 2 * rank_of(cells, point, strings) + 1;
}

/* Return the cells of a span: from *first to *last, both included. */
static void range_of(const onepath_cells *cells, onepath_span span, const onepath_strings *strings, uint32_t *first,
                     uint32_t *last) {
    *first = span.no_low ? 0 : cell_of_point(cells, span.low, strings);
    *last = span.no_high ? cell_count(cells) - 1 : cell_of_point(cells, span.high, strings);
}

static void set_bits(onepath_cells *cells, onepath_span span, const onepath_strings *strings) {
    uint32_t first;
    uint32_t last;
    range_of(cells, span, strings, &first, &last);
    for (uint32_t cell = first; cell <= last; cell++) {
        cell_at(cells, cell)[span.interface / 64] |= UINT64_C(1) << (span.interface % 64);
    }
}

/* ---- room ---- */

/* The kind of cells and their room. */
typedef struct layout {
    int32_t first;
    uint32_t width; /* 0: by point */
    uint32_t words;
    uint32_t capacity; /* of points */
} layout;

static layout layout_of(const onepath_cells *cells) {
    return (layout){cells->first, cells->width, cells->words, cells->spans->point_capacity};
}

static size_t bit_words(layout of) {
    return (of.width > 0 ? of.width : 2 * (size_t)of.capacity + 1) * of.words;
}

/* Return the number of cells by code from `low` to `high` and one at either side, if they are few for the points, and
 * fewer still where cells are by point now; 0 if cells are to be by point. */
static uint32_t width_of(const onepath_cells *cells, int32_t low, int32_t high, uint32_t points) {
    int64_t width = (int64_t)high - low + 3;
    int64_t width_max = (int64_t)CODES_PER_POINT * points * (cells->width > 0 ? 2 : 1);
    return points >= CODED_POINTS_MIN && high < INT32_MAX && width <= CODES_MAX && width <= width_max ? (uint32_t)width
                                                                                                      : 0;
}

/* Return the layout with room for one more span. */
static layout layout_with(const onepath_cells *cells, onepath_span span, const onepath_strings *strings) {
    layout wanted = layout_of(cells);
    if (cells->count + 2 > wanted.capacity) {
        wanted.capacity += wanted.capacity / 4 + POINTS_MIN;
    }
    if (span.interface / 64 >= wanted.words) {
        wanted.words = span.interface / 64 + 1;
    }
    if (strings == NULL && cells->count > 0) {
        int32_t low = cells->width > 0 ? cells->first : cells->points[0];
        int32_t high = cells->width > 0 ? low + (int32_t)cells->width - 3 : cells->points[cells->count - 1];
        low = !span.no_low && span.low < low ? span.low : low;
        low = !span.no_high && span.high < low ? span.high : low;
        high = !span.no_high && span.high > high ? span.high : high;
        high = !span.no_low && span.low > high ? span.low : high;
        wanted.width = width_of(cells, low, high, cells->count);
        wanted.first = wanted.width > 0 ? low : 0;
    }
    return wanted;
}

/* Fill the bits of another layout from the present ones; the points do not change. */
static void fill_bits(onepath_cells *cells, layout wanted, uint64_t *bits, const onepath_strings *strings) {
    onepath_cells old = *cells;
    cells->bits = bits;
    cells->first = wanted.first;
    cells->width = wanted.width;
    cells->words = wanted.words;
    if (old.bits == NULL) {
        return;
    }
    if (old.width > 0 && wanted.width == 0) { /* some of the new cells contain no code */
        for (uint32_t at = 0; at < cells->spans->count; at++) {
            set_bits(cells, cells->spans->rows[at], strings);
        }
        return;
    }
    for (uint32_t cell = 0; cell < cell_count(cells); cell++) {
        const uint64_t *from =
            wanted.width == 0 ? cell_at(&old, cell) : onepath_cells_of_code(&old, wanted.first + (int32_t)cell - 1);
        memcpy(cell_at(cells, cell), from, sizeof *bits * old.words);
    }
}

static bool reserve_points(tm_memory *memory, onepath_cells *cells, uint32_t capacity) {
    uint32_t old = cells->spans->point_capacity;
    int32_t *points = TM_RESIZE(memory, TM_HOT, cells->points, int32_t, old, capacity);
    if (points == NULL) {
        return false;
    }
    cells->points = points;
    uint32_t *references = TM_RESIZE(memory, TM_COLD, cells->spans->references, uint32_t, old, capacity);
    if (references == NULL) {
        cells->points = TM_RESIZE(memory, TM_HOT, points, int32_t, capacity, old);
        return false;
    }
    cells->spans->references = references;
    cells->spans->point_capacity = capacity;
    return true;
}

/* Change the layout; false if out of memory, then nothing changed. */
static bool change_layout(tm_memory *memory, onepath_cells *cells, layout wanted, const onepath_strings *strings) {
    layout old = layout_of(cells);
    uint64_t *old_bits = cells->bits;
    uint64_t *bits = TM_NEW(memory, TM_HOT, uint64_t, bit_words(wanted));
    if (bits == NULL) {
        return false;
    }
    if (wanted.capacity != old.capacity && !reserve_points(memory, cells, wanted.capacity)) {
        TM_DELETE(memory, TM_HOT, bits, uint64_t, bit_words(wanted));
        return false;
    }
    fill_bits(cells, wanted, bits, strings);
    TM_DELETE(memory, TM_HOT, old_bits, uint64_t, bit_words(old));
    return true;
}

/* Reserve room for one more span; false if out of memory. */
static bool reserve(tm_memory *memory, onepath_cells *cells, onepath_span span, const onepath_strings *strings) {
    if (cells->spans == NULL) {
        cells->spans = TM_NEW(memory, TM_COLD, onepath_spans, 1);
        if (cells->spans == NULL) {
            return false;
        }
    }
    onepath_spans *spans = cells->spans;
    if (spans->count == spans->capacity) {
        uint32_t capacity = spans->capacity + spans->capacity / 4 + SPANS_MIN;
        onepath_span *rows = TM_RESIZE(memory, TM_COLD, spans->rows, onepath_span, spans->capacity, capacity);
        if (rows == NULL) {
            return false;
        }
        spans->rows = rows;
        spans->capacity = capacity;
    }
    layout wanted = layout_with(cells, span, strings);
    layout now = layout_of(cells);
    return memcmp(&wanted, &now, sizeof now) == 0 || change_layout(memory, cells, wanted, strings);
}

/* ---- adding and removing ---- */

void onepath_cells_spans(const onepath_cells *cells, uint32_t interface, uint32_t *first, uint32_t *end) {
    uint32_t low = 0;
    uint32_t count = cells->spans == NULL ? 0 : cells->spans->count;
    for (uint32_t high = count; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        if (cells->spans->rows[middle].interface < interface) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *first = low;
    while (low < count && cells->spans->rows[low].interface == interface) {
        low++;
    }
    *end = low;
}

bool onepath_cells_add(tm_memory *memory, onepath_cells *cells, onepath_span span, const onepath_strings *strings) {
    if (!reserve(memory, cells, span, strings)) {
        return false;
    }
    if (!span.no_low) {
        use_point(cells, span.low, strings);
    }
    if (!span.no_high) {
        use_point(cells, span.high, strings);
    }
    uint32_t first;
    uint32_t end;
    onepath_cells_spans(cells, span.interface, &first, &end);
    onepath_spans *spans = cells->spans;
    memmove(spans->rows + end + 1, spans->rows + end, sizeof span * (spans->count - end));
    spans->rows[end] = span;
    spans->count++;
    set_bits(cells, span, strings);
    return true;
}

/* Change cells by code that are too many for their points back to cells by point, if there is memory. */
static void shrink(tm_memory *memory, onepath_cells *cells, const onepath_strings *strings) {
    if (cells->width > 0 && cells->width > 2 * CODES_PER_POINT * cells->count) {
        layout by_point = {.words = cells->words, .capacity = cells->spans->point_capacity};
        change_layout(memory, cells, by_point, strings);
    }
}

void onepath_cells_remove(tm_memory *memory, onepath_cells *cells, onepath_span span, const onepath_strings *strings) {
    uint32_t first;
    uint32_t end;
    onepath_cells_spans(cells, span.interface, &first, &end);
    onepath_spans *spans = cells->spans;
    uint32_t at = first;
    while (spans->rows[at].handle != span.handle) {
        at++;
    }
    memmove(spans->rows + at, spans->rows + at + 1, sizeof span * (spans->count - at - 1));
    spans->count--;
    uint32_t cell;
    uint32_t last;
    range_of(cells, span, strings, &cell, &last);
    for (; cell <= last; cell++) {
        cell_at(cells, cell)[span.interface / 64] &= ~(UINT64_C(1) << (span.interface % 64));
    }
    for (at = first; at < end - 1; at++) {
        set_bits(cells, spans->rows[at], strings);
    }
    if (!span.no_low) {
        drop_point(cells, span.low, strings);
    }
    if (!span.no_high) {
        drop_point(cells, span.high, strings);
    }
    shrink(memory, cells, strings);
}

void onepath_cells_clear(tm_memory *memory, onepath_cells *cells) {
    if (cells->spans == NULL) {
        return;
    }
    TM_DELETE(memory, TM_HOT, cells->bits, uint64_t, bit_words(layout_of(cells)));
    TM_DELETE(memory, TM_HOT, cells->points, int32_t, cells->spans->point_capacity);
    TM_DELETE(memory, TM_COLD, cells->spans->references, uint32_t, cells->spans->point_capacity);
    TM_DELETE(memory, TM_COLD, cells->spans->rows, onepath_span, cells->spans->capacity);
    TM_DELETE(memory, TM_COLD, cells->spans, onepath_spans, 1);
    *cells = (onepath_cells){0};
}

static bool are_points_sound(const onepath_cells *cells, const onepath_strings *strings, const char **reason) {
    for (uint32_t rank = 0; rank < cells->count; rank++) {
        if (rank > 0 && !point_below(cells->points[rank - 1], cells->points[rank], strings)) {
            *reason = "the points of a key are out of order";
            return false;
        }
        int64_t cell = (int64_t)cells->points[rank] - cells->first + 1;
        if (cells->width > 0 && (strings != NULL || cell < 1 || cell > (int64_t)cells->width - 2)) {
            *reason = "a point has no cell";
            return false;
        }
    }
    return true;
}

static bool are_references_sound(const onepath_cells *cells, const char **reason) {
    uint32_t ends = 0;
    for (uint32_t rank = 0; rank < cells->count; rank++) {
        ends += cells->spans->references[rank];
    }
    for (uint32_t at = 0; at < cells->spans->count; at++) {
        ends -= (uint32_t)!cells->spans->rows[at].no_low + !cells->spans->rows[at].no_high;
    }
    if (ends != 0) {
        *reason = "a point's references are not those of the spans";
    }
    return ends == 0;
}

static bool is_cell_sound(const onepath_cells *cells, uint32_t cell, const onepath_strings *strings,
                          const char **reason) {
    uint64_t expected[ONEPATH_CELL_WORDS] = {0};
    for (uint32_t at = 0; at < cells->spans->count; at++) {
        const onepath_span *span = &cells->spans->rows[at];
        uint32_t first;
        uint32_t last;
        range_of(cells, *span, strings, &first, &last);
        if (cell >= first && cell <= last) {
            expected[span->interface / 64] |= UINT64_C(1) << (span->interface % 64);
        }
    }
    if (memcmp(expected, cell_at(cells, cell), sizeof(uint64_t) * cells->words) != 0) {
        *reason = "a cell's interfaces are not those of the spans";
        return false;
    }
    return true;
}

int onepath_cells_validate(const onepath_cells *cells, const onepath_strings *strings, const char **reason) {
    if (!onepath_cells_exist(cells)) {
        return TM_OK;
    }
    if (!are_points_sound(cells, strings, reason) || !are_references_sound(cells, reason)) {
        return TM_MISUSED;
    }
    for (uint32_t cell = 0; cell < cell_count(cells); cell++) {
        if (!is_cell_sound(cells, cell, strings, reason)) {
            return TM_MISUSED;
        }
    }
    return TM_OK;
}
