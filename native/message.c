/* message.c - a message's attributes, read from msgpack bytes without building anything.
 *
 * Law: what is accepted is exactly what ARCHITECTURE calls a well-formed message, in any msgpack spelling of a value
 * (a short integer may come in long form); what is refused is refused before a matcher sees it. Never reads past the
 * end; allocates nothing. Short ASCII strings and small integers, which nearly all are, go a short way of their own.
 */
#include <string.h>

#include "msgpack.h"
#include "shape.h"

#define NOT_ASCII UINT64_C(0x8080808080808080)

/* The bytes of a short string, zeroes behind them. */
typedef struct words {
    uint64_t low;
    uint64_t high;
} words;

/* The first n bytes of a word. */
static const uint64_t FIRST_BYTES[9] = {
    0, 0xff, 0xffff, 0xffffff, 0xffffffff, 0xffffffffff, 0xffffffffffff, 0xffffffffffffff, UINT64_MAX,
};

/* `size` bytes, at most sixteen, of which sixteen may be read. */
static inline words words_at(const uint8_t *bytes, uint32_t size) {
    uint32_t low = size < 8 ? size : 8;
    return (words){tm_load64(bytes) & FIRST_BYTES[low], tm_load64(bytes + 8) & FIRST_BYTES[size - low]};
}

/* May sixteen bytes behind the first be read? `slack`: TM_INLINE_BYTES behind the end may be. */
static inline bool has_words(const tm_cursor *cursor, bool slack) {
    return cursor->end - cursor->at > (slack ? 0 : TM_INLINE_BYTES);
}

/* A string in its short form, ASCII and at most sixteen bytes long. */
static inline bool take_short(tm_cursor *cursor, bool slack, const uint8_t **string, uint32_t *length) {
    if (!has_words(cursor, slack)) {
        return false;
    }
    uint32_t size = *cursor->at ^ 0xa0U;
    if (size > TM_INLINE_BYTES || size >= cursor->end - cursor->at) {
        return false;
    }
    words text = words_at(cursor->at + 1, size);
    if (((text.low | text.high) & NOT_ASCII) != 0) {
        return false;
    }
    *string = cursor->at + 1;
    *length = size;
    cursor->at += 1 + size;
    return true;
}

static inline bool read_name(tm_cursor *cursor, bool slack, tm_attribute *out) {
    uint32_t length;
    if (!take_short(cursor, slack, &out->name, &length) &&
        !tm_read_string(cursor, TM_NAME_BYTES_MAX, &out->name, &length)) {
        return false;
    }
    out->name_length = (uint16_t)length;
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

static inline bool read_value(tm_cursor *cursor, bool slack, tm_attribute *out) {
    out->integer = 0;
    out->real = 0;
    if (take_short(cursor, slack, &out->string, &out->length)) {
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

/* ---- names that differ --------------------------------------------------------------------------------------------
 */

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

/* Equal names meet at a place of their own among these bits; others seldom do, and only those that meet are compared.
 */
#define PLACES 512U

static bool names_distinct(const tm_attribute *attributes, uint32_t count) {
    uint64_t bits[PLACES / 64] = {0};
    for (uint32_t i = 0; i < count; i++) {
        tm_head head = tm_head_of(attributes[i].name, attributes[i].name_length);
        uint32_t place = (uint32_t)(tm_hash_head(head, attributes[i].name_length, 0) % PLACES);
        uint64_t bit = UINT64_C(1) << (place % 64);
        if ((bits[place / 64] & bit) != 0 && is_among(&attributes[i], attributes, i)) {
            return false;
        }
        bits[place / 64] |= bit;
    }
    return true;
}

/* ---- the names of the message before ----------------------------------------------------------------------------- */

/* Is the name at `i` that of the shape? Then it is valid. */
static inline bool take_same_name(tm_cursor *cursor, const tm_shape *shape, uint32_t i, tm_attribute *out) {
    uint8_t tag = shape->tags[i];
    uint32_t length = tag ^ 0xa0U;
    if (tag == 0 || length >= cursor->end - cursor->at || *cursor->at != tag) {
        return false;
    }
    words name = words_at(cursor->at + 1, length);
    if (name.low != shape->low[i] || name.high != shape->high[i]) {
        return false;
    }
    out->name = cursor->at + 1;
    out->name_length = (uint16_t)length;
    cursor->at += 1 + length;
    return true;
}

static void note_name(tm_shape *shape, uint32_t i, const tm_attribute *name) {
    bool is_short = name->name_length <= TM_INLINE_BYTES && name->name[-1] == (0xa0 | name->name_length);
    words text = is_short ? words_at(name->name, name->name_length) : (words){0, 0};
    shape->tags[i] = is_short ? name->name[-1] : 0;
    shape->low[i] = text.low;
    shape->high[i] = text.high;
    shape->memo[i] = 0;
}

/* Read one attribute; `*is_same` stays true while its name is that of the shape. */
static inline bool read_attribute(tm_cursor *cursor, tm_shape *shape, uint32_t i, tm_attribute *out, bool *is_same) {
    if (shape == NULL || i >= shape->count || !take_same_name(cursor, shape, i, out)) {
        *is_same = false;
        if (!read_name(cursor, shape != NULL, out)) {
            return false;
        }
        if (shape != NULL) {
            note_name(shape, i, out);
        }
    }
    return read_value(cursor, shape != NULL, out);
}

/* Inlined twice: with a shape and, for callers that match a message now and then, without. */
static inline int decode(tm_shape *shape, tm_cursor *cursor, tm_attribute *out, size_t *count) {
    uint32_t pairs = 0;
    if (!tm_read_map(cursor, &pairs)) {
        return TM_MALFORMED;
    }
    if (pairs > TM_ATTRIBUTES_MAX) {
        return TM_TOO_MANY;
    }
    bool is_same = shape != NULL && pairs <= shape->count; /* of distinct names the first few are distinct too */
    bool is_sound = true;
    for (uint32_t i = 0; i < pairs && is_sound; i++) {
        is_sound = read_attribute(cursor, shape, i, &out[i], &is_same);
    }
    is_sound = is_sound && (is_same || names_distinct(out, pairs));
    if (shape != NULL && !is_same) {
        shape->count = is_sound ? pairs : 0;
    }
    *count = pairs;
    return is_sound ? TM_OK : TM_MALFORMED;
}

int tm_attributes_decode_like(tm_shape *shape, const uint8_t *bytes, size_t size, tm_attribute *out, size_t *count,
                              size_t *used) {
    tm_cursor cursor = {bytes, bytes + size};
    int result = decode(shape, &cursor, out, count);
    *used = (size_t)(cursor.at - bytes);
    return result;
}

int tm_attributes_decode(const uint8_t *bytes, size_t size, tm_attribute *out, size_t *count, size_t *used) {
    tm_cursor cursor = {bytes, bytes + size};
    int result = decode(NULL, &cursor, out, count);
    *used = (size_t)(cursor.at - bytes);
    return result;
}
