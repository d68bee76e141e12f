/* msgpack.h - the few msgpack types that filters and messages consist of, read in place.
 *
 * Law: it never reads past `end` and allocates nothing; it accepts any encoding of a length or a number that msgpack
 * allows. After `false` the cursor is at an undefined place within its bytes.
 */
#ifndef TM_MSGPACK_H
#define TM_MSGPACK_H

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

#endif
