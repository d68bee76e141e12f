/* decimals.c - see decimals.h. Floats are read as Lemire does (Number Parsing at a Gigabyte per Second, 2021) and
 * written as Giulietti does (The Schubfach way to render doubles, 2020), by one table of powers of ten. */
#include "relay/codecs/decimals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "relay/codecs/powers.h"
#include "tm_relay.h"

#define MANTISSA_BITS 52
#define EXPONENT_BIAS 1075 /* of the last bit of a mantissa */
#define EXACT_INTEGER (UINT64_C(1) << 53)
#define LONGEST_TEXT (TM_JSON_NUMBER_BYTES_MAX + 32)

typedef unsigned __int128 wide;

static double of_bits(uint64_t bits) {
    double real;
    memcpy(&real, &bits, sizeof real);
    return real;
}

/* ---- reading ---- */

static const double SMALL_POWERS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
#define SMALL_POWER_MAX 22

/* The digits have no point in the text that strtod gets, so that no locale matters. */
static double read_exactly(const decimal *number) {
    char text[LONGEST_TEXT];
    size_t size = 0;
    int64_t exponent = number->exponent;
    unsigned counted = 0;
    for (const uint8_t *at = number->text; at < number->end; at++) {
        if (*at != '.' && (size > 0 || *at != '0')) {
            text[size++] = (char)*at;
            counted++;
            exponent -= counted > 19;
        }
    }
    exponent = exponent > 9999 ? 9999 : exponent < -9999 ? -9999 : exponent;
    text[size++] = 'e';
    text[size++] = exponent < 0 ? '-' : '+';
    size = (size_t)(decimal_write_unsigned((uint8_t *)text + size, (uint64_t)llabs(exponent)) - (uint8_t *)text);
    text[size] = 0;
    return strtod(text, NULL);
}

/* false: the product does not tell which float is the nearest, or it is none of full precision */
static bool read_by_product(uint64_t digits, int power, double *real) {
    codec_power of_ten = codec_power_of(power);
    if (power > CODEC_POWER_EXACT) { /* the floor is wanted in place of the ceiling */
        of_ten.high -= of_ten.low == 0;
        of_ten.low--;
    }
    int zeroes = __builtin_clzll(digits);
    digits <<= zeroes;
    wide product = (wide)digits * of_ten.high;
    uint64_t high = (uint64_t)(product >> 64);
    uint64_t low = (uint64_t)product;
    if ((high & (UINT64_MAX >> (MANTISSA_BITS + 3))) == UINT64_MAX >> (MANTISSA_BITS + 3)) {
        uint64_t more = (uint64_t)(((wide)digits * of_ten.low) >> 64);
        low += more;
        high += more > low;
    }
    if (low == UINT64_MAX && (power < -27 || power > CODEC_POWER_EXACT)) {
        return false;
    }
    int upper = (int)(high >> 63);
    uint64_t mantissa = high >> (upper + 64 - MANTISSA_BITS - 3);
    int exponent = ((217706 * power) >> 16) + 63 + upper - zeroes + 1023;
    if (exponent <= 0 || exponent >= 2046) {
        return false;
    }
    bool is_tie = low <= 1 && power >= -4 && power <= 23 && (mantissa & 3) == 1 &&
                  mantissa << (upper + 64 - MANTISSA_BITS - 3) == high;
    mantissa &= ~(uint64_t)is_tie;
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    if (mantissa >= UINT64_C(2) << MANTISSA_BITS) {
        mantissa = UINT64_C(1) << MANTISSA_BITS;
        exponent++;
    }
    *real = of_bits((mantissa & ~(UINT64_C(1) << MANTISSA_BITS)) | (uint64_t)exponent << MANTISSA_BITS);
    return true;
}

static double read_magnitude(const decimal *number) {
    double real = 0;
    int64_t power = number->exponent;
    if (number->digits == 0) {
        return 0;
    }
    if (number->is_cut || power < CODEC_POWER_MIN || power > 308) {
        return read_exactly(number);
    }
    if (number->digits <= EXACT_INTEGER && power >= -SMALL_POWER_MAX && power <= SMALL_POWER_MAX) {
        real = (double)number->digits;
        return power < 0 ? real / SMALL_POWERS[-power] : real * SMALL_POWERS[power];
    }
    return read_by_product(number->digits, (int)power, &real) ? real : read_exactly(number);
}

double decimal_read(const decimal *number) {
    double real = read_magnitude(number);
    return number->is_negative ? -real : real;
}

/* ---- writing ---- */

