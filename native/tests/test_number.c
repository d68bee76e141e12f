/* test_number.c - the two ways to the order of numbers agree, and both with numbers known to be in order. */
#include "../number.h"
#include "support.h"

typedef struct number {
    int64_t integer;
    double real;
    bool is_real;
} number;

/* Ascending. */
static const number known[] = {
    {0, -1.7976931348623157e308, true},
    {0, -0x1.0000000000001p63, true},
    {INT64_MIN, 0, false},
    {INT64_MIN + 1, 0, false},
    {-9007199254740993, 0, false},
    {-9007199254740992, 0, false},
    {-2, 0, false},
    {0, -1.5, true},
    {-1, 0, false},
    {0, -0.5, true},
    {0, -1e-300, true},
    {0, -5e-324, true},
    {0, 0, false},
    {0, 5e-324, true},
    {0, 0.5, true},
    {0, 0x1.fffffffffffffp-1, true},
    {1, 0, false},
    {0, 4503599627370495.5, true},
    {4503599627370496, 0, false},
    {9007199254740992, 0, false},
    {9007199254740993, 0, false},
    {INT64_MAX - 1, 0, false},
    {INT64_MAX, 0, false},
    {0, 0x1p63, true},
    {0, 1.7976931348623157e308, true},
};

static int by_key(const number *a, const number *b) {
    tm_number_key x = tm_number_key_of(a->integer, a->real, a->is_real);
    tm_number_key y = tm_number_key_of(b->integer, b->real, b->is_real);
    if (x.high != y.high) {
        return x.high < y.high ? -1 : 1;
    }
    return (x.low > y.low) - (x.low < y.low);
}

static int by_comparison(const number *a, const number *b) {
    return tm_number_compare(a->integer, a->real, a->is_real, b->integer, b->real, b->is_real);
}

int main(void) {
    int count = (int)(sizeof known / sizeof *known);
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < count; j++) {
            int expected = (i > j) - (i < j);
            CHECK(by_key(&known[i], &known[j]) == expected, "keys of %d and %d", i, j);
            CHECK(by_comparison(&known[i], &known[j]) == expected, "%d and %d", i, j);
        }
    }
    return 0;
}
