/* cut.h - a place between values, where intervals begin and end.
 *
 * Law: all values are in one order: booleans, then numbers, then strings by their bytes. A cut is just before a value
 * or just after it, so that an interval of any operator is half open, (low, high], as in paper 003: `x = 5` is the
 * interval from the cut before 5 to the cut after 5. Numbers are compared exactly (model/number.h). A cut borrows its
 * text.
 */
#ifndef TM_INTERVAL_CUT_H
#define TM_INTERVAL_CUT_H

#include "model/filter.h"

typedef enum {
    TM_CUT_BOOLEAN,
    TM_CUT_NUMBER,
    TM_CUT_STRING,
    TM_CUT_END, /* after every value */
} tm_cut_kind;

typedef struct tm_cut {
    uint64_t high; /* the first eight bytes of a string; `low` has the next eight */
    uint64_t low;
    const uint8_t *text; /* all of a string; otherwise NULL */
    uint32_t length;
    uint8_t kind; /* tm_cut_kind */
    bool after;
} tm_cut;

/* The cuts before and after all values. */
extern const tm_cut tm_cut_first;
extern const tm_cut tm_cut_end;

/* Return the cut before or after a value, whose text it borrows. */
tm_cut tm_cut_at(const tm_value *value, bool after);
/* Return the cut just after the value of an attribute. */
tm_cut tm_cut_of_attribute(const tm_attribute *attribute);
/* Return the cut at the begin or the end of the values of the kind of `value`. */
tm_cut tm_cut_of_kind(const tm_value *value, bool end);
/* Return the cut before or after a text, which need not be UTF-8. */
tm_cut tm_cut_of_text(const uint8_t *text, uint32_t length, bool after);

/* Return a negative number, 0 or a positive number. */
int tm_cut_compare(const tm_cut *a, const tm_cut *b);

/* The range between two cuts. */
typedef struct tm_span {
    tm_cut low;
    tm_cut high;
} tm_span;

static inline bool tm_span_is_empty(const tm_span *span) {
    return tm_cut_compare(&span->low, &span->high) >= 0;
}

#endif
