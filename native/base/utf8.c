/* utf8.c - see utf8.h. ASCII, nearly all input, is checked eight bytes at a time. */
#include "base/utf8.h"

#include <string.h>

static inline bool continues(uint8_t byte) {
    return (byte & 0xc0) == 0x80;
}

/* Return the length of the well-formed sequence at `at`, or 0. The second byte's range depends on the first (Unicode
 * table 3-7). */
static size_t sequence_length(const uint8_t *at, size_t left) {
    uint8_t lead = at[0];
    if (lead >= 0xc2 && lead <= 0xdf) {
        return left >= 2 && continues(at[1]) ? 2 : 0;
    }
    if (lead >= 0xe0 && lead <= 0xef) {
        uint8_t low = lead == 0xe0 ? 0xa0 : 0x80;
        uint8_t high = lead == 0xed ? 0x9f : 0xbf;
        return left >= 3 && at[1] >= low && at[1] <= high && continues(at[2]) ? 3 : 0;
    }
    if (lead >= 0xf0 && lead <= 0xf4) {
        uint8_t low = lead == 0xf0 ? 0x90 : 0x80;
        uint8_t high = lead == 0xf4 ? 0x8f : 0xbf;
        return left >= 4 && at[1] >= low && at[1] <= high && continues(at[2]) && continues(at[3]) ? 4 : 0;
    }
    return 0;
}

bool tm_utf8_valid(const uint8_t *bytes, size_t size) {
    size_t i = 0;
    while (i < size) {
        uint64_t word;
        if (size - i >= sizeof word) {
            memcpy(&word, bytes + i, sizeof word);
            if ((word & 0x8080808080808080U) == 0) {
                i += sizeof word;
                continue;
            }
        }
        if (bytes[i] < 0x80) {
            i++;
            continue;
        }
        size_t length = sequence_length(bytes + i, size - i);
        if (length == 0) {
            return false;
        }
        i += length;
    }
    return true;
}
