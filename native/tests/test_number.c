/* test_number.c - the two ways to the order of numbers agree, and both with numbers known to be in order; so do places
 * on the grid. */
#include "model/grid.h"
#include "model/number.h"
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

static void check_back(const number *n, int i) {
    int64_t integer;
    double real;
    bool is_real = tm_number_of_key(tm_number_key_of(n->integer, n->real, n->is_real), &integer, &real);
    CHECK(is_real == n->is_real && integer == n->integer && real == n->real,
          "the key of %d does not give the number back", i);
}

/* Places never fall, and two numbers on the grid never share one. */
static void check_places(const number *a, const number *b, int i) {
    int64_t below = 0;
    int64_t above = 0;
    bool a_on = tm_grid_of_number(a->integer, a->real, a->is_real, &below);
    bool b_on = tm_grid_of_number(b->integer, b->real, b->is_real, &above);
    CHECK(below <= above && !(below == above && b_on), "places of %d and the next", i);
    CHECK(below > INT64_MIN && above < INT64_MAX, "no place beside that of %d", i);
    CHECK(a_on || a->is_real || a->integer > INT64_C(1) << 53 || a->integer < -(INT64_C(1) << 53), "grid of %d", i);
}

static void check_widths(void) {
    CHECK(tm_grid_width(5, 5) == 0 && tm_grid_width(6, 5) == 0 && tm_grid_width(5, 6) == 1, "narrow");
    CHECK(tm_grid_width(INT64_MIN, INT64_MAX) == 64 && tm_grid_width(-8, 7) == 4, "wide");
    CHECK(tm_grid_reach(5, 0) == 5 && tm_grid_reach(5, 3) == -2, "reach");
    CHECK(tm_grid_reach(INT64_MIN + 3, 4) == INT64_MIN && tm_grid_reach(INT64_MAX, 64) == INT64_MIN, "reach far");
    CHECK(tm_grid_of_text((const uint8_t *)"abcdefgh", 8) == tm_grid_of_text((const uint8_t *)"abcdefghi", 9), "text");
    CHECK(tm_grid_of_text((const uint8_t *)"ab", 2) < tm_grid_of_text((const uint8_t *)"b", 1), "order of texts");
}

int main(void) {
    check_widths();
    int count = (int)(sizeof known / sizeof *known);
    for (int i = 0; i < count; i++) {
        check_back(&known[i], i);
        if (i + 1 < count) {
            check_places(&known[i], &known[i + 1], i);
        }
        for (int j = 0; j < count; j++) {
            int expected = (i > j) - (i < j);
            CHECK(by_key(&known[i], &known[j]) == expected, "keys of %d and %d", i, j);
            CHECK(by_comparison(&known[i], &known[j]) == expected, "%d and %d", i, j);
        }
    }
    return 0;
}
