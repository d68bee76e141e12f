/* covers.h - decides whether one filter covers another.
 *
 * Law: true is always right: every message that satisfies `narrow` satisfies `wide`. False may be wrong where only two
 * constraints of `narrow` together imply one of `wide`, or where its values run out: that costs an entry, never a
 * message.
 */
#ifndef TM_COVERS_H
#define TM_COVERS_H

#include "model/filter.h"

/* true if `wide` covers `narrow`, as far as it can be decided. */
bool tm_filter_covers(const tm_filter *wide, const tm_filter *narrow);

/* true if every message that satisfies `narrow` satisfies the constraint, as far as it can be decided. */
bool tm_constraint_follows(const tm_constraint *constraint, const tm_filter *narrow);

/* true if both constraints have one name. */
bool tm_same_name(const tm_constraint *a, const tm_constraint *b);

/* The domain of a value; the values of a domain are ordered. Numbers are one domain, of any kind. */
typedef enum { TM_DOMAIN_BOOLEANS, TM_DOMAIN_NUMBERS, TM_DOMAIN_STRINGS } tm_domain;

static inline tm_domain tm_domain_of(uint8_t kind) {
    return kind == TM_KIND_STRING    ? TM_DOMAIN_STRINGS
           : kind == TM_KIND_BOOLEAN ? TM_DOMAIN_BOOLEANS
                                     : TM_DOMAIN_NUMBERS;
}

/* true if the constraint, without its negation, lists its values. */
static inline bool tm_lists_values(const tm_constraint *constraint) {
    return constraint->op == TM_OP_EQ || constraint->op == TM_OP_IN;
}

#endif
