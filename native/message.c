/* message.c - a message's attributes, read from msgpack bytes without building anything.
 *
 * Law: what is accepted is exactly what ARCHITECTURE calls a well-formed message, in any msgpack spelling of a value
 * (a short integer may come in long form); what is refused is refused before a matcher sees it. Never reads past
 * `end`; allocates nothing.
 */
#include <math.h>
#include <string.h>

#include "tm.h"
#include "utf8.h"

typedef struct cursor {
    const uint8_t *at;
    const uint8_t *end;
} cursor;

static inline size_t remaining(const cursor *c) {
    return (size_t)(c->end - c->at);
}

/* Read `width` big-endian bytes; the caller has checked that they are there. */
static inline uint64_t read_big_endian(cursor *c, unsigned width) {
    uint64_t value = 0;
    for (unsigned i = 0; i < width; i++) {
        value = value << 8 | c->at[i];
    }
    c->at += width;
    return value;
}

static inline bool take_length(cursor *c, unsigned width, uint32_t *length) {
    if (remaining(c) < width) {
        return false;
    }
    *length = (uint32_t)read_big_endian(c, width);
    return true;
}

/* A string header, then its bytes: borrowed, UTF-8 checked. */
static bool read_string(cursor *c, uint32_t bytes_max, const uint8_t **string, uint32_t *length) {
    if (remaining(c) < 1) {
        return false;
    }
    uint8_t tag = *c->at++;
    bool headed = true;
    if ((tag & 0xe0) == 0xa0) {
        *length = tag & 0x1f;
    } else if (tag >= 0xd9 && tag <= 0xdb) {
        headed = take_length(c, 1U << (tag - 0xd9), length);
    } else {
        return false;
    }
    if (!headed || *length > bytes_max || *length > remaining(c) || !tm_utf8_valid(c->at, *length)) {
        return false;
    }
    *string = c->at;
    c->at += *length;
    return true;
}

/* An integral float inside 64 bits becomes that integer, so that 1 and 1.0 are one value from here on. */
static bool set_real(tm_attribute *out, double real) {
    if (!isfinite(real)) {
        return false;
    }
    if (real >= -0x1p63 && real < 0x1p63 && real == floor(real)) {
        out->kind = TM_KIND_INTEGER;
        out->integer = (int64_t)real;
        return true;
    }
    out->kind = TM_KIND_FLOAT;
    out->real = real;
    return true;
}

static bool read_float(cursor *c, unsigned width, tm_attribute *out) {
    if (remaining(c) < width) {
        return false;
    }
    uint64_t bits = read_big_endian(c, width);
    if (width == 4) {
        uint32_t bits32 = (uint32_t)bits;
        float real;
        memcpy(&real, &bits32, sizeof real);
        return set_real(out, (double)real);
    }
    double real;
    memcpy(&real, &bits, sizeof real);
    return set_real(out, real);
}

static bool read_integer(cursor *c, uint8_t tag, tm_attribute *out) {
    bool is_signed = tag >= 0xd0;
    unsigned width = 1U << (tag - (is_signed ? 0xd0 : 0xcc));
    if (remaining(c) < width) {
        return false;
    }
    uint64_t bits = read_big_endian(c, width);
    if (is_signed) {
        unsigned shift = 64 - 8 * width;
        out->integer = (int64_t)(bits << shift) >> shift;
    } else if (bits > INT64_MAX) {
        return false;
    } else {
        out->integer = (int64_t)bits;
    }
    out->kind = TM_KIND_INTEGER;
    return true;
}

static bool read_value(cursor *c, tm_attribute *out) {
    if (remaining(c) < 1) {
        return false;
    }
    uint8_t tag = *c->at;
    if ((tag & 0xe0) == 0xa0 || (tag >= 0xd9 && tag <= 0xdb)) {
        out->kind = TM_KIND_STRING;
        return read_string(c, TM_STRING_BYTES_MAX, &out->string, &out->length);
    }
    c->at++;
    if (tag <= 0x7f || tag >= 0xe0) {
        out->kind = TM_KIND_INTEGER;
        out->integer = (int8_t)tag;
        return true;
    }
    if (tag == 0xc2 || tag == 0xc3) {
        out->kind = TM_KIND_BOOLEAN;
        out->integer = tag & 1;
        return true;
    }
    if (tag == 0xca || tag == 0xcb) {
        return read_float(c, tag == 0xca ? 4 : 8, out);
    }
    return tag >= 0xcc && tag <= 0xd3 && read_integer(c, tag, out);
}

static bool read_map_header(cursor *c, uint32_t *pairs) {
    if (remaining(c) < 1) {
        return false;
    }
    uint8_t tag = *c->at++;
    if ((tag & 0xf0) == 0x80) {
        *pairs = tag & 0x0f;
        return true;
    }
    return (tag == 0xde && take_length(c, 2, pairs)) || (tag == 0xdf && take_length(c, 4, pairs));
}

/* Quadratic in at most 64 names; the lengths differ more often than not, so few bytes are compared. */
static bool names_distinct(const tm_attribute *attributes, size_t count) {
    for (size_t i = 1; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (attributes[i].name_length == attributes[j].name_length &&
                memcmp(attributes[i].name, attributes[j].name, attributes[i].name_length) == 0) {
                return false;
            }
        }
    }
    return true;
}

int tm_attributes_decode(const uint8_t *bytes, size_t size, tm_attribute *out, size_t *count, size_t *used) {
    cursor c = {bytes, bytes + size};
    uint32_t pairs = 0;
    if (!read_map_header(&c, &pairs)) {
        return TM_MALFORMED;
    }
    if (pairs > TM_ATTRIBUTES_MAX) {
        return TM_TOO_MANY;
    }
    for (uint32_t i = 0; i < pairs; i++) {
        uint32_t name_length = 0;
        out[i] = (tm_attribute){0};
        if (!read_string(&c, TM_NAME_BYTES_MAX, &out[i].name, &name_length) || name_length == 0 ||
            !read_value(&c, &out[i])) {
            return TM_MALFORMED;
        }
        out[i].name_length = (uint16_t)name_length;
    }
    if (!names_distinct(out, pairs)) {
        return TM_MALFORMED;
    }
    *count = pairs;
    *used = (size_t)(c.at - bytes);
    return TM_OK;
}
