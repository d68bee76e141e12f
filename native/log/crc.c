/* crc.c - see crc.h.
 *
 * Each CRC step of a processor waits for the previous one, so long pieces are read in three lanes at once, each with
 * its own CRC. A carry-less product then moves the CRCs of the first two lanes over the bytes behind them.
 */
#include "log/crc.h"

#include <stdbool.h>

#include "base/load.h"

#define POLYNOMIAL 0x82f63b78U
#define LANE_BYTES 64U
#define LANES 3U
/* x^(8 n - 33) modulo the polynomial, in its order of bits: moves a CRC over n bytes, for one lane and for two. */
#define OVER_ONE 0x9e4addf8
#define OVER_TWO 0x0d3b6092

static uint32_t by_bits(uint32_t crc, const uint8_t *at, size_t size) {
    for (; size > 0; size--) {
        crc ^= *at++;
        for (unsigned bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (POLYNOMIAL & (0U - (crc & 1)));
        }
    }
    return crc;
}

#if defined(__x86_64__)
typedef long long pair __attribute__((vector_size(16)));

/* Move both CRCs and combine them. */
__attribute__((target("sse4.2,pclmul"))) static uint64_t move(uint64_t first, uint64_t second) {
    pair one = __builtin_ia32_pclmulqdq128((pair){(long long)first, 0}, (pair){OVER_TWO, 0}, 0);
    pair other = __builtin_ia32_pclmulqdq128((pair){(long long)second, 0}, (pair){OVER_ONE, 0}, 0);
    return __builtin_ia32_crc32di(0, (uint64_t)(one[0] ^ other[0]));
}

__attribute__((target("sse4.2,pclmul"))) static uint32_t by_words(uint32_t crc, const uint8_t *at, size_t size) {
    uint64_t wide = crc;
    for (; size >= LANES * LANE_BYTES; size -= LANES * LANE_BYTES, at += LANES * LANE_BYTES) {
        uint64_t second = 0;
        uint64_t third = 0;
        for (const uint8_t *in = at; in < at + LANE_BYTES; in += 8) {
            wide = __builtin_ia32_crc32di(wide, tm_load64(in));
            second = __builtin_ia32_crc32di(second, tm_load64(in + LANE_BYTES));
            third = __builtin_ia32_crc32di(third, tm_load64(in + 2 * LANE_BYTES));
        }
        wide = third ^ move(wide, second);
    }
    for (; size >= 8; size -= 8, at += 8) {
        wide = __builtin_ia32_crc32di(wide, tm_load64(at));
    }
    crc = (uint32_t)wide;
    for (; size > 0; size--) {
        crc = __builtin_ia32_crc32qi(crc, *at++);
    }
    return crc;
}

uint32_t tm_crc(uint32_t before, const void *bytes, size_t size) {
    uint32_t crc = ~before;
    bool has_words = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
    return ~(has_words ? by_words(crc, bytes, size) : by_bits(crc, bytes, size));
}
#else
uint32_t tm_crc(uint32_t before, const void *bytes, size_t size) {
    return ~by_bits(~before, bytes, size);
}
#endif
