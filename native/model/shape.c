/* shape.c - see shape.h.
 *
 * A message that lies as an earlier one did is compared with that (layout.h). Another one of the shape is read without
 * a call for each attribute: a name is compared as two words, and a short string is checked as two; unwanted values are
 * only stepped over. Bounds are checked once an attribute, which is why there must be slack behind a message: a name
 * and a value, of sixteen bytes each.
 */
#include "model/shape.h"

#include <string.h>

#include "model/msgpack.h"

/* ---- values ---- */

/* By first byte: the size of a value that is sound whatever follows; 0: other values. */
static const uint8_t SOUND_BYTES[256] = {
    [0x00 ... 0x7f] = 1, [0xc2] = 1, [0xc3] = 1, [0xcc] = 2, [0xcd] = 3,          [0xce] = 5,
    [0xd0] = 2,          [0xd1] = 3, [0xd2] = 5, [0xd3] = 9, [0xe0 ... 0xff] = 1,
};

static bool is_finite(uint64_t double_bits) {
    return (double_bits >> 52 & 0x7ff) != 0x7ff;
}

/* Read any value; returns its end, NULL: it is not sound. */
static const uint8_t *take_any(const uint8_t *at, const uint8_t *end, tm_attribute *out) {
    tm_cursor cursor = {at, end};
    return tm_read_attribute(&cursor, out) ? cursor.at : NULL;
}

/* Return the end of an unwanted value; NULL: it is not sound. */
static inline const uint8_t *pass_value(const uint8_t *at, const uint8_t *end) {
    uint32_t length = *at ^ 0xa0U;
    if (length <= WORDS_BYTES && words_are_ascii(words_at(at + 1, length))) {
        return at + 1 + length;
    }
    if (SOUND_BYTES[*at] > 0) {
        return at + SOUND_BYTES[*at];
    }
    if (*at == 0xcb && is_finite(tm_load_big_endian(at + 1))) {
        return at + 9;
    }
    tm_attribute unwanted;
    return take_any(at, end, &unwanted);
}

static inline const uint8_t *take_value(const uint8_t *at, const uint8_t *end, tm_attribute *out) {
    uint32_t length = *at ^ 0xa0U;
    if (length <= WORDS_BYTES && words_are_ascii(words_at(at + 1, length))) {
        out->string = at + 1;
        out->integer = 0;
        out->real = 0;
        out->length = length;
        out->kind = TM_KIND_STRING;
        return at + 1 + length;
    }
    bool is_wide = *at >= 0xcc && *at <= 0xd3 && *at != 0xcf;
    if (!is_wide && *at > 0x7f) {
        return take_any(at, end, out);
    }
    out->string = NULL;
    out->integer = is_wide ? tm_tagged_integer(at) : *at;
    out->real = 0;
    out->length = 0;
    out->kind = TM_KIND_INTEGER;
    return at + SOUND_BYTES[*at];
}

/* ---- a message of the shape ---- */

static inline bool is_name(const tm_shape *shape, const tm_shape_name *name, const uint8_t *at, const uint8_t *end) {
    uint64_t differs =
        ((tm_load64(at) & name->mask.low) ^ name->text.low) | ((tm_load64(at + 8) & name->mask.high) ^ name->text.high);
    return differs == 0 || (name->size > WORDS_BYTES && name->size < (size_t)(end - at) &&
                            memcmp(at, shape->spelled + name->place, name->size) == 0);
}

/* Decode a message of the shape; false: it has another shape, or is not sound. */
static bool take_like(const tm_shape *shape, const uint8_t *at, const uint8_t *end, tm_attribute *out) {
    const tm_shape_name *behind = shape->names + shape->count;
    for (const tm_shape_name *name = shape->names; name < behind; name++) {
        if (at >= end || !is_name(shape, name, at, end)) {
            return false;
        }
        at += name->size;
        if (name->is_wanted) {
            out->name_length = name->length;
            out->name = at - name->length;
            at = take_value(at, end, out++);
        } else {
            at = pass_value(at, end);
        }
        if (at == NULL) {
            return false;
        }
    }
    return at == end;
}

/* ---- another shape ---- */

/* Return the size of an encoded name; 0: its length is not encoded in the shortest form. */
static uint32_t spelled_size(const tm_attribute *attribute) {
    uint32_t length = attribute->name_length;
    const uint8_t *name = attribute->name;
    if (length < 32) {
        return name[-1] == (0xa0 | length) ? length + 1 : 0;
    }
    if (length <= UINT8_MAX) {
        return name[-2] == 0xd9 ? length + 2 : 0;
    }
    return name[-3] == 0xda ? length + 3 : 0;
}

static bool note_name(tm_shape *shape, uint32_t i, const tm_attribute *attribute) {
    uint32_t size = spelled_size(attribute);
    uint32_t place = i == 0 ? 0U : shape->names[i - 1].place + shape->names[i - 1].size;
    if (size == 0 || size > SHAPE_BYTES_MAX - place) {
        return false;
    }
    const uint8_t *spelled = attribute->name + attribute->name_length - size;
    bool is_long = size > WORDS_BYTES;
    memcpy(shape->spelled + place, spelled, size);
    shape->names[i] = (tm_shape_name){.text = is_long ? (words){UINT64_MAX, UINT64_MAX} : words_at(spelled, size),
                                      .mask = is_long ? (words){0, 0} : words_mask(size),
                                      .size = (uint16_t)size,
                                      .length = attribute->name_length,
                                      .place = (uint16_t)place};
    return true;
}

