/* words.h - the bytes of a short string as two words, to be looked at together.
 *
 * Law: sixteen bytes are read whatever the size is; the caller has seen to it that they are there.
 */
#ifndef TM_WORDS_H
#define TM_WORDS_H

#include <stdbool.h>

#include "hash.h"

#define WORDS_BYTES 16U

typedef struct words {
    uint64_t low;
    uint64_t high;
} words;

/* The first n bytes of a word. */
static const uint64_t WORDS_FIRST[9] = {
    0, 0xff, 0xffff, 0xffffff, 0xffffffff, 0xffffffffff, 0xffffffffffff, 0xffffffffffffff, UINT64_MAX,
};

/* Ones in the first `size` bytes, at most sixteen. */
static inline words words_mask(uint32_t size) {
    uint32_t low = size < 8 ? size : 8;
    return (words){WORDS_FIRST[low], WORDS_FIRST[size - low]};
}

/* `size` bytes, zeroes behind them. */
static inline words words_at(const uint8_t *bytes, uint32_t size) {
    words mask = words_mask(size);
    return (words){tm_load64(bytes) & mask.low, tm_load64(bytes + 8) & mask.high};
}

static inline bool words_are_ascii(words text) {
    return ((text.low | text.high) & UINT64_C(0x8080808080808080)) == 0;
}

#endif
