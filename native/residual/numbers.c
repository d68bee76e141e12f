/* numbers.c - see numbers.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/number.h"
#include "residual/numbers.h"

/* ---- comparisons ---- */

static int order_of_texts(residual_value left, residual_value right) {
    uint32_t least = left.length < right.length ? left.length : right.length;
    int order = least == 0 ? 0 : memcmp(left.text, right.text, least);
    return order != 0 ? order : (left.length > right.length) - (left.length < right.length);
}

static int order_of_numbers(residual_value left, residual_value right) {
    bool left_is_real = left.kind == RESIDUAL_IS_DOUBLE;
    bool right_is_real = right.kind == RESIDUAL_IS_DOUBLE;
    return tm_number_compare(left_is_real ? 0 : left.integer, left_is_real ? left.real : 0, left_is_real,
                             right_is_real ? 0 : right.integer, right_is_real ? right.real : 0, right_is_real);
}

residual_value residual_compare(residual_op op, residual_value left, residual_value right, uint32_t mixed) {
    bool is_ordered = op > RESIDUAL_NE;
    int order;
    if (residual_is_number(left) && residual_is_number(right)) {
        order = order_of_numbers(left, right);
    } else if (left.kind != right.kind || (left.kind == RESIDUAL_IS_BOOLEAN && is_ordered) ||
               (left.kind == RESIDUAL_IS_TEXT && is_ordered && (mixed & RESIDUAL_NUMBERS_ONLY) != 0)) {
        return (mixed & RESIDUAL_MIXED_UNKNOWN) != 0 ? residual_unknown() : residual_boolean(false);
    } else if (left.kind == RESIDUAL_IS_TEXT) {
        order = order_of_texts(left, right);
    } else {
        order = left.integer != right.integer;
    }
    return residual_boolean(residual_holds(op, order));
}

/* ---- arithmetic ---- */

__extension__ typedef __int128 wide;

static residual_value bounded(wide integer, residual_arithmetic kind) {
    if (kind == RESIDUAL_INT32) {
        return integer == (int32_t)integer ? residual_integer((int64_t)integer) : residual_unknown();
    }
    if (integer == (int64_t)integer) {
        return residual_integer((int64_t)integer);
    }
    return kind == RESIDUAL_INT64 ? residual_unknown() : residual_double((double)integer);
}

static residual_value of_integers(residual_op op, wide left, wide right, residual_arithmetic kind) {
    switch (op) {
    case RESIDUAL_ADD:
        return bounded(left + right, kind);
    case RESIDUAL_SUB:
        return bounded(left - right, kind);
    case RESIDUAL_MUL:
        return bounded(left * right, kind);
    case RESIDUAL_DIV:
        return bounded(left / right, kind);
    default:
        return bounded(left % right, kind);
    }
}

static residual_value of_doubles(residual_op op, double left, double right) {
    switch (op) {
    case RESIDUAL_ADD:
        return residual_double(left + right);
    case RESIDUAL_SUB:
        return residual_double(left - right);
    case RESIDUAL_MUL:
        return residual_double(left * right);
    case RESIDUAL_DIV:
        return residual_double(left / right);
    default:
        return residual_double(fmod(left, right));
    }
}

static bool is_int32(int64_t integer) {
    return integer == (int32_t)integer;
}

residual_value residual_calculate(residual_op op, residual_value left, residual_value right, residual_arithmetic kind) {
    bool divides = op == RESIDUAL_DIV || op == RESIDUAL_MOD;
    if (!residual_is_number(left) || !residual_is_number(right) || (divides && residual_real_of(right) == 0)) {
        return residual_unknown();
    }
    if (left.kind == RESIDUAL_IS_INTEGER && right.kind == RESIDUAL_IS_INTEGER) {
        if (kind == RESIDUAL_INT32 && (!is_int32(left.integer) || !is_int32(right.integer))) {
            return residual_unknown();
        }
        /* A remainder by -1 is none, and that of the least integer is no operation of the processor. */
        bool is_whole = kind != RESIDUAL_REAL || right.integer == -1 || left.integer % right.integer == 0;
        if (is_whole) {
            return of_integers(op, left.integer, right.integer, kind);
        }
    }
    if (kind == RESIDUAL_INT32) {
        return residual_unknown();
    }
    return of_doubles(op, residual_real_of(left), residual_real_of(right));
}

residual_value residual_negative(residual_value value, residual_arithmetic kind) {
    if (value.kind == RESIDUAL_IS_DOUBLE && kind != RESIDUAL_INT32) {
        return residual_double(-value.real);
    }
    return value.kind == RESIDUAL_IS_INTEGER ? residual_calculate(RESIDUAL_SUB, residual_integer(0), value, kind)
                                             : residual_unknown();
}

/* ---- casts ---- */

