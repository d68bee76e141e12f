/* message.c - a message's attributes, read from msgpack bytes without building anything.
 *
 * Law: what is accepted is exactly what ARCHITECTURE calls a well-formed message, in any msgpack spelling of a value
 * (a short integer may come in long form); what is refused is refused before a matcher sees it. Never reads past the
 * end; allocates nothing.
 */
#include <string.h>

#include "msgpack.h"

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

static bool read_attribute(tm_cursor *cursor, tm_attribute *out) {
    const uint8_t *name;
    uint32_t length;
    tm_value value = {0};
    if (!tm_read_string(cursor, TM_NAME_BYTES_MAX, &name, &length) || length == 0 ||
        !tm_read_value(cursor, TM_STRING_BYTES_MAX, &value)) {
        return false;
    }
    *out = (tm_attribute){
        .name = name,
        .string = value.string,
        .integer = value.integer,
        .real = value.real,
        .length = value.length,
        .name_length = (uint16_t)length,
        .kind = value.kind,
    };
    return true;
}

int tm_attributes_decode(const uint8_t *bytes, size_t size, tm_attribute *out, size_t *count, size_t *used) {
    tm_cursor cursor = {bytes, bytes + size};
    uint32_t pairs = 0;
    if (!tm_read_map(&cursor, &pairs)) {
        return TM_MALFORMED;
    }
    if (pairs > TM_ATTRIBUTES_MAX) {
        return TM_TOO_MANY;
    }
    for (uint32_t i = 0; i < pairs; i++) {
        if (!read_attribute(&cursor, &out[i])) {
            return TM_MALFORMED;
        }
    }
    if (!names_distinct(out, pairs)) {
        return TM_MALFORMED;
    }
    *count = pairs;
    *used = (size_t)(cursor.at - bytes);
    return TM_OK;
}