static void note(tm_shape *shape, const tm_attribute *attributes, uint32_t count) {
    shape->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!note_name(shape, i, &attributes[i])) {
            return;
        }
    }
    shape->count = count;
}

/* Return the end of the head of a map with as many pairs as the shape has names; NULL: it has other pairs, or is not
 * sound. Mostly the head is one byte. */
static inline const uint8_t *pass_head(const tm_shape *shape, const uint8_t *bytes, const uint8_t *end) {
    if (shape->count < 16 && bytes < end && *bytes == (0x80U | shape->count)) {
        return bytes + 1;
    }
    tm_cursor cursor = {bytes, end};
    uint32_t pairs;
    return tm_read_map(&cursor, &pairs) && pairs == shape->count ? cursor.at : NULL;
}

int tm_shape_decode(tm_shape *shape, const uint8_t *bytes, size_t size, tm_attribute *out, size_t *count) {
    if (tm_layout_take(&shape->layout, bytes, size, out)) {
        *count = shape->wanted_count;
        return TM_OK;
    }
    const uint8_t *end = bytes + size;
    const uint8_t *first = shape->count > 0 ? pass_head(shape, bytes, end) : NULL;
    if (first != NULL && take_like(shape, first, end, out)) {
        tm_layout_miss(&shape->layout, shape, bytes, size, (size_t)(first - bytes));
        *count = shape->wanted_count;
        return TM_OK;
    }
    size_t used = 0;
    int result = tm_attributes_decode(bytes, size, out, count, &used);
    if (result == TM_OK && used != size) {
        result = TM_MALFORMED;
    }
    note(shape, out, result == TM_OK ? (uint32_t)*count : 0);
    tm_shape_want_all(shape, shape->unknown);
    return result;
}

/* ---- unwanted names ---- */

void tm_shape_want_all(tm_shape *shape, const uint64_t unknown[SHAPE_TABLES]) {
    for (uint32_t i = 0; i < shape->count; i++) {
        shape->names[i].is_wanted = true;
    }
    shape->wanted_count = shape->count;
    shape->is_trimmed = false;
    shape->asked = 0;
    for (unsigned table = 0; table < SHAPE_TABLES; table++) {
        shape->unknown[table] = unknown[table];
        shape->asked |= (uint8_t)((unknown[table] == SHAPE_NO_TABLE) << table);
    }
    shape->version++;
    shape->layout.size = 0;
    memset(shape->memo, 0, sizeof shape->memo);
}

/* A table without memos (0) may have any name in its filters. */
static bool is_known_to(const tm_shape *shape, unsigned table, uint32_t i) {
    uint64_t unknown = shape->unknown[table];
    return unknown != SHAPE_NO_TABLE && (unknown == 0 || shape->memo[table][i] != unknown);
}

bool tm_kept_names_add(tm_kept_names *kept, const tm_hash_key *key, const uint8_t *name, size_t length) {
    uint64_t hash = tm_hash_text(name, length, key) % SHAPE_KEPT_BITS;
    bool is_new = (kept->bits[hash / 64] >> hash % 64 & 1) == 0;
    kept->bits[hash / 64] |= UINT64_C(1) << hash % 64;
    return is_new;
}

/* Return the `length` bytes of a name. */
static inline const uint8_t *spelling(const tm_shape *shape, const tm_shape_name *own) {
    return shape->spelled + own->place + own->size - own->length;
}

static bool is_kept(const tm_shape *shape, uint32_t i, const tm_kept_names *kept, const tm_hash_key *key) {
    const tm_shape_name *own = &shape->names[i];
    uint64_t hash = tm_hash_text(spelling(shape, own), own->length, key) % SHAPE_KEPT_BITS;
    return kept->bits[hash / 64] >> hash % 64 & 1;
}

void tm_shape_trim(tm_shape *shape, const tm_kept_names *kept, const tm_hash_key *key) {
    if (shape->asked != (1U << SHAPE_TABLES) - 1) {
        return;
    }
    shape->is_trimmed = true;
    uint32_t wanted = 0;
    for (uint32_t i = 0; i < shape->count; i++) {
        bool is_known = kept != NULL && is_kept(shape, i, kept, key);
        for (unsigned table = 0; table < SHAPE_TABLES; table++) {
            is_known |= is_known_to(shape, table, i);
            shape->memo[table][wanted] = shape->memo[table][i];
        }
        shape->names[i].is_wanted = is_known;
        wanted += is_known;
    }
    shape->wanted_count = wanted;
    shape->version++;
    shape->layout.size = 0;
}

static bool is_spelled(const tm_shape *shape, const tm_shape_name *own, const uint8_t *name, uint32_t length) {
    return own->length == length && memcmp(spelling(shape, own), name, length) == 0;
}

bool tm_shape_spells(const tm_shape *shape, const uint8_t *name, uint32_t length) {
    for (uint32_t i = 0; i < shape->count; i++) {
        if (is_spelled(shape, &shape->names[i], name, length)) {
            return true;
        }
    }
    return false;
}

uint32_t tm_shape_find(const tm_shape *shape, const uint8_t *name, uint32_t length) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < shape->count; i++) {
        const tm_shape_name *own = &shape->names[i];
        if (own->is_wanted && is_spelled(shape, own, name, length)) {
            return at;
        }
        at += own->is_wanted;
    }
    return SHAPE_NONE;
}
