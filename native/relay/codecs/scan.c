/* scan.c - see scan.h. */
#include "relay/codecs/scan.h"

#include "base/utf8.h"
#include "relay/codecs/block.h"

/* ---- strings ---- */

/* Return the place of the first byte that is not valid UTF-8; the string has one. */
static const uint8_t *first_invalid(const uint8_t *at, size_t size) {
    size_t sound = 0; /* a prefix that is valid */
    for (size_t i = 1; i <= size; i++) {
        if (tm_utf8_valid(at + sound, i - sound)) {
            sound = i;
        } else if (i - sound == 4) { /* no character is longer */
            break;
        }
    }
    return at + sound;
}

bool scan_string_at(scan *s, scan_string *out) {
    const uint8_t *first = s->at + 1;
    const uint8_t *at = first;
    bool is_wide = false;
    out->is_escaped = false;
    for (;;) {
        if (at >= s->end) {
            return scan_refuse(s, TM_JSON_ENDS, s->end);
        }
        block bytes = block_of(at, s->limit);
        unsigned place = block_first(block_found_of((bytes < 0x20) | (bytes == '"') | (bytes == '\\')));
        is_wide |= block_is_wide(bytes, place);
        at += place;
        if (place == BLOCK_BYTES) {
            continue;
        }
        if (at >= s->end) {
            return scan_refuse(s, TM_JSON_ENDS, s->end);
        }
        if (*at == '"') {
            break;
        }
        if (*at != '\\') {
            return scan_refuse(s, TM_JSON_CONTROL, at);
        }
        out->is_escaped = true;
        if (s->end - at < 2) {
            return scan_refuse(s, TM_JSON_ENDS, s->end);
        }
        is_wide |= at[1] >= 0x80;
        at += 2;
    }
    out->at = first;
    out->size = (size_t)(at - first);
    s->at = at + 1;
    if (is_wide && !tm_utf8_valid(first, out->size)) {
        return scan_refuse(s, TM_JSON_UTF8, first_invalid(first, out->size));
    }
    return true;
}

