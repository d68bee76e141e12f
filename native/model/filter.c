/* filter.c - a filter's wire form parsed and checked, and the meaning of its constraints.
 *
 * Law: the wire form is a msgpack array of constraints, each an array [name, operator, operand...]; it accepts exactly
 * what protocol/filters.py can build, and tm_constraint_holds equals protocol/evaluate.py.
 */
#define _GNU_SOURCE
#include <string.h>

#include "base/work.h"
#include "model/filter.h"
#include "model/msgpack.h"
#include "model/number.h"

static bool is_number(uint8_t kind) {
    return kind == TM_KIND_INTEGER || kind == TM_KIND_FLOAT;
}

static bool same_kind(uint8_t a, uint8_t b) {
    return a == b || (is_number(a) && is_number(b));
}

static int compare_strings(const uint8_t *a, uint32_t a_length, const uint8_t *b, uint32_t b_length) {
    uint32_t shared = a_length < b_length ? a_length : b_length;
    int order = shared > 0 ? memcmp(a, b, shared) : 0;
    return order != 0 ? order : (a_length > b_length) - (a_length < b_length);
}

int tm_value_compare(const tm_value *a, const tm_value *b) {
    if (a->kind == TM_KIND_STRING) {
        int order = compare_strings(a->string, a->length, b->string, b->length);
        return (order > 0) - (order < 0);
    }
    return tm_number_compare(a->integer, a->real, a->kind == TM_KIND_FLOAT, b->integer, b->real,
                             b->kind == TM_KIND_FLOAT);
}

/* Compare values of any kinds: booleans, then numbers, then strings. */
static int compare_mixed(const tm_value *a, const tm_value *b) {
    if (same_kind(a->kind, b->kind)) {
        return tm_value_compare(a, b);
    }
    return a->kind < b->kind ? -1 : 1;
}

/* ---- parsing ---- */

static bool is_pattern(uint8_t op) {
    return op >= TM_OP_PREFIX && op <= TM_OP_CONTAINS;
}

static bool is_order(uint8_t op) {
    return op >= TM_OP_BETWEEN && op <= TM_OP_LE;
}

static bool kind_allowed(uint8_t op, uint8_t kind) {
    if (is_pattern(op)) {
        return kind == TM_KIND_STRING;
    }
    return !is_order(op) || kind != TM_KIND_BOOLEAN;
}

static bool read_operator(tm_cursor *cursor, tm_constraint *out) {
    int64_t code = 0;
    if (!tm_read_integer(cursor, &code) || code < 0 || code > UINT8_MAX) {
        return false;
    }
    out->negated = (code & TM_OP_NEGATED) != 0;
    out->op = (uint8_t)(code & ~TM_OP_NEGATED);
    return out->op <= TM_OP_CONTAINS;
}

static int check_operand_count(uint8_t op, uint32_t count) {
    if (op == TM_OP_IN) {
        return count == 0 ? TM_MALFORMED : count > TM_IN_VALUES_MAX ? TM_TOO_MANY : TM_OK;
    }
    uint32_t expected = op == TM_OP_EXISTS ? 0 : op == TM_OP_BETWEEN ? 2 : 1;
    return count == expected ? TM_OK : TM_MALFORMED;
}

/* Insert `value` into `count` sorted ones, unless it is present; returns the new count. */
static uint16_t insert_sorted(tm_value *sorted, uint16_t count, const tm_value *value) {
    uint16_t low = 0;
    uint16_t high = count;
    while (low < high) {
        uint16_t middle = (uint16_t)((low + high) / 2);
        int order = compare_mixed(&sorted[middle], value);
        if (order == 0) {
            return count;
        }
        if (order < 0) {
            low = (uint16_t)(middle + 1);
        } else {
            high = middle;
        }
    }
    memmove(&sorted[low + 1], &sorted[low], (size_t)(count - low) * sizeof *sorted);
    sorted[low] = *value;
    return (uint16_t)(count + 1);
}

static bool bounds_in_order(const tm_value *bounds) {
    return same_kind(bounds[0].kind, bounds[1].kind) && tm_value_compare(&bounds[0], &bounds[1]) <= 0;
}

/* Read `count` operands into `values`, which has room for them. */
static bool read_operands(tm_cursor *cursor, uint32_t count, tm_value *values, tm_constraint *out) {
    uint32_t bytes_max = is_pattern(out->op) ? TM_PATTERN_BYTES_MAX : TM_OPERAND_BYTES_MAX;
    out->operands = values;
    for (uint32_t i = 0; i < count; i++) {
        tm_value value;
        if (!tm_read_value(cursor, bytes_max, &value) || !kind_allowed(out->op, value.kind)) {
            return false;
        }
        if (out->op == TM_OP_IN) {
            out->operand_count = insert_sorted(values, out->operand_count, &value);
        } else {
            values[out->operand_count++] = value;
        }
    }
    return out->op != TM_OP_BETWEEN || bounds_in_order(values);
}

