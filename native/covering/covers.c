/* covers.c - decides whether a filter covers another, constraint by constraint.
 *
 * Law: see covers.h. A filter covers another if each of its constraints follows from the other's constraints on that
 * name. A constraint follows from a list of values if all of them satisfy it; otherwise from one other constraint:
 *
 *                      another that is negated     another that is not
 *     negated          if the one that it negates   if no value satisfies both what it negates and the other
 *                      implies the other's
 *     not negated      never: absence satisfies     if it implies it (the table of `implies`)
 *                      the other
 */
#define _GNU_SOURCE
#include <float.h>
#include <string.h>

#include "covering/covers.h"

/* ---- values ---- */

static bool satisfies(const tm_value *value, const tm_constraint *constraint) {
    tm_attribute attribute = {.string = value->string,
                              .integer = value->integer,
                              .real = value->real,
                              .length = value->length,
                              .kind = value->kind};
    return tm_constraint_holds(constraint, &attribute);
}

static bool all_satisfy(const tm_constraint *list, const tm_constraint *constraint) {
    for (uint32_t i = 0; i < list->operand_count; i++) {
        if (!satisfies(&list->operands[i], constraint)) {
            return false;
        }
    }
    return true;
}

static bool none_satisfies(const tm_constraint *list, const tm_constraint *constraint) {
    for (uint32_t i = 0; i < list->operand_count; i++) {
        if (satisfies(&list->operands[i], constraint)) {
            return false;
        }
    }
    return true;
}

static bool starts_with(const tm_value *text, const tm_value *start) {
    return start->length <= text->length &&
           (start->length == 0 || memcmp(text->string, start->string, start->length) == 0);
}

static bool ends_with(const tm_value *text, const tm_value *end) {
    return end->length <= text->length &&
           (end->length == 0 || memcmp(text->string + text->length - end->length, end->string, end->length) == 0);
}

static bool has(const tm_value *text, const tm_value *piece) {
    return piece->length == 0 ||
           (piece->length <= text->length && memmem(text->string, text->length, piece->string, piece->length) != NULL);
}

/* ---- the ends of the values that a constraint admits ---- */

/* An end of a constraint that is not negated and has operands of one domain; `value` is NULL if there is none. */
typedef struct tm_end {
    const tm_value *value;
    bool is_open; /* the value itself is not admitted */
} tm_end;

static tm_end low_of(const tm_constraint *constraint) {
    switch (constraint->op) {
    case TM_OP_GT:
        return (tm_end){constraint->operands, true};
    case TM_OP_GE:
    case TM_OP_BETWEEN:
    case TM_OP_PREFIX:
        return (tm_end){constraint->operands, false};
    default:
        return (tm_end){NULL, false};
    }
}

/* Return the high end. A prefix has none: a string that starts with it can be above any value that does. */
static tm_end high_of(const tm_constraint *constraint) {
    switch (constraint->op) {
    case TM_OP_LT:
        return (tm_end){constraint->operands, true};
    case TM_OP_LE:
        return (tm_end){constraint->operands, false};
    case TM_OP_BETWEEN:
        return (tm_end){constraint->operands + 1, false};
    default:
        return (tm_end){NULL, false};
    }
}

/* true if every value that the constraint admits is above `bound`, or at it with `or_at`. */
static bool is_above(const tm_constraint *constraint, const tm_value *bound, bool or_at) {
    tm_end low = low_of(constraint);
    if (low.value == NULL) {
        return false;
    }
    int order = tm_value_compare(low.value, bound);
    return order > 0 || (order == 0 && (or_at || low.is_open));
}

static bool is_below(const tm_constraint *constraint, const tm_value *bound, bool or_at) {
    if (constraint->op == TM_OP_PREFIX) {
        return tm_value_compare(constraint->operands, bound) < 0 && !starts_with(bound, constraint->operands);
    }
    tm_end high = high_of(constraint);
    if (high.value == NULL) {
        return false;
    }
    int order = tm_value_compare(high.value, bound);
    return order < 0 || (order == 0 && (or_at || high.is_open));
}

/* true if every string that the constraint admits is above all that start with `start`. */
static bool is_past(const tm_constraint *constraint, const tm_value *start) {
    tm_end low = low_of(constraint);
    return low.value != NULL && tm_value_compare(low.value, start) > 0 && !starts_with(low.value, start);
}

/* true if no value of the bound's domain is below it, or above it in is_highest. */
static bool is_lowest(const tm_value *bound) {
    return bound->kind == TM_KIND_STRING ? bound->length == 0 : bound->kind == TM_KIND_FLOAT && bound->real == -DBL_MAX;
}

static bool is_highest(const tm_value *bound) {
    return bound->kind == TM_KIND_FLOAT && bound->real == DBL_MAX;
}

/* ---- one constraint and another, neither negated, the first no list of values ---- */

/* true if every string that the constraint admits starts with `start`. */
static bool all_start_with(const tm_constraint *constraint, const tm_value *start) {
    if (constraint->op == TM_OP_BETWEEN) {
        return starts_with(&constraint->operands[0], start) && starts_with(&constraint->operands[1], start);
    }
    return start->length == 0 || (constraint->op == TM_OP_PREFIX && starts_with(constraint->operands, start));
}

