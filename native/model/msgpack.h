/* msgpack.h - the few msgpack types that filters and messages consist of, read in place.
 *
 * Law: it never reads past `end` and allocates nothing; it accepts any encoding of a length or a number that msgpack
 * allows. After `false` the cursor is at an undefined place within its bytes.
 */
#ifndef TM_MSGPACK_H
#define TM_MSGPACK_H

#include "base/load.h"
#include "model/filter.h"

typedef struct tm_cursor {
    const uint8_t *at; /* borrowed */
    const uint8_t *end;
} tm_cursor;

bool tm_read_array(tm_cursor *cursor, uint32_t *count);
bool tm_read_map(tm_cursor *cursor, uint32_t *pairs);

/* Read a string of at most `bytes_max` bytes of valid UTF-8; `*string` is borrowed from the cursor's bytes. */
bool tm_read_string(tm_cursor *cursor, uint32_t bytes_max, const uint8_t **string, uint32_t *length);

/* Read bytes (bin), borrowed from the cursor's bytes. */
bool tm_read_binary(tm_cursor *cursor, const uint8_t **bytes, uint32_t *size);

/* Skip one value of any type, with arrays and maps nested at most `depth` deep. */
bool tm_skip(tm_cursor *cursor, unsigned depth);

/* Read an integer that is not encoded as a float. */
bool tm_read_integer(tm_cursor *cursor, int64_t *integer);

/* Read a value in canonical form: an integral float inside 64 bits becomes that integer. */
bool tm_read_value(tm_cursor *cursor, uint32_t string_bytes_max, tm_value *out);

/* Read the value of an attribute. */
static inline bool tm_read_attribute(tm_cursor *cursor, tm_attribute *out) {
    tm_value value;
    if (cursor->at >= cursor->end || !tm_read_value(cursor, TM_STRING_BYTES_MAX, &value)) {
        return false;
    }
    out->string = value.string;
    out->integer = value.integer;
    out->real = value.real;
    out->length = value.length;
    out->kind = value.kind;
    return true;
}

static inline uint64_t tm_load_big_endian(const uint8_t *at) {
    return __builtin_bswap64(tm_load64(at));
}

/* Return an integer with tag cc..ce or d0..d3: of 1, 2, 4 or 8 bytes, the first group unsigned. Eight bytes behind the
 * tag are read. */
static inline int64_t tm_tagged_integer(const uint8_t *at) {
    unsigned shift = 64 - 8 * (1U << (*at & 3));
    uint64_t bits = tm_load_big_endian(at + 1);
    return *at < 0xd0 ? (int64_t)(bits >> shift) : (int64_t)bits >> shift;
}

#endif
