/* bits.h - sets of small numbers as bits: number i is bit i % 64 of word i / 64.
 *
 * Law: no function here checks a length; the caller does.
 */
#ifndef TM_BITS_H
#define TM_BITS_H

#include <stdbool.h>
#include <stdint.h>

static inline bool tm_bit_at(const uint64_t *words, uint32_t at) {
    return words[at / 64] >> (at % 64) & 1;
}

static inline void tm_bit_set(uint64_t *words, uint32_t at) {
    words[at / 64] |= UINT64_C(1) << (at % 64);
}

static inline void tm_bit_clear(uint64_t *words, uint32_t at) {
    words[at / 64] &= ~(UINT64_C(1) << (at % 64));
}

/* Return the number of bits set in a word. Written out, because without a popcount instruction the builtin is a call.
 */
static inline uint32_t tm_bit_count(uint64_t word) {
    word -= word >> 1 & UINT64_C(0x5555555555555555);
    word = (word & UINT64_C(0x3333333333333333)) + (word >> 2 & UINT64_C(0x3333333333333333));
    word = (word + (word >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (uint32_t)(word * UINT64_C(0x0101010101010101) >> 56);
}

/* Return the words needed for numbers below `count`. */
static inline uint32_t tm_bit_words(uint32_t count) {
    return count / 64 + (count % 64 != 0);
}

#endif
