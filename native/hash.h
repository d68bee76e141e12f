/* hash.h - one hash for every table of native/: fast on the short strings that names and words are.
 *
 * Law: equal bytes give equal heads, and for at most 16 bytes (head.low, head.high, length) are equal only for equal
 * bytes, so that short names are compared without touching their bytes. `seed` keeps a peer from choosing collisions.
 */
#ifndef TM_HASH_H
#define TM_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "load.h"

#define TM_INLINE_BYTES 16

typedef struct tm_head {
    uint64_t low;
    uint64_t high;
} tm_head;

/* The first and the last eight bytes (overlapping where there are fewer than sixteen); of four to seven bytes their
 * halves twice, so that one path without a jump serves the lengths that names have. Reads only bytes[0 .. size). */
static inline tm_head tm_head_of(const uint8_t *bytes, size_t size) {
    if (__builtin_expect(size >= 4, 1)) {
        size_t half = size >> 3 != 0 ? 4 : 0;
        const uint8_t *last = bytes + size - 4;
        return (tm_head){tm_load32(bytes) | (uint64_t)tm_load32(bytes + half) << 32,
                         tm_load32(last - half) | (uint64_t)tm_load32(last) << 32};
    }
    if (size == 0) {
        return (tm_head){0, 0};
    }
    return (tm_head){(uint64_t)bytes[0] | (uint64_t)bytes[size / 2] << 8 | (uint64_t)bytes[size - 1] << 16, 0};
}

static inline uint64_t tm_mix(uint64_t a, uint64_t b) {
    __uint128_t product = (__uint128_t)(a ^ 0x9e3779b97f4a7c15U) * (b ^ 0xe7037ed1a0b428dbU);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t tm_hash_head(tm_head head, size_t size, uint64_t seed) {
    return tm_mix(head.low ^ seed, head.high ^ (size * 0x8ebc6af09c88c6e3U));
}

static inline uint64_t tm_hash_text(const uint8_t *bytes, size_t size, uint64_t seed) {
    uint64_t hash = tm_hash_head(tm_head_of(bytes, size), size, seed);
    for (size_t at = 8; at + 8 < size; at += 8) {
        hash = tm_mix(hash ^ tm_load64(bytes + at), 0x589965cc75374cc3U);
    }
    return hash;
}

static inline uint64_t tm_hash_u64(uint64_t word, uint64_t seed) {
    uint64_t hash = (word ^ seed) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 32;
    hash *= 0xd6e8feb86659fd93U;
    return hash ^ hash >> 32;
}

#endif
