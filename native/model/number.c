/* number.c - exact comparison of 64-bit integers with floats. Law: see number.h, and filter.h for the comparison.
 *
 * The comparison and the key are two independent implementations of one order; a test compares them.
 */
#include <math.h>
#include <string.h>

#include "model/filter.h"
#include "model/number.h"

#define SIGN ((uint64_t)1 << 63)

/* Casting the integer would round it; the floor of the real is exact. */
static int compare_integer_real(int64_t integer, double real) {
    if (real >= 0x1p63) {
        return -1;
    }
    if (real < -0x1p63) {
        return 1;
    }
    int64_t below = (int64_t)floor(real);
    if (integer != below) {
        return integer < below ? -1 : 1;
    }
    return real > floor(real) ? -1 : 0;
}

int tm_number_compare(int64_t a_integer, double a_real, bool a_is_real, int64_t b_integer, double b_real,
                      bool b_is_real) {
    if (a_is_real && b_is_real) {
        return (a_real > b_real) - (a_real < b_real);
    }
    if (b_is_real) {
        return compare_integer_real(a_integer, b_real);
    }
    if (a_is_real) {
        return -compare_integer_real(b_integer, a_real);
    }
    return (a_integer > b_integer) - (a_integer < b_integer);
}

/* Floats of one sign are ordered like their bits, so 63 bits above the middle place them after the integer that is
 * their floor. Only those below the smallest integer are before the middle: they share its clamped floor. */
static tm_number_key key_of_real(double real) {
    uint64_t bits;
    memcpy(&bits, &real, sizeof bits);
    uint64_t rising = bits & SIGN ? ~bits & ~SIGN : bits;
    if (real < -0x1p63) {
        return (tm_number_key){0, rising};
    }
    int64_t below = real >= 0x1p63 ? INT64_MAX : (int64_t)floor(real);
    return (tm_number_key){(uint64_t)below ^ SIGN, SIGN + rising};
}

tm_number_key tm_number_key_of(int64_t integer, double real, bool is_real) {
    return is_real ? key_of_real(real) : (tm_number_key){(uint64_t)integer ^ SIGN, SIGN};
}

bool tm_number_of_key(tm_number_key key, int64_t *integer, double *real) {
    int64_t below = (int64_t)(key.high ^ SIGN);
    bool is_real = key.low != SIGN;
    uint64_t rising = key.low & ~SIGN;
    uint64_t bits = below < 0 ? ~rising : rising;
    *integer = is_real ? 0 : below;
    *real = 0;
    if (is_real) {
        memcpy(real, &bits, sizeof bits);
    }
    return is_real;
}
