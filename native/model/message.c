/* message.c - a message's attributes, read from msgpack bytes without building anything.
 *
 * Law: it accepts exactly what ARCHITECTURE calls a well-formed message, in any msgpack encoding of a value
 * (a short integer may have a long form); other bytes are refused before a matcher reads them. It never reads past the
 * end and allocates nothing. Short ASCII strings and small integers, which nearly all values are, have a fast path.
 */
#include <string.h>

#include "base/words.h"
#include "model/msgpack.h"

/* Read a string in its short form, ASCII and at most sixteen bytes long; false: it has another form. */
static inline bool take_short(tm_cursor *cursor, const uint8_t **string, uint32_t *length) {
    if (cursor->end - cursor->at <= WORDS_BYTES) {
        return false;
    }
    uint32_t size = *cursor->at ^ 0xa0U;
    if (size > WORDS_BYTES || !words_are_ascii(words_at(cursor->at + 1, size))) {
        return false;
    }
    *string = cursor->at + 1;
    *length = size;
    cursor->at += 1 + size;
    return true;
}

static inline bool read_name(tm_cursor *cursor, tm_attribute *out) {
    uint32_t length;
    if (!take_short(cursor, &out->name, &length) && !tm_read_string(cursor, TM_NAME_BYTES_MAX, &out->name, &length)) {
        return false;
    }
    out->name_length = (uint16_t)length;
    return length > 0;
}

static inline bool read_value(tm_cursor *cursor, tm_attribute *out) {
    out->integer = 0;
    out->real = 0;
    if (take_short(cursor, &out->string, &out->length)) {
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
    return tm_read_attribute(cursor, out);
}

/* ---- distinct names ---- */

static bool names_equal(const tm_attribute *a, const tm_attribute *b) {
    return a->name_length == b->name_length && memcmp(a->name, b->name, a->name_length) == 0;
}

static bool is_among(const tm_attribute *name, const tm_attribute *others, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (names_equal(name, &others[i])) {
            return true;
        }
    }
    return false;
}

static int compare_names(const tm_attribute *a, const tm_attribute *b) {
    int longer = (a->name_length > b->name_length) - (a->name_length < b->name_length);
    return longer != 0 ? longer : memcmp(a->name, b->name, a->name_length);
}

/* Insertion sort with binary search: n log n comparisons for any names. */
static bool sorted_are_distinct(const tm_attribute *attributes, uint32_t count) {
    uint8_t sorted[TM_ATTRIBUTES_MAX];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t first = 0;
        uint32_t end = i;
        while (first < end) {
            uint32_t middle = (first + end) / 2;
            int order = compare_names(&attributes[i], &attributes[sorted[middle]]);
            if (order == 0) {
                return false;
            }
            first = order > 0 ? middle + 1 : first;
            end = order > 0 ? end : middle;
        }
        memmove(sorted + first + 1, sorted + first, i - first);
        sorted[first] = (uint8_t)i;
    }
    return true;
}

/* Equal names hit one bit of these; different names rarely do, and only names that hit a set bit are compared. The key
 * of the hash is public: if names were chosen to collide, the attributes are sorted instead. */
#define PLACES 512U
#define MEETINGS_MAX 12U /* 64 random names have four hits on average */

static const tm_hash_key PLACES_KEY = {
    .low = UINT64_C(0x9e3779b97f4a7c15),
    .high = UINT64_C(0xe7037ed1a0b428db),
    .factor = UINT64_C(0x8ebc6af09c88c6e3),
};

static inline uint32_t place_of(const uint8_t *name, uint32_t length) {
    if (__builtin_expect(length > TM_INLINE_BYTES, 0)) {
        return (uint32_t)(tm_hash_long(name, length, &PLACES_KEY) % PLACES);
    }
    tm_head head = tm_head_of(name, length); /* one product suffices */
    return (uint32_t)((tm_fold(head.low ^ PLACES_KEY.low, head.high ^ PLACES_KEY.high) ^ length) % PLACES);
}

static bool names_distinct(const tm_attribute *attributes, uint32_t count) {
    uint64_t bits[PLACES / 64] = {0};
    uint32_t meetings = 0;
    for (uint32_t i = 0; i < count; i++) {
        const tm_attribute *own = &attributes[i];
        uint32_t place = place_of(own->name, own->name_length);
        uint64_t bit = UINT64_C(1) << (place % 64);
        if ((bits[place / 64] & bit) != 0) {
            if (++meetings > MEETINGS_MAX) {
                return sorted_are_distinct(attributes, count);
            }
            if (is_among(own, attributes, i)) {
                return false;
            }
        }
        bits[place / 64] |= bit;
    }
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
        if (!read_name(&cursor, &out[i]) || !read_value(&cursor, &out[i])) {
            return TM_MALFORMED;
        }
    }
    *count = pairs;
    *used = (size_t)(cursor.at - bytes);
    return names_distinct(out, pairs) ? TM_OK : TM_MALFORMED;
}
