/* test_filter.c - what the parsers of filters and messages take and refuse, each input ending at an unreadable page. */
#include <string.h>

#include "support.h"

static tm_filter parsed;

static int parse(const wire *in) {
    guarded copy = guard(in->bytes, in->size);
    int result = tm_filter_parse(copy.bytes, in->size, &parsed);
    unguard(&copy);
    return result;
}

/* One constraint on "x", its operands put by `put`. */
typedef void (*put_operands)(wire *out);

static int parse_constraint(uint8_t op, uint32_t operands, put_operands put) {
    static wire in;
    in.size = 0;
    put_array(&in, 1);
    put_array(&in, 2 + operands);
    put_string(&in, "x", 1);
    put_integer(&in, op);
    if (put != NULL) {
        put(&in);
    }
    return parse(&in);
}

static void one(wire *out) {
    put_integer(out, 1);
}
static void text(wire *out) {
    put_string(out, "ab", 2);
}
static void truth(wire *out) {
    put_boolean(out, true);
}
static void one_two(wire *out) {
    put_integer(out, 1);
    put_real(out, 2.0);
}
static void two_one(wire *out) {
    put_integer(out, 2);
    put_integer(out, 1);
}
static void one_text(wire *out) {
    put_integer(out, 1);
    put_string(out, "b", 1);
}
static void infinity(wire *out) {
    put_real(out, __builtin_inf());
}
static void bad_utf8(wire *out) {
    put_string(out, "\xc0\x80", 2);
}
static void mixed(wire *out) {
    put_string(out, "b", 1);
    put_real(out, 2.0);
    put_boolean(out, true);
    put_integer(out, 2);
    put_string(out, "a", 1);
}
static void numbers_257(wire *out) {
    for (int i = 0; i < 257; i++) {
        put_integer(out, i);
    }
}
static void long_text(wire *out, uint32_t length) {
    static char bytes[2000];
    memset(bytes, 'a', sizeof bytes);
    put_string(out, bytes, length);
}
static void pattern_128(wire *out) {
    long_text(out, 128);
}
static void pattern_129(wire *out) {
    long_text(out, 129);
}
static void operand_1024(wire *out) {
    long_text(out, 1024);
}
static void operand_1025(wire *out) {
    long_text(out, 1025);
}

static void test_operands(void) {
    static const struct {
        uint8_t op;
        uint32_t operands;
        put_operands put;
        int result;
    } rows[] = {
        {TM_OP_EXISTS, 0, NULL, TM_OK},
        {TM_OP_EXISTS | TM_OP_NEGATED, 0, NULL, TM_OK},
        {TM_OP_EXISTS, 1, one, TM_MALFORMED},
        {TM_OP_EQ, 1, one, TM_OK},
        {TM_OP_EQ, 1, truth, TM_OK},
        {TM_OP_EQ, 0, NULL, TM_MALFORMED},
        {TM_OP_EQ, 1, infinity, TM_MALFORMED},
        {TM_OP_EQ, 1, bad_utf8, TM_MALFORMED},
        {TM_OP_EQ, 1, operand_1024, TM_OK},
        {TM_OP_EQ, 1, operand_1025, TM_MALFORMED},
        {TM_OP_NE, 1, truth, TM_OK},
        {TM_OP_LT, 1, truth, TM_MALFORMED},
        {TM_OP_LT, 1, text, TM_OK},
        {TM_OP_BETWEEN, 2, one_two, TM_OK},
        {TM_OP_BETWEEN, 2, two_one, TM_MALFORMED},
        {TM_OP_BETWEEN, 2, one_text, TM_MALFORMED},
        {TM_OP_BETWEEN, 1, one, TM_MALFORMED},
        {TM_OP_IN, 5, mixed, TM_OK},
        {TM_OP_IN, 0, NULL, TM_MALFORMED},
        {TM_OP_IN, 257, numbers_257, TM_TOO_MANY},
        {TM_OP_PREFIX, 1, text, TM_OK},
        {TM_OP_PREFIX, 1, one, TM_MALFORMED},
        {TM_OP_CONTAINS, 1, pattern_128, TM_OK},
        {TM_OP_SUFFIX, 1, pattern_129, TM_MALFORMED},
        {12, 1, one, TM_MALFORMED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int result = parse_constraint(rows[i].op, rows[i].operands, rows[i].put);
        CHECK(result == rows[i].result, "row %zu: %d", i, result);
    }
}

/* Sorted, distinct, canonical: true, 2, "a", "b". */
static void test_in_is_a_set(void) {
    static wire in;
    in.size = 0;
    put_array(&in, 1);
    put_array(&in, 7);
    put_string(&in, "x", 1);
    put_integer(&in, TM_OP_IN);
    mixed(&in);
    CHECK(tm_filter_parse(in.bytes, in.size, &parsed) == TM_OK, "in");
    const tm_constraint *constraint = &parsed.constraints[0];
    CHECK(constraint->operand_count == 4, "%u operands", constraint->operand_count);
    CHECK(constraint->operands[0].kind == TM_KIND_BOOLEAN && constraint->operands[1].kind == TM_KIND_INTEGER, "kinds");
    CHECK(constraint->operands[2].string[0] == 'a' && constraint->operands[3].string[0] == 'b', "order");
}

static void test_seventeen(void) {
    static wire in;
    in.size = 0;
    put_array(&in, TM_CONSTRAINTS_MAX + 1);
    CHECK(parse(&in) == TM_TOO_MANY, "17 constraints");
}

/* Every proper prefix is refused, and so is a byte more. */
static void test_cuts(dice *d) {
    static wire in;
    for (int round = 0; round < 200; round++) {
        random_filter(d, &in);
        CHECK(parse(&in) == TM_OK, "whole");
        size_t whole = in.size;
        for (in.size = 0; in.size < whole; in.size += whole > 300 ? 7 : 1) {
            CHECK(parse(&in) == TM_MALFORMED, "cut to %zu of %zu", in.size, whole);
        }
        in.bytes[whole] = 0;
        in.size = whole + 1;
        CHECK(parse(&in) == TM_MALFORMED, "a byte too many is accepted");
    }
}

/* Any bytes at all: no read past the end, and what is taken is within bounds. */
static void test_noise(dice *d) {
    static wire in;
    tm_attribute attributes[TM_ATTRIBUTES_MAX];
    for (int round = 0; round < 20000; round++) {
        bool is_filter = below(d, 2);
        is_filter ? random_filter(d, &in) : random_message(d, &in);
        for (uint32_t flips = below(d, 4); flips > 0; flips--) {
            uint8_t byte = (uint8_t)roll(d);
            in.bytes[below(d, (uint32_t)in.size)] = byte;
        }
        guarded copy = guard(in.bytes, in.size);
        size_t count = 0;
        size_t used = 0;
        if (is_filter) {
            tm_filter_parse(copy.bytes, in.size, &parsed);
        } else if (tm_attributes_decode(copy.bytes, in.size, attributes, &count, &used) == TM_OK) {
            CHECK(count <= TM_ATTRIBUTES_MAX && used <= in.size, "%zu attributes of %zu bytes", count, used);
        }
        unguard(&copy);
    }
}

int main(void) {
    dice d = {2026};
    test_operands();
    test_in_is_a_set();
    test_seventeen();
    test_cuts(&d);
    test_noise(&d);
    return 0;
}
