/* crc.c - see crc.h. */
#include "log/crc.h"

#include "base/load.h"

#define POLYNOMIAL 0x82f63b78U

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
__attribute__((target("sse4.2"))) static uint32_t by_words(uint32_t crc, const uint8_t *at, size_t size) {
    uint64_t wide = crc;
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
    return ~(__builtin_cpu_supports("sse4.2") ? by_words(crc, bytes, size) : by_bits(crc, bytes, size));
}
#else
uint32_t tm_crc(uint32_t before, const void *bytes, size_t size) {
    return ~by_bits(~before, bytes, size);
}
#endif