static int hex_digit(uint8_t byte) {
    if (byte >= '0' && byte <= '9') {
        return byte - '0';
    }
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* Return the number in the four digits of `\uXXXX` at `at`, or -1. */
static int unit_at(const uint8_t *at, const uint8_t *end) {
    int unit = 0;
    if (end - at < 6 || at[0] != '\\' || at[1] != 'u') {
        return -1;
    }
    for (unsigned i = 2; i < 6; i++) {
        int digit = hex_digit(at[i]);
        if (digit < 0) {
            return -1;
        }
        unit = unit << 4 | digit;
    }
    return unit;
}

static bool is_high(int unit) {
    return unit >= 0xd800 && unit <= 0xdbff;
}

static bool is_low(int unit) {
    return unit >= 0xdc00 && unit <= 0xdfff;
}

/* What a letter behind a backslash stands for; 0: nothing. */
static uint8_t plain_escape(uint8_t letter) {
    switch (letter) {
    case '"':
    case '\\':
    case '/':
        return letter;
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    default:
        return 0;
    }
}

bool scan_escapes(scan *s, const scan_string *string) {
    const uint8_t *end = string->at + string->size;
    const uint8_t *at = string->at;
    if (!string->is_escaped) {
        return true;
    }
    while ((at = memchr(at, '\\', (size_t)(end - at))) != NULL) {
        if (plain_escape(at[1]) != 0) {
            at += 2;
            continue;
        }
        int unit = unit_at(at, end);
        if (unit < 0) {
            return scan_refuse(s, TM_JSON_ESCAPE, at);
        }
        if (is_low(unit) || (is_high(unit) && !is_low(unit_at(at + 6, end)))) {
            return scan_refuse(s, TM_JSON_SURROGATE, at);
        }
        at += is_high(unit) ? 12 : 6;
    }
    return true;
}

static uint8_t *put_character(uint8_t *at, uint32_t character) {
    if (character < 0x80) {
        *at++ = (uint8_t)character;
        return at;
    }
    if (character < 0x800) {
        *at++ = (uint8_t)(0xc0 | character >> 6);
    } else {
        if (character < 0x10000) {
            *at++ = (uint8_t)(0xe0 | character >> 12);
        } else {
            *at++ = (uint8_t)(0xf0 | character >> 18);
            *at++ = (uint8_t)(0x80 | (character >> 12 & 0x3f));
        }
        *at++ = (uint8_t)(0x80 | (character >> 6 & 0x3f));
    }
    *at++ = (uint8_t)(0x80 | (character & 0x3f));
    return at;
}

uint8_t *scan_unescape(uint8_t *at, const scan_string *string) {
    const uint8_t *from = string->at;
    const uint8_t *end = from + string->size;
    while (from < end) {
        const uint8_t *escape = string->is_escaped ? memchr(from, '\\', (size_t)(end - from)) : NULL;
        size_t plain = (size_t)((escape == NULL ? end : escape) - from);
        memcpy(at, from, plain);
        at += plain;
        from += plain;
        if (escape == NULL) {
            break;
        }
        if (from[1] != 'u') {
            *at++ = plain_escape(from[1]);
            from += 2;
            continue;
        }
        int unit = unit_at(from, end);
        from += 6;
        if (is_high(unit)) {
            unit = 0x10000 + ((unit - 0xd800) << 10) + (unit_at(from, end) - 0xdc00);
            from += 6;
        }
        at = put_character(at, (uint32_t)unit);
    }
    return at;
}

/* ---- numbers ---- */

static inline bool is_digit(uint8_t byte) {
    return byte >= '0' && byte <= '9';
}

static bool may_be_in_number(uint8_t byte) {
    return is_digit(byte) || byte == '-' || byte == '+' || byte == '.' || byte == 'e' || byte == 'E';
}

static bool refuse_number(scan *s, const uint8_t *first) {
    const uint8_t *at = first;
    while (at < s->end && may_be_in_number(*at)) {
        at++;
    }
    return scan_refuse(s, at - first > TM_JSON_NUMBER_BYTES_MAX ? TM_JSON_NUMBER_LONG : TM_JSON_NUMBER, first);
}

/* Take digits; false: there is none. Of those that count, 19 go into `number`. */
static bool take_digits(const uint8_t **at, const uint8_t *end, decimal *number, unsigned *counted, bool is_fraction) {
    const uint8_t *from = *at;
    const uint8_t *here = from;
    for (; here < end && is_digit(*here); here++) {
        if (*counted > 0 || *here != '0') {
            if (++*counted > 19) {
                number->is_cut |= *here != '0';
                number->exponent += !is_fraction;
                continue;
            }
            number->digits = number->digits * 10 + (uint64_t)(*here - '0');
        }
        number->exponent -= is_fraction;
    }
    *at = here;
    return here > from;
}

static bool take_exponent(const uint8_t **at, const uint8_t *end, decimal *number) {
    const uint8_t *here = *at + 1;
    bool is_below = here < end && *here == '-';
    int64_t exponent = 0;
    here += here < end && (*here == '-' || *here == '+');
    const uint8_t *first = here;
    for (; here < end && is_digit(*here); here++) {
        exponent = exponent < 100000 ? exponent * 10 + (*here - '0') : exponent;
    }
    number->exponent += is_below ? -exponent : exponent;
    *at = here;
    return here > first;
}

/* Return whether the integer that was read fits in 64 bits. */
static bool fits(const decimal *number, unsigned counted) {
    return counted <= 19 && number->digits <= (uint64_t)INT64_MAX + number->is_negative;
}

static int64_t signed_of(const decimal *number) {
    return (int64_t)(number->is_negative ? -number->digits : number->digits);
}

bool scan_number(scan *s, bool *is_float, int64_t *integer, decimal *number) {
    const uint8_t *first = s->at;
    const uint8_t *at = first;
    unsigned counted = 0;
    *number = (decimal){.is_negative = *at == '-'};
    at += number->is_negative;
    number->text = at;
    bool is_zero = at < s->end && *at == '0';
    bool is_sound = take_digits(&at, s->end, number, &counted, false) && (!is_zero || at - number->text == 1);
    *is_float = false;
    if (is_sound && at < s->end && *at == '.') {
        *is_float = true;
        at++;
        is_sound = take_digits(&at, s->end, number, &counted, true);
    }
    number->end = at;
    if (is_sound && at < s->end && (*at == 'e' || *at == 'E')) {
        *is_float = true;
        is_sound = take_exponent(&at, s->end, number);
    }
    if (!is_sound || (at < s->end && may_be_in_number(*at))) {
        return refuse_number(s, first);
    }
    if (at - first > TM_JSON_NUMBER_BYTES_MAX) {
        return scan_refuse(s, TM_JSON_NUMBER_LONG, first);
    }
    s->at = at;
    *integer = signed_of(number);
    return *is_float || fits(number, counted) || scan_refuse(s, TM_JSON_INTEGER_RANGE, first);
}

uint32_t scan_integer_text(const uint8_t *text, size_t size, int64_t *integer) {
    const uint8_t *at = text;
    const uint8_t *end = text + size;
    unsigned counted = 0;
    decimal number = {.is_negative = size > 0 && *text == '-'};
    at += number.is_negative;
    const uint8_t *first = at;
    if (!take_digits(&at, end, &number, &counted, false) || at != end || (*first == '0' && at - first > 1)) {
        return TM_JSON_INTEGER_TEXT;
    }
    *integer = signed_of(&number);
    return fits(&number, counted) ? 0 : TM_JSON_INTEGER_RANGE;
}

/* ---- words and marks ---- */

bool scan_word(scan *s, const char *word, size_t size) {
    bool is_there = (size_t)(s->end - s->at) >= size && memcmp(s->at, word, size) == 0;
    s->at += is_there ? size : 0;
    return is_there;
}

bool scan_is(const scan_string *string, const char *word) {
    uint8_t text[6 * 16 + BLOCK_BYTES]; /* each of 16 letters may be escaped */
    size_t size = strlen(word);
    if (!string->is_escaped) {
        return string->size == size && memcmp(string->at, word, size) == 0;
    }
    return string->size <= 6 * size && (size_t)(scan_unescape(text, string) - text) == size &&
           memcmp(text, word, size) == 0;
}

bool scan_text(scan *s, scan_string *out) {
    return scan_string_at(s, out) && scan_escapes(s, out);
}

bool scan_colon(scan *s, uint8_t *byte) {
    if (!scan_next(s, byte)) {
        return false;
    }
    if (*byte != ':') {
        return scan_refuse(s, TM_JSON_NO_COLON, s->at);
    }
    s->at++;
    return scan_next(s, byte);
}

bool scan_enter(scan *s, bool *is_over) {
    uint8_t byte;
    s->at++;
    if (!scan_next(s, &byte)) {
        return false;
    }
    *is_over = byte == '}';
    if (*is_over) {
        s->at++;
        return true;
    }
    return byte == '"' || scan_refuse(s, TM_JSON_NO_KEY, s->at);
}

bool scan_separator(scan *s, bool *is_over) {
    uint8_t byte;
    if (!scan_next(s, &byte)) {
        return false;
    }
    if (byte != ',' && byte != '}') {
        return scan_refuse(s, TM_JSON_NO_COMMA, s->at);
    }
    s->at++;
    *is_over = byte == '}';
    if (*is_over) {
        return true;
    }
    return scan_next(s, &byte) && (byte == '"' || scan_refuse(s, TM_JSON_NO_KEY, s->at));
}
