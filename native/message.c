/* message.c - a message's attributes, read from msgpack bytes without building anything.
 *
 * Law: what is accepted is exactly what ARCHITECTURE calls a well-formed message, in any msgpack spelling of a value
 * (a short integer may come in long form); what is refused is refused before a matcher sees it. Never reads past the
 * end; allocates nothing. Short ASCII strings and small integers, which nearly all are, go a short way of their own.
 */
#include <string.h>

#include "hash.h"
#include "msgpack.h"

#define NOT_ASCII UINT64_C(0x8080808080808080)

/* A string in its short form whose bytes are ASCII and at most sixteen, all of which its head then shows. */
static inline bool take_short(tm_cursor *cursor, const uint8_t **string, uint32_t *length, tm_head *head) {
    size_t left = (size_t)(cursor->end - cursor->at);
    uint32_t size = left > 0 ? *cursor->at ^ 0xa0U : UINT32_MAX;
    if (size > TM_INLINE_BYTES || size >= left) {
        return false;
    }
    *head = tm_head_of(cursor->at + 1, size);
    if (((head->low | head->high) & NOT_ASCII) != 0) {
        return false;
    }
    *string = cursor->at + 1;
    *length = size;
    cursor->at += 1 + size;
    return true;
}

/* Equal names meet at a place of their own among these bits; others seldom do. */
#define PLACES 512U

typedef struct names_seen {
    uint64_t bits[PLACES / 64];
    bool met;
} names_seen;

static inline void see_name(names_seen *seen, tm_head head, uint32_t length) {
    uint64_t mixed = (head.low ^ (head.high << 7 | head.high >> 57)) * UINT64_C(0x9e3779b97f4a7c15) + length;
    uint32_t place = (uint32_t)(mixed >> 48) % PLACES;
    uint64_t bit = UINT64_C(1) << (place % 64);
    seen->met |= (seen->bits[place / 64] & bit) != 0;
    seen->bits[place / 64] |= bit;
}

static inline bool read_name(tm_cursor *cursor, tm_attribute *out, names_seen *seen) {
    uint32_t length;
    tm_head head;
    if (!take_short(cursor, &out->name, &length, &head)) {
        if (!tm_read_string(cursor, TM_NAME_BYTES_MAX, &out->name, &length)) {
            return false;
        }
        head = tm_head_of(out->name, length);
    }
    out->name_length = (uint16_t)length;
    see_name(seen, head, length);
    return length > 0;
}

static bool read_any_value(tm_cursor *cursor, tm_attribute *out) {
    tm_value value;
    if (!tm_read_value(cursor, TM_STRING_BYTES_MAX, &value)) {
        return false;
    }
    out->string = value.string;
    out->integer = value.integer;
    out->real = value.real;
    out->length = value.length;
    out->kind = value.kind;
    return true;
}

static inline bool read_attribute(tm_cursor *cursor, tm_attribute *out, names_seen *seen) {
    tm_head head;
    if (!read_name(cursor, out, seen)) {
        return false;
    }
    out->integer = 0;
    out->real = 0;
    if (take_short(cursor, &out->string, &out->length, &head)) {
        out->kind = TM_KIND_STRING;
        return true;
    }
    if (cursor->at < cursor->end && *cursor->at <= 0x7f) {
        out->string = NULL;
        out->integer = *cursor->at++;
        out->length = 0;
        out->kind = TM_KIND_INTEGER;
        return true;
    }
    return read_any_value(cursor, out);
}

static bool names_equal(const tm_attribute *a, const tm_attribute *b) {
    return a->name_length == b->name_length && memcmp(a->name, b->name, a->name_length) == 0;
}

/* Quadratic in at most 64 names, and only where two of them met. */
static bool names_distinct(const tm_attribute *attributes, uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            if (names_equal(&attributes[i], &attributes[j])) {
                return false;
            }
        }
    }
    return true;
}

int tm_attributes_decode(const uint8_t *bytes, size_t size, tm_attribute *out, size_t *count, size_t *used) {
    tm_cursor cursor = {bytes, bytes + size};
    names_seen seen = {{0}, false};
    uint32_t pairs = 0;
    if (!tm_read_map(&cursor, &pairs)) {
        return TM_MALFORMED;
    }
    if (pairs > TM_ATTRIBUTES_MAX) {
        return TM_TOO_MANY;
    }
    for (uint32_t i = 0; i < pairs; i++) {
        if (!read_attribute(&cursor, &out[i], &seen)) {
            return TM_MALFORMED;
        }
    }
    if (seen.met && !names_distinct(out, pairs)) {
        return TM_MALFORMED;
    }
    *count = pairs;
    *used = (size_t)(cursor.at - bytes);
    return TM_OK;
}
