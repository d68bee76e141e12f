/* text.h - JSON written into a buffer of a fixed size.
 *
 * Law: before each part is written there is room for it, or `is_full` is set and nothing more is written. Strings are
 * valid Unicode and escaped so that they hold no newline, are a JavaScript literal, and end no script of HTML: quotes,
 * backslashes, control characters, U+2028, U+2029, and `<` before `/` or `!`.
 */
#ifndef TM_RELAY_TEXT_H
#define TM_RELAY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TEXT_SLACK 80U /* a part without strings is at most so long, with what is stored behind it in passing */

typedef struct text {
    uint8_t *at; /* borrowed */
    uint8_t *end;
    bool is_full;
} text;

/* Return whether TEXT_SLACK bytes are there. */
static inline bool text_has_room(text *t) {
    t->is_full |= (size_t)(t->end - t->at) < TEXT_SLACK;
    return !t->is_full;
}

/* Write a literal of less than TEXT_SLACK bytes. */
#define TEXT_PUT(t, literal) text_put((t), (literal), sizeof(literal) - 1)

static inline void text_put(text *t, const char *bytes, size_t size) {
    if (text_has_room(t)) {
        memcpy(t->at, bytes, size);
        t->at += size;
    }
}

static inline void text_byte(text *t, uint8_t byte) {
    if (text_has_room(t)) {
        *t->at++ = byte;
    }
}

void text_unsigned(text *t, uint64_t number);
void text_integer(text *t, int64_t number);
void text_real(text *t, double real); /* finite */

/* Write bytes as they are. */
void text_bytes(text *t, const uint8_t *bytes, size_t size);

/* Write a string in quotes; `limit`: bytes up to it may be read. false: it is not UTF-8, and what was written is not
 * sound. */
bool text_string(text *t, const uint8_t *string, size_t size, const uint8_t *limit);

/* Write bytes in base64, in quotes. */
void text_base64(text *t, const uint8_t *bytes, size_t size);

/* Write a time in Unix nanoseconds, in quotes, as RFC 3339 has it. */
void text_time(text *t, uint64_t ns);

#endif
