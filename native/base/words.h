/* words.h - the bytes of a short string as two words, which are compared together.
 *
 * Law: sixteen bytes are read whatever the size is; the caller provides for them.
 */
#ifndef TM_WORDS_H
#define TM_WORDS_H

#include <stdbool.h>

#include "base/hash.h"

#define WORDS_BYTES 16U

typedef struct words {
    uint64_t low;
    uint64_t high;
} words;

/* A mask of the first n bytes of a word, from 0 to 8. */
#define WORDS_LOW(n) ((n) == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * ((n) % 8)) - 1)
#define WORDS_ROW(n) {WORDS_LOW((n) < 8 ? (n) : 8), WORDS_LOW((n) < 8 ? 0 : (n) - 8)}

/* Return a mask of the first `size` bytes. */
static inline words words_mask(uint32_t size) {
    static const words MASKS[WORDS_BYTES + 1] = {
        WORDS_ROW(0),  WORDS_ROW(1),  WORDS_ROW(2),  WORDS_ROW(3),  WORDS_ROW(4),  WORDS_ROW(5),
        WORDS_ROW(6),  WORDS_ROW(7),  WORDS_ROW(8),  WORDS_ROW(9),  WORDS_ROW(10), WORDS_ROW(11),
        WORDS_ROW(12), WORDS_ROW(13), WORDS_ROW(14), WORDS_ROW(15), WORDS_ROW(16),
    };
    return MASKS[size];
}

/* Return `size` bytes, with zeroes behind them. */
static inline words words_at(const uint8_t *bytes, uint32_t size) {
    words mask = words_mask(size);
    return (words){tm_load64(bytes) & mask.low, tm_load64(bytes + 8) & mask.high};
}

static inline bool words_are_ascii(words text) {
    return ((text.low | text.high) & UINT64_C(0x8080808080808080)) == 0;
}

#endif
