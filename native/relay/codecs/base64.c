/* base64.c - see base64.h. */
#include "relay/codecs/base64.h"

static const uint8_t LETTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

uint8_t *base64_write(uint8_t *at, const uint8_t *bytes, size_t size) {
    size_t i = 0;
    for (; size - i >= 3; i += 3) {
        uint32_t three = (uint32_t)bytes[i] << 16 | (uint32_t)bytes[i + 1] << 8 | bytes[i + 2];
        *at++ = LETTERS[three >> 18];
        *at++ = LETTERS[three >> 12 & 63];
        *at++ = LETTERS[three >> 6 & 63];
        *at++ = LETTERS[three & 63];
    }
    if (i < size) {
        uint32_t rest = (uint32_t)bytes[i] << 16 | (size - i == 2 ? (uint32_t)bytes[i + 1] << 8 : 0);
        *at++ = LETTERS[rest >> 18];
        *at++ = LETTERS[rest >> 12 & 63];
        *at++ = size - i == 2 ? LETTERS[rest >> 6 & 63] : '=';
        *at++ = '=';
    }
    return at;
}

/* Values of letters, and 1 more, so that 0 is no letter. */
#define ROW(first, value) [(first)] = (value) + 1
#define ROWS_3(first, value) ROW(first, value), ROW((first) + 1, (value) + 1), ROW((first) + 2, (value) + 2)
#define ROWS_13(first, value)                                                                                          \
    ROWS_3(first, value), ROWS_3((first) + 3, (value) + 3), ROWS_3((first) + 6, (value) + 6),                          \
        ROWS_3((first) + 9, (value) + 9), ROW((first) + 12, (value) + 12)
static const uint8_t VALUES[256] = {
    ROWS_13('A', 0), ROWS_13('N', 13), ROWS_13('a', 26), ROWS_13('n', 39), ROWS_3('0', 52),
    ROWS_3('3', 55), ROWS_3('6', 58),  ROW('9', 61),     ROW('+', 62),     ROW('/', 63),
};

/* Write the bytes of `count` letters, 2 to 4; false: one is none. */
static inline bool put_bytes(uint8_t *out, const uint8_t *letters, unsigned count) {
    uint32_t bits = 0;
    bool is_sound = true;
    for (unsigned i = 0; i < count; i++) {
        uint32_t value = VALUES[letters[i]];
        is_sound &= value != 0;
        bits |= ((value - 1) & 63) << (18 - 6 * i);
    }
    for (unsigned i = 0; i + 1 < count; i++) {
        out[i] = (uint8_t)(bits >> (16 - 8 * i));
    }
    return is_sound;
}

bool base64_read(uint8_t *text, size_t *size) {
    size_t length = *size;
    unsigned padding = 0;
    uint8_t *out = text;
    size_t i = 0;
    bool is_sound = length % 4 == 0;
    while (is_sound && padding < 2 && length > 0 && text[length - 1] == '=') {
        length--;
        padding++;
    }
    for (; is_sound && length - i >= 4; i += 4) {
        is_sound = put_bytes(out, text + i, 4);
        out += 3;
    }
    if (is_sound && padding > 0) {
        is_sound = put_bytes(out, text + i, 4 - padding);
        out += 3 - padding;
    }
    *size = (size_t)(out - text);
    return is_sound;
}
