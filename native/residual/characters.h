/* characters.h - the characters of a valid text, one after the other in both directions.
 *
 * Law: every function requires valid UTF-8 and a place where a character begins (or ends).
 */
#ifndef TM_CHARACTERS_H
#define TM_CHARACTERS_H

#include <stdbool.h>
#include <stdint.h>

static inline bool character_begins(uint8_t byte) {
    return (byte & 0xc0) != 0x80;
}

/* Return the bytes of the character with this first byte. */
static inline uint32_t character_size(uint8_t lead) {
    return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/* Return the character at `*at`, which is moved behind it. */
static inline uint32_t character_next(const uint8_t *text, uint32_t *at) {
    uint8_t lead = text[*at];
    uint32_t size = character_size(lead);
    uint32_t character = size == 1 ? lead : lead & (0x7fU >> size);
    for (uint32_t i = 1; i < size; i++) {
        character = character << 6 | (text[*at + i] & 0x3fU);
    }
    *at += size;
    return character;
}

/* Return the character that ends at `*at`, which is moved in front of it. */
static inline uint32_t character_before(const uint8_t *text, uint32_t *at) {
    do {
        (*at)--;
    } while (!character_begins(text[*at]));
    uint32_t from = *at;
    return character_next(text, &from);
}

static inline uint32_t character_bytes(uint32_t character) {
    return character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
}

/* Write a character, and return its bytes. */
static inline uint32_t character_write(uint32_t character, uint8_t *out) {
    static const uint8_t LEADS[] = {0, 0, 0xc0, 0xe0, 0xf0};
    uint32_t size = character_bytes(character);
    for (uint32_t i = size - 1; i > 0; i--) {
        out[i] = (uint8_t)(0x80 | (character & 0x3f));
        character >>= 6;
    }
    out[0] = (uint8_t)(LEADS[size] | character);
    return size;
}

/* Return how many characters a text has. */
static inline uint32_t character_count(const uint8_t *text, uint32_t length) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < length; i++) {
        count += character_begins(text[i]);
    }
    return count;
}

/* Return where the character of this number begins, from 0; the length for the one behind the last. */
static inline uint32_t character_place(const uint8_t *text, uint32_t length, uint32_t number) {
    uint32_t at = 0;
    while (number > 0 && at < length) {
        at += character_size(text[at]);
        number--;
    }
    return at;
}

#endif