static bool is_digit(uint8_t byte) {
    return byte >= '0' && byte <= '9';
}

static uint32_t skip_digits(residual_value text, uint32_t at) {
    while (at < text.length && is_digit(text.text[at])) {
        at++;
    }
    return at;
}

static uint32_t skip_sign(residual_value text, uint32_t at) {
    return at < text.length && (text.text[at] == '-' || text.text[at] == '+') ? at + 1 : at;
}

static bool is_word(residual_value text, const char *word) {
    uint32_t length = (uint32_t)strlen(word);
    for (uint32_t i = 0; i < length; i++) {
        if (text.length != length || (text.text[i] | 0x20) != word[i]) {
            return false;
        }
    }
    return true;
}

static residual_value to_boolean(residual_value value) {
    if (value.kind == RESIDUAL_IS_TEXT) {
        bool is_true = is_word(value, "true");
        return is_true || is_word(value, "false") ? residual_boolean(is_true) : residual_unknown();
    }
    return residual_boolean(residual_real_of(value) != 0);
}

static residual_value integer_in(residual_value text) {
    uint32_t start = skip_sign(text, 0);
    if (text.length > RESIDUAL_NUMBER_BYTES_MAX || start == text.length || skip_digits(text, start) != text.length) {
        return residual_unknown();
    }
    wide integer = 0;
    for (uint32_t at = start; at < text.length && integer <= INT64_MAX; at++) {
        integer = integer * 10 + (text.text[at] - '0');
    }
    return bounded(text.text[0] == '-' ? -integer : integer, RESIDUAL_INT64);
}

static residual_value to_integer(residual_value value) {
    if (value.kind == RESIDUAL_IS_TEXT) {
        return integer_in(value);
    }
    if (value.kind != RESIDUAL_IS_DOUBLE) {
        return residual_integer(value.integer);
    }
    bool fits = value.real >= -0x1p63 && value.real < 0x1p63;
    return fits ? residual_integer((int64_t)value.real) : residual_unknown();
}

static bool is_decimal(residual_value text) {
    uint32_t start = skip_sign(text, 0);
    uint32_t at = skip_digits(text, start);
    uint32_t digits = at - start;
    if (at < text.length && text.text[at] == '.') {
        uint32_t end = skip_digits(text, at + 1);
        digits += end - at - 1;
        at = end;
    }
    if (digits > 0 && at < text.length && (text.text[at] | 0x20) == 'e') {
        uint32_t exponent = skip_sign(text, at + 1);
        at = skip_digits(text, exponent);
        digits = at - exponent;
    }
    return digits > 0 && at == text.length;
}

static residual_value to_double(residual_value value) {
    if (value.kind != RESIDUAL_IS_TEXT) {
        return residual_double(residual_real_of(value));
    }
    if (value.length > RESIDUAL_NUMBER_BYTES_MAX || !is_decimal(value)) {
        return residual_unknown();
    }
    char number[RESIDUAL_NUMBER_BYTES_MAX + 1];
    memcpy(number, value.text, value.length);
    number[value.length] = 0;
    return residual_double(strtod(number, NULL));
}

static residual_value to_text(residual_value value, residual_arena *arena) {
    if (value.kind == RESIDUAL_IS_TEXT) {
        return value;
    }
    if (value.kind == RESIDUAL_IS_BOOLEAN) {
        return value.integer != 0 ? residual_text((const uint8_t *)"true", 4)
                                  : residual_text((const uint8_t *)"false", 5);
    }
    if (value.kind == RESIDUAL_IS_DOUBLE && floor(value.real) != value.real) {
        return residual_unknown();
    }
    residual_value integer = to_integer(value);
    char digits[24];
    int size = snprintf(digits, sizeof digits, "%lld", (long long)integer.integer);
    if (integer.kind == RESIDUAL_IS_UNKNOWN || (uint32_t)size > RESIDUAL_ARENA_BYTES - arena->used) {
        return residual_unknown();
    }
    uint8_t *made = arena->bytes + arena->used;
    memcpy(made, digits, (size_t)size);
    arena->used += (uint32_t)size;
    return residual_text(made, (uint32_t)size);
}

residual_value residual_cast_to(residual_cast to, residual_value value, residual_arena *arena) {
    switch (to) {
    case RESIDUAL_TO_BOOLEAN:
        return to_boolean(value);
    case RESIDUAL_TO_INTEGER:
        return to_integer(value);
    case RESIDUAL_TO_DOUBLE:
        return to_double(value);
    case RESIDUAL_TO_TEXT:
        return to_text(value, arena);
    default: { /* RESIDUAL_TO_INT32 */
        residual_value integer = to_integer(value);
        return integer.kind == RESIDUAL_IS_INTEGER && is_int32(integer.integer) ? integer : residual_unknown();
    }
    }
}
