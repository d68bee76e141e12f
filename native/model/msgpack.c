/* msgpack.c - reading msgpack. Law: see msgpack.h. */
#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "model/msgpack.h"

static inline size_t remaining(const tm_cursor *cursor) {
    return (size_t)(cursor->end - cursor->at);
}

/* Read `width` big-endian bytes; the caller checks that they are present. */
static inline uint64_t read_big_endian(tm_cursor *cursor, unsigned width) {
    uint64_t value = 0;
    for (unsigned i = 0; i < width; i++) {
        value = value << 8 | cursor->at[i];
    }
    cursor->at += width;
    return value;
}

static inline bool take_length(tm_cursor *cursor, unsigned width, uint32_t *length) {
    if (remaining(cursor) < width) {
        return false;
    }
    *length = (uint32_t)read_big_endian(cursor, width);
    return true;
}

/* Read a short header with the count in four bits of the tag `fix`, or one with the tag `wide` or `wide` + 1. */
static bool read_header(tm_cursor *cursor, uint8_t fix, uint8_t wide, uint32_t *count) {
    if (remaining(cursor) < 1) {
        return false;
    }
    uint8_t tag = *cursor->at++;
    if ((tag & 0xf0) == fix) {
        *count = tag & 0x0f;
        return true;
    }
    return (tag == wide && take_length(cursor, 2, count)) || (tag == wide + 1 && take_length(cursor, 4, count));
}

bool tm_read_array(tm_cursor *cursor, uint32_t *count) {
    return read_header(cursor, 0x90, 0xdc, count);
}

bool tm_read_map(tm_cursor *cursor, uint32_t *pairs) {
    return read_header(cursor, 0x80, 0xde, pairs);
}

bool tm_read_string(tm_cursor *cursor, uint32_t bytes_max, const uint8_t **string, uint32_t *length) {
    if (remaining(cursor) < 1) {
        return false;
    }
    uint8_t tag = *cursor->at++;
    if ((tag & 0xe0) == 0xa0) {
        *length = tag & 0x1f;
    } else if (tag < 0xd9 || tag > 0xdb || !take_length(cursor, 1U << (tag - 0xd9), length)) {
        return false;
    }
    if (*length > bytes_max || *length > remaining(cursor) || !tm_utf8_valid(cursor->at, *length)) {
        return false;
    }
    *string = cursor->at;
    cursor->at += *length;
    return true;
}

static bool set_real(tm_value *out, double real) {
    if (!isfinite(real)) {
        return false;
    }
    if (real >= -0x1p63 && real < 0x1p63 && real == floor(real)) {
        out->kind = TM_KIND_INTEGER;
        out->integer = (int64_t)real;
    } else {
        out->kind = TM_KIND_FLOAT;
        out->real = real;
    }
    return true;
}

static bool read_float(tm_cursor *cursor, unsigned width, tm_value *out) {
    if (remaining(cursor) < width) {
        return false;
    }
    uint64_t bits = read_big_endian(cursor, width);
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

/* Tags cc..cf are unsigned, d0..d3 signed, of 1, 2, 4 and 8 bytes. */
static bool read_integer(tm_cursor *cursor, uint8_t tag, tm_value *out) {
    bool is_signed = tag >= 0xd0;
    unsigned width = 1U << (tag - (is_signed ? 0xd0 : 0xcc));
    if (remaining(cursor) < width) {
        return false;
    }
    uint64_t bits = read_big_endian(cursor, width);
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

bool tm_read_value(tm_cursor *cursor, uint32_t string_bytes_max, tm_value *out) {
    *out = (tm_value){0};
    if (remaining(cursor) < 1) {
        return false;
    }
    uint8_t tag = *cursor->at;
    if ((tag & 0xe0) == 0xa0 || (tag >= 0xd9 && tag <= 0xdb)) {
        out->kind = TM_KIND_STRING;
        return tm_read_string(cursor, string_bytes_max, &out->string, &out->length);
    }
    cursor->at++;
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
        return read_float(cursor, tag == 0xca ? 4 : 8, out);
    }
    return tag >= 0xcc && tag <= 0xd3 && read_integer(cursor, tag, out);
}

bool tm_read_integer(tm_cursor *cursor, int64_t *integer) {
    tm_value value;
    bool is_float = remaining(cursor) > 0 && (*cursor->at == 0xca || *cursor->at == 0xcb);
    if (is_float || !tm_read_value(cursor, 0, &value) || value.kind != TM_KIND_INTEGER) {
        return false;
    }
    *integer = value.integer;
    return true;
}

bool tm_read_binary(tm_cursor *cursor, const uint8_t **bytes, uint32_t *size) {
    if (remaining(cursor) < 1) {
        return false;
    }
    uint8_t tag = *cursor->at++;
    if (tag < 0xc4 || tag > 0xc6 || !take_length(cursor, 1U << (tag - 0xc4), size) || *size > remaining(cursor)) {
        return false;
    }
    *bytes = cursor->at;
    cursor->at += *size;
    return true;
}

/* ---- skipping values ---- */

static bool pass(tm_cursor *cursor, uint64_t size) {
    if (size > remaining(cursor)) {
        return false;
    }
    cursor->at += size;
    return true;
}

static bool skip_items(tm_cursor *cursor, uint64_t count, unsigned depth) {
    if (depth == 0 || count > remaining(cursor)) {
        return false;
    }
    for (; count > 0; count--) {
        if (!tm_skip(cursor, depth - 1)) {
            return false;
        }
    }
    return true;
}

/* Skip a length of `width` bytes, as many bytes as it says, and `more`. */
static bool skip_sized(tm_cursor *cursor, unsigned width, uint32_t more) {
    uint32_t size;
    return take_length(cursor, width, &size) && pass(cursor, (uint64_t)size + more);
}

static bool skip_collection(tm_cursor *cursor, uint8_t tag, unsigned depth) {
    uint32_t count;
    bool is_map = tag >= 0xde;
    return take_length(cursor, tag & 1 ? 4 : 2, &count) &&
           skip_items(cursor, is_map ? 2 * (uint64_t)count : count, depth);
}

bool tm_skip(tm_cursor *cursor, unsigned depth) {
    static const uint8_t FIXED[] = {4, 8, 1, 2, 4, 8, 1, 2,
                                    4, 8, 2, 3, 5, 9, 17}; /* from ca: floats, integers, fixext */
    if (remaining(cursor) < 1) {
        return false;
    }
    uint8_t tag = *cursor->at++;
    if (tag <= 0x7f || tag >= 0xe0 || tag == 0xc0 || tag == 0xc2 || tag == 0xc3) {
        return true;
    }
    if (tag <= 0x9f) {
        return skip_items(cursor, tag <= 0x8f ? 2 * (uint64_t)(tag & 0x0f) : tag & 0x0f, depth);
    }
    if (tag <= 0xbf) {
        return pass(cursor, tag & 0x1f);
    }
    if (tag == 0xc1) {
        return false;
    }
    if (tag <= 0xc9) { /* bin, then ext, whose type takes one byte more */
        return tag <= 0xc6 ? skip_sized(cursor, 1U << (tag - 0xc4), 0) : skip_sized(cursor, 1U << (tag - 0xc7), 1);
    }
    if (tag <= 0xd8) {
        return pass(cursor, FIXED[tag - 0xca]);
    }
    return tag <= 0xdb ? skip_sized(cursor, 1U << (tag - 0xd9), 0) : skip_collection(cursor, tag, depth);
}
