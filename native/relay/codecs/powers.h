/* powers.h - the powers of ten to 128 bits, by which numbers are read and written.
 *
 * Law: of 10^k it has the ceiling of 10^k / 2^(e - 127), where 2^e <= 10^k < 2^(e + 1): its highest bit is set, and it
 * is exact for k from 0 to 55.
 */
#ifndef TM_RELAY_POWERS_H
#define TM_RELAY_POWERS_H

#include <stdint.h>

#define CODEC_POWER_MIN (-342)
#define CODEC_POWER_MAX 324
#define CODEC_POWER_EXACT 55 /* the last one that is */

typedef struct codec_power {
    uint64_t high;
    uint64_t low;
} codec_power;

extern const codec_power CODEC_POWERS[CODEC_POWER_MAX - CODEC_POWER_MIN + 1];

static inline codec_power codec_power_of(int exponent) {
    return CODEC_POWERS[exponent - CODEC_POWER_MIN];
}

#endif