static const char PAIRS[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748"
    "49505152535455565758596061626364656667686970717273747576777879808182838485868788899091929394959697"
    "9899";

uint8_t *decimal_write_unsigned(uint8_t *at, uint64_t number) {
    uint8_t text[24];
    size_t first = sizeof text;
    while (number >= 100) {
        first -= 2;
        memcpy(text + first, PAIRS + 2 * (number % 100), 2);
        number /= 100;
    }
    if (number >= 10) {
        first -= 2;
        memcpy(text + first, PAIRS + 2 * number, 2);
    } else {
        text[--first] = (uint8_t)('0' + number);
    }
    memcpy(at, text + first, sizeof text - first);
    return at + (sizeof text - first);
}

uint8_t *decimal_write_integer(uint8_t *at, int64_t number) {
    *at = '-';
    return decimal_write_unsigned(at + (number < 0), number < 0 ? -(uint64_t)number : (uint64_t)number);
}

uint8_t *decimal_write_padded(uint8_t *at, uint32_t number, unsigned width) {
    for (unsigned i = width; i > 0; i--) {
        at[i - 1] = (uint8_t)('0' + number % 10);
        number /= 10;
    }
    return at + width;
}

/* Return the product of a power and `factor`, less 128 bits, its last bit set if any bit below it is. */
static uint64_t product_to_odd(codec_power power, uint64_t factor) {
    wide sum = (wide)power.high * factor + (((wide)power.low * factor) >> 64);
    return (uint64_t)(sum >> 64) | ((uint64_t)sum > 1);
}

static int floor_log2_of_power(int exponent) {
    return (exponent * 1741647) >> 19;
}

/* Return the shortest digits that read back as a float of these bits, and in `*exponent` the power of ten for them. */
static uint64_t shortest(uint64_t mantissa, int biased, int *exponent) {
    uint64_t whole = biased > 0 ? mantissa | UINT64_C(1) << MANTISSA_BITS : mantissa;
    int power = (biased > 0 ? biased : 1) - EXPONENT_BIAS;
    bool is_uneven = whole & 1;
    bool is_closer_below = mantissa == 0 && biased > 1;
    int k = (power * 1262611 - (is_closer_below ? 524031 : 0)) >> 22;
    int shift = power + floor_log2_of_power(-k) + 1;
    codec_power of_ten = codec_power_of(-k);
    uint64_t lower = product_to_odd(of_ten, (4 * whole - 2 + is_closer_below) << shift) + is_uneven;
    uint64_t value = product_to_odd(of_ten, (4 * whole) << shift);
    uint64_t upper = product_to_odd(of_ten, (4 * whole + 2) << shift) - is_uneven;
    uint64_t digits = value / 4;
    if (digits >= 10) {
        uint64_t fewer = digits / 10;
        bool is_below = lower <= 40 * fewer;
        bool is_above = 40 * fewer + 40 <= upper;
        if (is_below != is_above) {
            *exponent = k + 1;
            return fewer + is_above;
        }
    }
    bool is_below = lower <= 4 * digits;
    bool is_above = 4 * digits + 4 <= upper;
    *exponent = k;
    if (is_below != is_above) {
        return digits + is_above;
    }
    uint64_t middle = 4 * digits + 2;
    return digits + (value > middle || (value == middle && (digits & 1) != 0));
}

/* Write digits * 10^exponent as Python does: with an exponent below 1e-4 and from 1e16 on. */
static uint8_t *write_digits(uint8_t *at, uint64_t digits, int exponent) {
    uint8_t text[24];
    while (digits % 10 == 0 && digits != 0) {
        digits /= 10;
        exponent++;
    }
    int count = (int)(decimal_write_unsigned(text, digits) - text);
    int point = count + exponent; /* digits before the point */
    if (point > 16 || point < -3) {
        *at++ = text[0];
        if (count > 1) {
            *at++ = '.';
            memcpy(at, text + 1, (size_t)count - 1);
            at += count - 1;
        }
        *at++ = 'e';
        *at++ = point > 0 ? '+' : '-';
        uint64_t shown = (uint64_t)abs(point - 1);
        *at = '0';
        return decimal_write_unsigned(at + (shown < 10), shown);
    }
    if (point <= 0) {
        memcpy(at, "0.000", 5);
        at += 2 - point;
        memcpy(at, text, (size_t)count);
        return at + count;
    }
    if (count <= point) {
        memcpy(at, text, (size_t)count);
        memset(at + count, '0', (size_t)(point - count));
        memcpy(at + point, ".0", 2);
        return at + point + 2;
    }
    memcpy(at, text, (size_t)point);
    at[point] = '.';
    memcpy(at + point + 1, text + point, (size_t)(count - point));
    return at + count + 1;
}

uint8_t *decimal_write(uint8_t *at, double real) {
    uint64_t bits;
    memcpy(&bits, &real, sizeof bits);
    *at = '-';
    at += bits >> 63;
    uint64_t mantissa = bits & ((UINT64_C(1) << MANTISSA_BITS) - 1);
    int biased = (int)(bits >> MANTISSA_BITS & 0x7ff);
    if (mantissa == 0 && biased == 0) {
        memcpy(at, "0.0", 3);
        return at + 3;
    }
    double size = fabs(real);
    if (size < (double)EXACT_INTEGER && size == floor(size)) {
        at = decimal_write_unsigned(at, (uint64_t)size);
        memcpy(at, ".0", 2);
        return at + 2;
    }
    int exponent = 0;
    uint64_t digits = shortest(mantissa, biased, &exponent);
    return write_digits(at, digits, exponent);
}
