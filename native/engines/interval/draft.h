/* draft.h - a filter read as intervals: which axes it has, and its spans on each.
 *
 * Law: a filter is intervals if each of its constraints is one of the paper's five operators (=, <, >, in, between), <=
 * or >=, `exists`, or a prefix, none of them negated, and if they come to at most TM_DRAFT_SPANS_MAX spans. Several
 * constraints on one name are one axis: the spans that all of them leave. A draft borrows from the filter.
 */
#ifndef TM_INTERVAL_DRAFT_H
#define TM_INTERVAL_DRAFT_H

#include "engines/interval/cut.h"

#define TM_DRAFT_SPANS_MAX 32U

typedef struct tm_draft_axis {
    const uint8_t *name;
    uint16_t name_length;
    uint16_t first; /* of its spans, which rise and do not touch; none: no value satisfies the filter */
    uint16_t count;
} tm_draft_axis;

typedef struct tm_interval_draft {
    const tm_value *type; /* the string that `type` has to be, if the filter says so and structures go by it; or NULL */
    uint32_t axis_count;
    uint32_t span_count;
    tm_draft_axis axes[TM_CONSTRAINTS_MAX];
    tm_span spans[TM_DRAFT_SPANS_MAX];
    uint8_t ends[TM_CONSTRAINTS_MAX][TM_PATTERN_BYTES_MAX]; /* the texts behind all with a prefix */
} tm_interval_draft;

/* false: the filter is no intervals. `by_type`: its first equality of `type` with a string is not an axis, but the
 * type.
 */
bool tm_interval_draft_of(const tm_filter *filter, bool by_type, tm_interval_draft *out);

/* The attribute that structures go by. */
#define TM_TYPE_NAME "type"
#define TM_TYPE_NAME_LENGTH 4U

#endif