static int read_constraint(tm_cursor *cursor, tm_value *values, tm_constraint *out) {
    uint32_t parts = 0;
    uint32_t name_length = 0;
    *out = (tm_constraint){0};
    if (!tm_read_array(cursor, &parts) || parts < 2 ||
        !tm_read_string(cursor, TM_NAME_BYTES_MAX, &out->name, &name_length) || name_length == 0 ||
        !read_operator(cursor, out)) {
        return TM_MALFORMED;
    }
    out->name_length = (uint16_t)name_length;
    int result = check_operand_count(out->op, parts - 2);
    if (result != TM_OK) {
        return result;
    }
    return read_operands(cursor, parts - 2, values, out) ? TM_OK : TM_MALFORMED;
}

int tm_filter_parse(const uint8_t *bytes, size_t size, tm_filter *out) {
    tm_cursor cursor = {bytes, bytes + size};
    uint32_t count = 0;
    if (!tm_read_array(&cursor, &count)) {
        return TM_MALFORMED;
    }
    if (count > TM_CONSTRAINTS_MAX) {
        return TM_TOO_MANY;
    }
    tm_value *values = out->operands;
    for (uint32_t i = 0; i < count; i++) {
        int result = read_constraint(&cursor, values, &out->constraints[i]);
        if (result != TM_OK) {
            return result;
        }
        values += out->constraints[i].operand_count;
    }
    out->count = count;
    return cursor.at == cursor.end ? TM_OK : TM_MALFORMED;
}

/* ---- meaning ---- */

static tm_value value_of(const tm_attribute *attribute) {
    return (tm_value){.string = attribute->string,
                      .integer = attribute->integer,
                      .real = attribute->real,
                      .length = attribute->length,
                      .kind = attribute->kind};
}

static bool occurs_at(const tm_value *text, uint32_t start, const tm_value *pattern) {
    return pattern->length == 0 || memcmp(text->string + start, pattern->string, pattern->length) == 0;
}

static bool occurs(const tm_value *text, const tm_value *pattern) {
    if (pattern->length == 0 || pattern->length > text->length) {
        return pattern->length == 0;
    }
    return memmem(text->string, text->length, pattern->string, pattern->length) != NULL;
}

static bool pattern_holds(uint8_t op, const tm_value *text, const tm_value *pattern) {
    if (op == TM_OP_CONTAINS) {
        return occurs(text, pattern);
    }
    return pattern->length <= text->length &&
           occurs_at(text, op == TM_OP_PREFIX ? 0 : text->length - pattern->length, pattern);
}

/* Binary search: the operands of `in` are sorted. */
static bool is_member(const tm_constraint *constraint, const tm_value *value) {
    uint32_t first = 0;
    uint32_t end = constraint->operand_count;
    while (first < end) {
        uint32_t middle = (first + end) / 2;
        int order = compare_mixed(&constraint->operands[middle], value);
        if (order == 0) {
            return true;
        }
        first = order < 0 ? middle + 1 : first;
        end = order < 0 ? end : middle;
    }
    return false;
}

/* Requires a `value` of the operands' kind. */
static bool order_holds(const tm_constraint *constraint, const tm_value *value) {
    int order = tm_value_compare(value, &constraint->operands[0]);
    switch (constraint->op) {
    case TM_OP_EQ:
        return order == 0;
    case TM_OP_NE:
        return order != 0;
    case TM_OP_LT:
        return order < 0;
    case TM_OP_LE:
        return order <= 0;
    case TM_OP_GT:
        return order > 0;
    case TM_OP_GE:
        return order >= 0;
    default: /* TM_OP_BETWEEN */
        return order >= 0 && tm_value_compare(value, &constraint->operands[1]) <= 0;
    }
}

static bool plain_holds(const tm_constraint *constraint, const tm_attribute *attribute) {
    if (attribute == NULL || constraint->op == TM_OP_EXISTS) {
        return attribute != NULL;
    }
    tm_value value = value_of(attribute);
    if (constraint->op == TM_OP_IN) {
        return is_member(constraint, &value);
    }
    if (!same_kind(value.kind, constraint->operands[0].kind)) {
        return false;
    }
    return is_pattern(constraint->op) ? pattern_holds(constraint->op, &value, &constraint->operands[0])
                                      : order_holds(constraint, &value);
}

bool tm_constraint_holds(const tm_constraint *constraint, const tm_attribute *attribute) {
    return plain_holds(constraint, attribute) != constraint->negated;
}

uint64_t tm_constraint_steps(const tm_constraint *constraint, const tm_attribute *attribute) {
    uint64_t length = attribute->length < TM_OPERAND_BYTES_MAX ? attribute->length : TM_OPERAND_BYTES_MAX;
    if (constraint->op == TM_OP_CONTAINS) {
        return tm_work_of_text(attribute->length);
    }
    return constraint->op == TM_OP_IN ? WORK_BODY + length / WORK_BYTES : 1;
}
