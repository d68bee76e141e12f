/* draft.h - a filter as intervals: its axes, and its spans on each.
 *
 * Law: a filter is intervals if each of its constraints is one of the paper's five operators (=, <, >, in, between), <=
 * or >=, `exists`, or a prefix, none of them negated, and if they come to at most TM_DRAFT_SPANS_MAX spans. Several
 * constraints on one name are one axis: the intersection of their spans. A draft borrows from the filter.
 */
#ifndef TM_INTERVAL_DRAFT_H
#define TM_INTERVAL_DRAFT_H

#include "engines/interval/cut.h"

#define TM_DRAFT_SPANS_MAX 32U

typedef struct tm_draft_axis {
    const uint8_t *name;
    uint16_t name_length;
    uint16_t first; /* of its spans, which rise and do not touch; without spans no value satisfies the filter */
    uint16_t count;
} tm_draft_axis;

typedef struct tm_interval_draft {
    const tm_value *type; /* the string that the filter requires of `type`, if structures are chosen by it; or NULL */
    uint32_t axis_count;
    uint32_t span_count;
    tm_draft_axis axes[TM_CONSTRAINTS_MAX];
    tm_span spans[TM_DRAFT_SPANS_MAX];
    uint8_t ends[TM_CONSTRAINTS_MAX][TM_PATTERN_BYTES_MAX]; /* the texts after all with a prefix */
} tm_interval_draft;

/* Draft a filter; false if it is not intervals. The draft is then of those constraints that are, and is satisfied by
 * all messages that satisfy the filter, and more. `by_type`: the first equality of `type` with a string becomes the
 * type, not an axis. */
bool tm_interval_draft_of(const tm_filter *filter, bool by_type, tm_interval_draft *out);

/* The attribute that selects a structure. */
#define TM_TYPE_NAME "type"
#define TM_TYPE_NAME_LENGTH 4U

#endif
