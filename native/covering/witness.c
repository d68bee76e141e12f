/* witness.c - finds a message that satisfies a filter.
 *
 * Law: see witness.h. Names are independent. A name whose constraints are all negated needs no attribute; for another
 * one a bounded number of values is tried: those of a list; each operand and the numbers beside it; a few plain ones;
 * and a string combined from all patterns.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "covering/covers.h"
#include "covering/witness.h"

#define OPERANDS_TRIED 4 /* from each end of a list that is to be avoided */

/* The constraints on one name of a filter, and the attribute for its value. */
typedef struct search {
    const tm_filter *filter;
    const tm_constraint *first;
    tm_attribute *out;
    uint8_t *text;
} search;

static bool holds(const search *s) {
    for (size_t i = 0; i < s->filter->count; i++) {
        const tm_constraint *constraint = &s->filter->constraints[i];
        if (tm_same_name(constraint, s->first) && !tm_constraint_holds(constraint, s->out)) {
            return false;
        }
    }
    return true;
}

static bool try_value(const search *s, const tm_value *value) {
    s->out->kind = value->kind;
    s->out->string = value->string;
    s->out->length = value->length;
    s->out->integer = value->integer;
    s->out->real = value->real;
    return holds(s);
}

static bool try_integer(const search *s, int64_t integer) {
    tm_value value = {.kind = TM_KIND_INTEGER, .integer = integer};
    return try_value(s, &value);
}

/* Try a number in the form of attributes: one without a fraction that fits is an integer. */
static bool try_real(const search *s, double real) {
    if (!isfinite(real)) {
        return false;
    }
    if (real == floor(real) && real >= -0x1p63 && real < 0x1p63) {
        return try_integer(s, (int64_t)real);
    }
    tm_value value = {.kind = TM_KIND_FLOAT, .real = real};
    return try_value(s, &value);
}

static bool try_string(const search *s, const uint8_t *bytes, uint32_t length) {
    tm_value value = {.kind = TM_KIND_STRING, .string = bytes, .length = length};
    return try_value(s, &value);
}

/* ---- values next to an operand ---- */

static bool try_beside_number(const search *s, const tm_value *number) {
    if (number->kind == TM_KIND_INTEGER) {
        int64_t integer = number->integer;
        return (integer < INT64_MAX && try_integer(s, integer + 1)) ||
               (integer > INT64_MIN && try_integer(s, integer - 1)) ||
               try_real(s, nextafter((double)integer, DBL_MAX)) || try_real(s, nextafter((double)integer, -DBL_MAX));
    }
    return try_real(s, nextafter(number->real, DBL_MAX)) || try_real(s, nextafter(number->real, -DBL_MAX));
}

/* Try the next string, and one after many that start with it. */
static bool try_behind_string(const search *s, const tm_value *string) {
    memcpy(s->text, string->string, string->length);
    s->text[string->length] = '\0';
    if (try_string(s, s->text, string->length + 1)) {
        return true;
    }
    s->text[string->length] = '~';
    return try_string(s, s->text, string->length + 1);
}

static bool try_near(const search *s, const tm_value *value) {
    if (try_value(s, value)) {
        return true;
    }
    switch (tm_domain_of(value->kind)) {
    case TM_DOMAIN_NUMBERS:
        return try_beside_number(s, value);
    case TM_DOMAIN_STRINGS:
        return value->length < WITNESS_TEXT_BYTES && try_behind_string(s, value);
    default:
        return false;
    }
}

static bool try_operands(const search *s, const tm_constraint *constraint) {
    uint32_t count = constraint->operand_count;
    bool is_wanted = tm_lists_values(constraint) && !constraint->negated;
    for (uint32_t i = 0; i < count; i++) {
        if ((is_wanted || i < OPERANDS_TRIED || i + OPERANDS_TRIED >= count) && try_near(s, &constraint->operands[i])) {
            return true;
        }
    }
    return false;
}

static bool try_plain(const search *s) {
    static const tm_value plain[] = {
        {.kind = TM_KIND_INTEGER, .integer = 0},
        {.kind = TM_KIND_STRING, .string = (const uint8_t *)"", .length = 0},
        {.kind = TM_KIND_STRING, .string = (const uint8_t *)"~", .length = 1},
        {.kind = TM_KIND_BOOLEAN, .integer = 0},
        {.kind = TM_KIND_BOOLEAN, .integer = 1},
    };
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        if (try_value(s, &plain[i])) {
            return true;
        }
    }
    return false;
}

/* ---- strings of several patterns ---- */

