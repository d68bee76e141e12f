/* hash.h - one keyed hash for every table of native/, fast on the short strings that names and words are.
 *
 * Law: every byte of the input counts, and every factor of every product has a secret in it, so that an attacker who
 * has read this but does not know the key cannot choose two colliding inputs, at any length (docs/decisions/0008).
 * Equal bytes give equal heads, and for at most 16 bytes (head.low, head.high, length) are equal only for equal bytes,
 * so that short names are compared without touching their bytes.
 */
#ifndef TM_HASH_H
#define TM_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/load.h"

#define TM_INLINE_BYTES 16

/* The secret of a keyed hash, which must not be known outside; each user holds its own copy. */
typedef struct tm_hash_key {
    uint64_t low;
    uint64_t high;
    uint64_t factor; /* odd */
} tm_hash_key;

typedef struct tm_head {
    uint64_t low;
    uint64_t high;
} tm_head;

/* Return the first and the last eight bytes (overlapping if there are fewer than sixteen); for four to seven bytes
 * their halves twice, so that one path without a jump serves the lengths that names have. Reads only bytes[0 .. size).
 */
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

/* Return both halves of the product, xored; an outsider must not choose a whole factor. */
static inline uint64_t tm_fold(uint64_t a, uint64_t b) {
    __uint128_t product = (__uint128_t)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Hash two words and a small number, such as a size or a kind. There is a second product because with one factor fixed
 * the first is linear, so that an outsider may choose evenly spaced results. */
static inline uint64_t tm_hash_words(uint64_t first, uint64_t second, uint64_t third, const tm_hash_key *key) {
    return tm_fold(tm_fold(first ^ key->low, second ^ key->high) ^ third, key->factor);
}

static inline uint64_t tm_hash_u64(uint64_t word, const tm_hash_key *key) {
    return tm_hash_words(word, 0, 0, key);
}

/* Hash at most TM_INLINE_BYTES bytes, which are all in the head. */
static inline uint64_t tm_hash_head(tm_head head, size_t size, const tm_hash_key *key) {
    return tm_hash_words(head.low, head.high, size, key);
}

/* Hash more than TM_INLINE_BYTES bytes (hash.c). */
uint64_t tm_hash_long(const uint8_t *bytes, size_t size, const tm_hash_key *key);

/* Hash bytes of which `head` is the head. */
static inline uint64_t tm_hash_headed(tm_head head, const uint8_t *bytes, size_t size, const tm_hash_key *key) {
    return __builtin_expect(size <= TM_INLINE_BYTES, 1) ? tm_hash_head(head, size, key)
                                                        : tm_hash_long(bytes, size, key);
}

static inline uint64_t tm_hash_text(const uint8_t *bytes, size_t size, const tm_hash_key *key) {
    return tm_hash_headed(tm_head_of(bytes, size), bytes, size, key);
}

/* Return the key of a seed (hash.c); seeds that differ in one bit give unrelated keys. */
tm_hash_key tm_hash_key_of(uint64_t seed);

#endif
