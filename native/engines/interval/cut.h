/* cut.h - a place between values, where intervals begin and end.
 *
 * Law: all values stand on one line: booleans, then numbers, then strings by their bytes. A cut lies just before a
 * value or just after it, so that an interval of any operator is half open, (low, high], as paper 003 has it: `x = 5`
 * is what lies between the cut before 5 and the cut after 5. Numbers are compared exactly (model/number.h). A cut
 * borrows its text.
 */
#ifndef TM_INTERVAL_CUT_H
#define TM_INTERVAL_CUT_H

#include "model/filter.h"

typedef enum {
    TM_CUT_BOOLEAN,
    TM_CUT_NUMBER,
    TM_CUT_STRING,
    TM_CUT_END, /* behind every value */
} tm_cut_kind;

typedef struct tm_cut {
    uint64_t high; /* of a string its first sixteen bytes, as the next one */
    uint64_t low;
    const uint8_t *text; /* of a string all of it; otherwise NULL */
    uint32_t length;
    uint8_t kind; /* tm_cut_kind */
    bool after;
} tm_cut;

/* The cut that no value lies before; the one that none lies behind. */
extern const tm_cut tm_cut_first;
extern const tm_cut tm_cut_end;

tm_cut tm_cut_at(const tm_value *value, bool after);
/* Just after the value of an attribute. */
tm_cut tm_cut_of_attribute(const tm_attribute *attribute);
/* Where the values of the kind of `value` begin, and where they end. */
tm_cut tm_cut_of_kind(const tm_value *value, bool end);
/* Before or after a text that need not be UTF-8. */
tm_cut tm_cut_of_text(const uint8_t *text, uint32_t length, bool after);

/* Negative, 0 or positive. */
int tm_cut_compare(const tm_cut *a, const tm_cut *b);

/* What lies between two cuts. */
typedef struct tm_span {
    tm_cut low;
    tm_cut high;
} tm_span;

static inline bool tm_span_is_empty(const tm_span *span) {
    return tm_cut_compare(&span->low, &span->high) >= 0;
}

#endif