/* Return the operand of the constraint that a string must start with, contain or end with (`place`), or NULL. */
static const tm_value *piece_of(const tm_constraint *constraint, uint8_t place) {
    if (constraint->negated || constraint->op == TM_OP_EXISTS || constraint->operands->kind != TM_KIND_STRING) {
        return NULL;
    }
    bool is_low = constraint->op == TM_OP_GE || constraint->op == TM_OP_GT || constraint->op == TM_OP_BETWEEN;
    uint8_t own = is_low ? TM_OP_PREFIX : constraint->op;
    return own == place ? constraint->operands : NULL;
}

/* Return the longest piece of a place, or NULL. */
static const tm_value *longest(const search *s, uint8_t place) {
    const tm_value *found = NULL;
    for (size_t i = 0; i < s->filter->count; i++) {
        const tm_constraint *constraint = &s->filter->constraints[i];
        const tm_value *piece = tm_same_name(constraint, s->first) ? piece_of(constraint, place) : NULL;
        found = piece != NULL && (found == NULL || piece->length > found->length) ? piece : found;
    }
    return found;
}

static uint32_t append(const search *s, uint32_t length, const tm_value *piece) {
    if (piece != NULL && piece->length > 0) {
        memcpy(s->text + length, piece->string, piece->length);
        length += piece->length;
    }
    return length;
}

/* Try all pieces one after the other, with `filler` between them unless it is 0. */
static bool try_together(const search *s, uint8_t filler) {
    uint32_t length = append(s, 0, longest(s, TM_OP_PREFIX));
    for (size_t i = 0; i < s->filter->count; i++) {
        const tm_constraint *constraint = &s->filter->constraints[i];
        const tm_value *piece = tm_same_name(constraint, s->first) ? piece_of(constraint, TM_OP_CONTAINS) : NULL;
        if (piece != NULL && filler != 0) {
            s->text[length++] = filler;
        }
        length = append(s, length, piece);
    }
    if (filler != 0) {
        s->text[length++] = filler;
    }
    length = append(s, length, longest(s, TM_OP_SUFFIX));
    return try_string(s, s->text, length);
}

/* ---- one name, and all names ---- */

static bool find_value(const search *s) {
    const tm_constraint *end = s->filter->constraints + s->filter->count;
    for (const tm_constraint *it = s->first; it < end; it++) {
        if (tm_same_name(it, s->first) && !it->negated && tm_lists_values(it)) {
            return try_operands(s, it);
        }
    }
    for (const tm_constraint *it = s->first; it < end; it++) {
        if (tm_same_name(it, s->first) && try_operands(s, it)) {
            return true;
        }
    }
    return try_plain(s) || try_together(s, 0) || try_together(s, '~') || try_together(s, ' ');
}

static bool may_be_absent(const tm_filter *filter, const tm_constraint *first) {
    for (size_t i = 0; i < filter->count; i++) {
        if (tm_same_name(&filter->constraints[i], first) && !filter->constraints[i].negated) {
            return false;
        }
    }
    return true;
}

static bool is_first_of_name(const tm_filter *filter, size_t at) {
    for (size_t i = 0; i < at; i++) {
        if (tm_same_name(&filter->constraints[i], &filter->constraints[at])) {
            return false;
        }
    }
    return true;
}

bool tm_witness_find(const tm_filter *filter, tm_witness *out) {
    out->count = 0;
    for (size_t i = 0; i < filter->count; i++) {
        const tm_constraint *first = &filter->constraints[i];
        if (!is_first_of_name(filter, i) || may_be_absent(filter, first)) {
            continue;
        }
        tm_attribute *attribute = &out->attributes[out->count];
        *attribute = (tm_attribute){.name = first->name, .name_length = first->name_length};
        search s = {filter, first, attribute, out->texts[out->count]};
        if (!find_value(&s)) {
            return false;
        }
        out->count++;
    }
    return true;
}

/* true if a value satisfies a constraint that is the only one of its name */
static bool is_satisfiable(const tm_constraint *alone) {
    return alone->negated || (alone->op != TM_OP_LT && alone->op != TM_OP_GT) ||
           alone->operands->kind == TM_KIND_INTEGER;
}

bool tm_witness_exists(const tm_filter *filter, tm_witness *scratch) {
    for (size_t i = 0; i < filter->count; i++) {
        if (!is_first_of_name(filter, i) || !is_satisfiable(&filter->constraints[i])) {
            return tm_witness_find(filter, scratch);
        }
    }
    return true;
}
