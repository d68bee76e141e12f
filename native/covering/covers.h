/* covers.h - does one filter say at least as much as another?
 *
 * Law: true is always right: whatever satisfies `narrow` satisfies `wide`. False may be wrong where only two
 * constraints of `narrow` together say what one of `wide` does, or where its values run out: it costs an entry, never a
 * message.
 */
#ifndef TM_COVERS_H
#define TM_COVERS_H

#include "model/filter.h"

bool tm_filter_covers(const tm_filter *wide, const tm_filter *narrow);

/* Have both constraints one name? */
bool tm_same_name(const tm_constraint *a, const tm_constraint *b);

/* The order of the values of one domain: numbers are one, whatever their kind. */
typedef enum { TM_DOMAIN_BOOLEANS, TM_DOMAIN_NUMBERS, TM_DOMAIN_STRINGS } tm_domain;

static inline tm_domain tm_domain_of(uint8_t kind) {
    return kind == TM_KIND_STRING    ? TM_DOMAIN_STRINGS
           : kind == TM_KIND_BOOLEAN ? TM_DOMAIN_BOOLEANS
                                     : TM_DOMAIN_NUMBERS;
}

/* Does the constraint, as if it were not negated, list its values? */
static inline bool tm_lists_values(const tm_constraint *constraint) {
    return constraint->op == TM_OP_EQ || constraint->op == TM_OP_IN;
}

#endif
