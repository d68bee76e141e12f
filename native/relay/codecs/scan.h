/* scan.h - the words of JSON, read in place: white space, strings, numbers.
 *
 * Law: exactly RFC 8259, and every string is valid Unicode. A function that returns false has set `code` and `mark`,
 * the place that the refusal is about. Nothing is allocated.
 */
#ifndef TM_RELAY_SCAN_H
#define TM_RELAY_SCAN_H

#include <stdbool.h>

#include "relay/codecs/decimals.h"
#include "tm_relay.h"

typedef struct scan {
    const uint8_t *at; /* borrowed */
    const uint8_t *end;
    const uint8_t *limit; /* of what may be read: at least `end` */
    const uint8_t *mark;
    uint32_t code;
} scan;

/* A string in the text, without its quotes. */
typedef struct scan_string {
    const uint8_t *at; /* borrowed */
    size_t size;
    bool is_escaped;
} scan_string;

static inline bool scan_refuse(scan *s, uint32_t code, const uint8_t *mark) {
    s->code = code;
    s->mark = mark;
    return false;
}

static inline bool scan_is_white(uint8_t byte) {
    return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

static inline void scan_white(scan *s) {
    while (s->at < s->end && scan_is_white(*s->at)) {
        s->at++;
    }
}

/* Step over white space to the next byte, which is then `*byte`; refused if there is none. */
static inline bool scan_next(scan *s, uint8_t *byte) {
    scan_white(s);
    if (s->at == s->end) {
        return scan_refuse(s, TM_JSON_ENDS, s->end);
    }
    *byte = *s->at;
    return true;
}

/* Read the string whose quote is at the cursor; its escapes are not checked. */
bool scan_string_at(scan *s, scan_string *out);

/* The same, with sound escapes. */
bool scan_text(scan *s, scan_string *out);

/* Check the escapes of a string. */
bool scan_escapes(scan *s, const scan_string *string);

/* Write a string whose escapes are sound; return the place behind it. BLOCK_BYTES more than its size must be there. */
uint8_t *scan_unescape(uint8_t *at, const scan_string *string);

/* Read the number at the cursor, which is at `-` or a digit. `*is_float`: it is in `number`, not in `integer`. */
bool scan_number(scan *s, bool *is_float, int64_t *integer, decimal *number);

/* Read the digits of an integer, the whole of `text`; TM_JSON_INTEGER_TEXT or TM_JSON_INTEGER_RANGE, or 0. */
uint32_t scan_integer_text(const uint8_t *text, size_t size, int64_t *integer);

/* Return whether `word` of `size` bytes is at the cursor, and step over it. */
bool scan_word(scan *s, const char *word, size_t size);

/* Return whether a string, whose escapes are sound, is `word`, of at most 16 letters. */
bool scan_is(const scan_string *string, const char *word);

/* Step over the colon behind a key, to the value, whose first byte is then `*byte`. */
bool scan_colon(scan *s, uint8_t *byte);

/* Step into an object, whose brace is at the cursor: `*is_over` if it is empty, else to the quote of its first key. */
bool scan_enter(scan *s, bool *is_over);

/* Go on behind a pair of an object: `*is_over` at its end, else to the quote of the next key. */
bool scan_separator(scan *s, bool *is_over);

#endif
