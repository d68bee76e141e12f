/* base64.c - see base64.h. */
#include "relay/codecs/base64.h"

static const uint8_t LETTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

#define NO_LETTER 64U

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

static uint32_t letter_value(uint8_t letter) {
    if (letter >= 'A' && letter <= 'Z') {
        return letter - 'A';
    }
    if (letter >= 'a' && letter <= 'z') {
        return letter - 'a' + 26U;
    }
    if (letter >= '0' && letter <= '9') {
        return letter - '0' + 52U;
    }
    return letter == '+' ? 62 : letter == '/' ? 63 : NO_LETTER;
}

bool base64_read(uint8_t *text, size_t *size) {
    size_t length = *size;
    size_t padding = 0;
    uint8_t *out = text;
    if (length % 4 != 0) {
        return false;
    }
    while (padding < 2 && length > 0 && text[length - 1] == '=') {
        length--;
        padding++;
    }
    uint32_t bits = 0;
    for (size_t i = 0; i < length; i++) {
        uint32_t value = letter_value(text[i]);
        if (value == NO_LETTER) {
            return false;
        }
        bits = bits << 6 | value;
        if (i % 4 != 0) { /* of each four letters the first completes no byte */
            *out++ = (uint8_t)(bits >> (6 - 2 * (i % 4)));
        }
    }
    *size = (size_t)(out - text);
    return true;
}