/* Return the length of the prefix that all strings of a closed range share. */
static uint32_t shared_length(const tm_constraint *between) {
    const tm_value *low = &between->operands[0];
    const tm_value *high = &between->operands[1];
    uint32_t length = 0;
    while (length < low->length && length < high->length && low->string[length] == high->string[length]) {
        length++;
    }
    return length;
}

static bool all_have(const tm_constraint *constraint, const tm_value *piece) {
    if (constraint->op == TM_OP_BETWEEN) {
        tm_value start = constraint->operands[0];
        start.length = shared_length(constraint);
        return has(&start, piece);
    }
    bool is_pattern = constraint->op >= TM_OP_PREFIX && constraint->op <= TM_OP_CONTAINS;
    return piece->length == 0 || (is_pattern && has(constraint->operands, piece));
}

static bool implies(const tm_constraint *it, const tm_constraint *other) {
    if (other->op == TM_OP_EXISTS) {
        return true;
    }
    if (it->op == TM_OP_EXISTS || tm_lists_values(other) ||
        tm_domain_of(it->operands->kind) != tm_domain_of(other->operands->kind)) {
        return false;
    }
    const tm_value *bound = other->operands;
    switch (other->op) {
    case TM_OP_GT:
        return is_above(it, bound, false) || (is_lowest(bound) && !satisfies(bound, it));
    case TM_OP_GE:
        return is_lowest(bound) || is_above(it, bound, true);
    case TM_OP_LT:
        return is_below(it, bound, false) || (is_highest(bound) && !satisfies(bound, it));
    case TM_OP_LE:
        return is_highest(bound) || is_below(it, bound, true);
    case TM_OP_NE:
        return !satisfies(bound, it);
    case TM_OP_PREFIX:
        return all_start_with(it, bound);
    case TM_OP_SUFFIX:
        return bound->length == 0 || (it->op == TM_OP_SUFFIX && ends_with(it->operands, bound));
    case TM_OP_CONTAINS:
        return all_have(it, bound);
    default: /* TM_OP_BETWEEN */
        return is_above(it, bound, true) && is_below(it, bound + 1, true);
    }
}

/* true if no value satisfies both. */
static bool exclude(const tm_constraint *it, const tm_constraint *other) {
    if (tm_lists_values(other)) {
        return none_satisfies(other, it);
    }
    if (it->op == TM_OP_EXISTS || other->op == TM_OP_EXISTS) {
        return false;
    }
    if (tm_domain_of(it->operands->kind) != tm_domain_of(other->operands->kind)) {
        return true;
    }
    if (it->op == TM_OP_PREFIX && other->op == TM_OP_PREFIX) {
        return !starts_with(it->operands, other->operands) && !starts_with(other->operands, it->operands);
    }
    if (it->op == TM_OP_SUFFIX && other->op == TM_OP_SUFFIX) {
        return !ends_with(it->operands, other->operands) && !ends_with(other->operands, it->operands);
    }
    tm_end low = low_of(other);
    tm_end high = high_of(other);
    return (low.value != NULL && is_below(it, low.value, low.is_open)) ||
           (high.value != NULL && is_above(it, high.value, high.is_open)) ||
           (other->op == TM_OP_PREFIX && is_past(it, other->operands));
}

/* ---- the constraints of a filter on one name ---- */

bool tm_same_name(const tm_constraint *a, const tm_constraint *b) {
    return a->name_length == b->name_length && memcmp(a->name, b->name, a->name_length) == 0;
}

static bool follows_from_one(const tm_constraint *constraint, const tm_constraint *said) {
    tm_constraint plain = *constraint;
    tm_constraint other = *said;
    plain.negated = other.negated = false;
    if (said->negated) {
        return constraint->negated && (tm_lists_values(&plain) ? all_satisfy(&plain, &other) : implies(&plain, &other));
    }
    if (tm_lists_values(said)) {
        return all_satisfy(said, constraint);
    }
    return constraint->negated ? exclude(&other, &plain) : implies(&other, &plain);
}

static bool follows(const tm_constraint *constraint, const tm_filter *narrow) {
    for (size_t i = 0; i < narrow->count; i++) {
        if (tm_same_name(constraint, &narrow->constraints[i]) &&
            follows_from_one(constraint, &narrow->constraints[i])) {
            return true;
        }
    }
    return false;
}

/* true if two bounds imply the halves of a closed range. */
static bool halves_follow(const tm_constraint *between, const tm_filter *narrow) {
    tm_constraint low = *between;
    tm_constraint high = *between;
    low.op = TM_OP_GE;
    high.op = TM_OP_LE;
    high.operands++;
    low.operand_count = high.operand_count = 1;
    return follows(&low, narrow) && follows(&high, narrow);
}

bool tm_constraint_follows(const tm_constraint *constraint, const tm_filter *narrow) {
    bool has_halves = constraint->op == TM_OP_BETWEEN && !constraint->negated;
    return has_halves ? halves_follow(constraint, narrow) : follows(constraint, narrow);
}

bool tm_filter_covers(const tm_filter *wide, const tm_filter *narrow) {
    for (size_t i = 0; i < wide->count; i++) {
        if (!tm_constraint_follows(&wide->constraints[i], narrow)) {
            return false;
        }
    }
    return true;
}
