/* block.h - sixteen bytes of a text looked at together.
 *
 * Law: block_of reads nothing behind `limit`.
 */
#ifndef TM_RELAY_BLOCK_H
#define TM_RELAY_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define BLOCK_BYTES 16U

typedef uint8_t block __attribute__((vector_size(BLOCK_BYTES)));

/* Bytes that are found are 0xff, others 0. */
typedef struct block_found {
    uint64_t low;
    uint64_t high;
} block_found;

/* Return the sixteen bytes at `at`, of those that are before `limit`; others are 0. */
static inline block block_of(const uint8_t *at, const uint8_t *limit) {
    block bytes = {0};
    if ((size_t)(limit - at) >= BLOCK_BYTES) {
        memcpy(&bytes, at, BLOCK_BYTES);
    } else {
        memcpy(&bytes, at, (size_t)(limit - at));
    }
    return bytes;
}

static inline block_found block_found_of(block hits) {
    block_found found;
    memcpy(&found, &hits, sizeof found);
    return found;
}

/* Return the place of the first byte that was found; BLOCK_BYTES: there is none. */
static inline unsigned block_first(block_found found) {
    if (found.low != 0) {
        return (unsigned)__builtin_ctzll(found.low) / 8;
    }
    return found.high != 0 ? 8 + (unsigned)__builtin_ctzll(found.high) / 8 : BLOCK_BYTES;
}

/* Return whether one of the first `size` bytes, at most BLOCK_BYTES, is not ASCII. */
static inline bool block_is_wide(block bytes, unsigned size) {
    block_found all = block_found_of(bytes);
    uint64_t low = all.low & UINT64_C(0x8080808080808080);
    uint64_t high = all.high & UINT64_C(0x8080808080808080);
    if (size < 8) {
        return (low & ((UINT64_C(1) << 8 * size) - 1)) != 0;
    }
    return (low | (size == BLOCK_BYTES ? high : high & ((UINT64_C(1) << 8 * (size - 8)) - 1))) != 0;
}

#endif
