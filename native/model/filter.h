/* filter.h - a filter as C reads it from its wire form, and the meaning of a constraint.
 *
 * Law: what tm_filter_parse accepts obeys every limit and has operands of the kinds that its operators accept, so that
 * engines never check again; tm_constraint_holds is the semantics in C, for verification and tests, never for speed.
 */
#ifndef TM_FILTER_H
#define TM_FILTER_H

#include "tm.h"

/* An operand: kinds of tm_attribute, numbers canonical (an integral float inside 64 bits is an integer). */
typedef struct tm_value {
    const uint8_t *string; /* borrowed from the filter's bytes */
    int64_t integer;
    double real;
    uint32_t length;
    uint8_t kind;
} tm_value;

typedef struct tm_constraint {
    const uint8_t *name; /* borrowed from the filter's bytes */
    const tm_value *operands;
    uint16_t name_length;
    uint16_t operand_count;
    uint8_t op; /* TM_OP_*, without TM_OP_NEGATED */
    bool negated;
} tm_constraint;

/* Large because of `in` (16 x 256 values): the table keeps one as scratch; never put it on a stack. */
typedef struct tm_filter {
    size_t count;
    tm_constraint constraints[TM_CONSTRAINTS_MAX];
    tm_value operands[TM_CONSTRAINTS_MAX * TM_IN_VALUES_MAX];
} tm_filter;

/* Parse a filter; returns TM_OK, TM_MALFORMED or TM_TOO_MANY. `out` borrows from `bytes`. Operands of `in` are sorted
 * and made distinct. */
int tm_filter_parse(const uint8_t *bytes, size_t size, tm_filter *out);

/* Compare two values of one kind (numbers are one kind): -1, 0 or 1; strings by bytes. */
int tm_value_compare(const tm_value *a, const tm_value *b);

/* true if the attribute (NULL: it is absent) satisfies the constraint */
bool tm_constraint_holds(const tm_constraint *constraint, const tm_attribute *attribute);
/* Return an upper bound of the steps of tm_constraint_holds (work.h). */
uint64_t tm_constraint_steps(const tm_constraint *constraint, const tm_attribute *attribute);

/* Copy a filter, borrowing nothing, into a block of at least tm_filter_copy_bytes, aligned for any type; returns its
 * constraints. */
size_t tm_filter_copy_bytes(const tm_filter *filter);
const tm_constraint *tm_filter_copy(const tm_filter *filter, void *block);
/* Copy `count` constraints from `from` on in the way of tm_filter_copy. */
size_t tm_constraints_copy_bytes(const tm_constraint *from, size_t count);
const tm_constraint *tm_constraints_copy(const tm_constraint *from, size_t count, void *block);

#endif
