/* attributes.c - see attributes.h. */
#include "relay/codecs/attributes.h"

#include <math.h>

#include "relay/codecs/pack.h"

/* Read `{"integer": "9007199254740993"}`, whose brace is at the cursor. */
static bool take_integer_text(scan *s, int64_t *integer) {
    const uint8_t *brace = s->at++;
    uint8_t byte;
    scan_string text;
    uint8_t digits[6 * 20 + BLOCK_BYTES];
    if (!scan_next(s, &byte)) {
        return false;
    }
    if (byte != '"') {
        return scan_refuse(s, TM_JSON_OBJECT, brace);
    }
    if (!scan_text(s, &text)) {
        return false;
    }
    if (!scan_is(&text, "integer")) {
        return scan_refuse(s, TM_JSON_OBJECT, brace);
    }
    if (!scan_colon(s, &byte)) {
        return false;
    }
    const uint8_t *value = s->at;
    if (byte != '"') {
        return scan_refuse(s, TM_JSON_INTEGER_TEXT, value);
    }
    if (!scan_text(s, &text)) {
        return false;
    }
    if (text.size > 6 * 20) { /* longer than 20 characters, however they are written */
        return scan_refuse(s, TM_JSON_INTEGER_TEXT, value);
    }
    uint32_t code = scan_integer_text(digits, (size_t)(scan_unescape(digits, &text) - digits), integer);
    if (code != 0) {
        return scan_refuse(s, code, value);
    }
    if (!scan_next(s, &byte)) {
        return false;
    }
    if (byte != '}') {
        return scan_refuse(s, TM_JSON_INTEGER_TEXT, s->at);
    }
    s->at++;
    return true;
}

static bool take_number(scan *s, packing *p) {
    bool is_float;
    int64_t integer;
    decimal number;
    const uint8_t *first = s->at;
    if (!scan_number(s, &is_float, &integer, &number)) {
        return false;
    }
    if (!is_float) {
        p->at = pack_integer(p->at, integer);
        return true;
    }
    double real = decimal_read(&number);
    if (!isfinite(real)) {
        return scan_refuse(s, TM_JSON_FLOAT_RANGE, first);
    }
    p->at = pack_real(p->at, real);
    return true;
}

static bool take_text(scan *s, packing *p) {
    const uint8_t *quote = s->at;
    scan_string string;
    if (!scan_text(s, &string)) {
        return false;
    }
    uint8_t *end = pack_string(p->at, &string, s->limit);
    size_t head = string.size < 32 && !string.is_escaped ? 1 : 5;
    if ((size_t)(end - p->at) > TM_STRING_BYTES_MAX + head) {
        return scan_refuse(s, TM_JSON_STRING_SIZE, quote);
    }
    p->at = end;
    return true;
}

/* Read the value of an attribute, which begins with `byte`. */
static bool take_value(scan *s, packing *p, uint8_t byte) {
    const uint8_t *first = s->at;
    int64_t integer;
    switch (byte) {
    case '"':
        return take_text(s, p);
    case 't':
    case 'f':
        *p->at++ = byte == 't' ? 0xc3 : 0xc2;
        return scan_word(s, byte == 't' ? "true" : "false", byte == 't' ? 4 : 5) ||
               scan_refuse(s, TM_JSON_NO_VALUE, first);
    case 'n':
        return scan_refuse(s, scan_word(s, "null", 4) ? TM_JSON_NULL : TM_JSON_NO_VALUE, first);
    case '[':
        return scan_refuse(s, TM_JSON_ARRAY, first);
    case '{':
        if (!take_integer_text(s, &integer)) {
            return false;
        }
        p->at = pack_integer(p->at, integer);
        return true;
    default:
        return byte == '-' || (byte >= '0' && byte <= '9') ? take_number(s, p)
                                                           : scan_refuse(s, TM_JSON_NO_VALUE, first);
    }
}

static bool take_attribute(scan *s, packing *p) {
    const uint8_t *quote = s->at;
    scan_string string;
    uint8_t byte;
    if (!scan_text(s, &string)) {
        return false;
    }
    if (p->pairs == TM_ATTRIBUTES_MAX) {
        return scan_refuse(s, TM_JSON_TOO_MANY, quote);
    }
    uint8_t *end = pack_string(p->at, &string, s->limit);
    p->name = pack_content(p->at, &p->name_size);
    p->at = end;
    if (p->name_size == 0 || p->name_size > TM_NAME_BYTES_MAX) {
        return scan_refuse(s, TM_JSON_NAME_SIZE, quote);
    }
    if (!names_add(&p->names, p->name, p->name_size)) {
        return scan_refuse(s, TM_JSON_NAME_TWICE, quote);
    }
    p->pairs++;
    return scan_colon(s, &byte) && take_value(s, p, byte);
}

bool attributes_take(scan *s, packing *p) {
    bool is_over;
    if (!scan_enter(s, &is_over)) {
        return false;
    }
    while (!is_over) {
        if (!take_attribute(s, p)) {
            return false;
        }
        p->name_size = 0;
        if (!scan_separator(s, &is_over)) {
            return false;
        }
    }
    return true;
}
