/* decimals.h - floats from decimal digits and back, and integers as digits.
 *
 * Law: what is read is the float nearest to the digits, ties to even; what is written is the shortest text that reads
 * back as the same float, of those the nearest, and never looks like an integer. No locale matters.
 */
#ifndef TM_RELAY_DECIMALS_H
#define TM_RELAY_DECIMALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DECIMAL_BYTES_MAX 32U /* of a number that is written */

/* A number as it stands in a text: sign, digits, and a power of ten for the last of them. */
typedef struct decimal {
    const uint8_t *text; /* borrowed: the digits, a point among them perhaps */
    const uint8_t *end;  /* of the digits */
    uint64_t digits;     /* the first 19 that count */
    int64_t exponent;    /* of the last of these */
    bool is_negative;
    bool is_cut; /* there are more digits */
} decimal;

/* Return the float; infinity: it is beyond the largest one. */
double decimal_read(const decimal *number);

/* Each returns the place behind what it wrote; DECIMAL_BYTES_MAX must be there. */
uint8_t *decimal_write(uint8_t *at, double real); /* finite */
uint8_t *decimal_write_unsigned(uint8_t *at, uint64_t number);
uint8_t *decimal_write_integer(uint8_t *at, int64_t number);
uint8_t *decimal_write_padded(uint8_t *at, uint32_t number, unsigned width); /* with zeroes in front */

#endif
