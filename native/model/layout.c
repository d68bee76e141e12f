/* layout.c - see layout.h. */
#include "model/layout.h"

#include <string.h>

#include "model/msgpack.h"
#include "model/shape.h"

#ifdef TM_TESTED
#define PAUSE_MIN 1U
#define PAUSE_MAX 2U
#else
#define PAUSE_MIN 16U /* noting a layout takes as long as decoding a few messages */
#define PAUSE_MAX 4096U
#endif

enum {
    READING_SMALL, /* an integer of one byte, from 0 to 127 */
    READING_WIDE,  /* an integer with a tag, of any value */
    READING_STRING,
    READING_ANY, /* by tm_read_attribute, which may refuse it */
};

/* ---- a message of the layout ---- */

static inline bool is_equal(const tm_layout *layout, const uint8_t *bytes) {
    tm_layout_block differs = {0};
    for (uint32_t block = 0; block < layout->block_count; block++) {
        tm_layout_block own;
        memcpy(&own, bytes + (size_t)block * sizeof own, sizeof own);
        differs |= (own & layout->masks[block]) ^ layout->texts[block];
    }
    words both;
    memcpy(&both, &differs, sizeof both);
    return (both.low | both.high) == 0;
}

static inline bool take(const tm_layout_place *place, const uint8_t *bytes, size_t size, tm_attribute *out) {
    const uint8_t *at = bytes + place->value;
    *out = place->like;
    out->name = bytes + place->name;
    if (place->reading == READING_STRING) {
        out->string = at;
    } else if (place->reading == READING_SMALL) {
        out->integer = *at;
    } else if (place->reading == READING_WIDE) {
        out->integer = tm_tagged_integer(at);
    } else {
        tm_cursor cursor = {at, bytes + size};
        return tm_read_attribute(&cursor, out);
    }
    return true;
}

bool tm_layout_take(tm_layout *layout, const uint8_t *bytes, size_t size, tm_attribute *out) {
    if (size == 0 || size != layout->size || !is_equal(layout, bytes)) {
        return false;
    }
    for (uint32_t i = 0; i < layout->wanted_count; i++) {
        if (!take(&layout->wanted[i], bytes, size, &out[i])) {
            return false;
        }
    }
    for (uint32_t i = 0; i < layout->read_count; i++) {
        tm_attribute unwanted;
        if (!take(&layout->read[i], bytes, size, &unwanted)) {
            return false;
        }
    }
    layout->was_used = true;
    return true;
}

/* ---- another layout ---- */

/* The bytes of a message that is noted. */
typedef struct noting {
    const uint8_t *bytes; /* borrowed */
    uint8_t *masks;       /* borrowed */
    uint32_t at;
} noting;

static void pass(noting *n, uint8_t mask, uint32_t count) {
    memset(n->masks + n->at, mask, count);
    n->at += count;
}

/* Note a string of ASCII bytes behind a head of `head` bytes; false: it has others. */
static bool note_string(noting *n, tm_layout_place *place, uint32_t head, uint32_t length) {
    pass(n, 0xff, head);
    place->reading = READING_STRING;
    place->value = (uint16_t)n->at;
    place->like.length = length;
    place->like.kind = TM_KIND_STRING;
    uint8_t all = 0;
    for (uint32_t i = 0; i < length; i++) {
        all |= n->bytes[n->at + i];
    }
    pass(n, 0x80, length);
    return all < 0x80;
}

/* Note the value of an attribute, which is sound; false: messages like it are decoded one by one. `*is_sound`: whatever
 * its other bytes are, it is. */
static bool note_value(noting *n, tm_layout_place *place, bool *is_sound) {
    uint8_t tag = n->bytes[n->at];
    place->value = (uint16_t)n->at;
    *is_sound = true;
    if (tag >= 0xa0 && tag <= 0xbf) {
        return note_string(n, place, 1, tag & 0x1fU);
    }
    if (tag == 0xd9) {
        return note_string(n, place, 2, n->bytes[n->at + 1]);
    }
    bool is_wide = tag >= 0xcc && tag <= 0xd3;
    bool is_long = tag == 0xcf;   /* may be too large */
    bool is_double = tag == 0xcb; /* may be infinite, and is an integer if it has one's value */
    if (is_wide || is_double) {
        *is_sound = !is_long && !is_double;
        place->reading = *is_sound ? READING_WIDE : READING_ANY;
        pass(n, 0xff, 1);
        pass(n, 0, is_double ? 8 : 1U << (tag & 3));
        return true;
    }
    bool is_small = tag <= 0x7f;
    bool is_negative = tag >= 0xe0;
    bool is_boolean = (tag | 1) == 0xc3;
    place->reading = is_small ? READING_SMALL : READING_ANY;
    pass(n, is_small ? 0x80 : is_negative ? 0xe0 : 0xfe, 1);
    return is_small || is_negative || is_boolean;
}

/* Note all attributes; false: there is no layout of such messages. */
static bool note(tm_layout *layout, const tm_shape *shape, noting *n) {
    for (uint32_t i = 0; i < shape->count; i++) {
        const tm_shape_name *name = &shape->names[i];
        tm_layout_place place = {.like = {.name_length = name->length, .kind = TM_KIND_INTEGER}};
        pass(n, 0xff, name->size);
        place.name = (uint16_t)(n->at - name->length);
        bool is_sound;
        if (!note_value(n, &place, &is_sound)) {
            return false;
        }
        if (name->is_wanted) {
            layout->wanted[layout->wanted_count++] = place;
        } else if (!is_sound) {
            layout->read[layout->read_count++] = place;
        }
    }
    return true;
}

void tm_layout_miss(tm_layout *layout, const tm_shape *shape, const uint8_t *bytes, size_t size, size_t first) {
    if (layout->wait > 0 || size > LAYOUT_BLOCK_BYTES * LAYOUT_BLOCKS_MAX) {
        layout->wait -= layout->wait > 0;
        return;
    }
    bool is_new = layout->pause == 0 || layout->was_used;
    layout->pause = is_new ? PAUSE_MIN : layout->pause < PAUSE_MAX ? layout->pause * 2 : PAUSE_MAX;
    layout->wait = layout->pause;
    layout->was_used = false;
    layout->size = layout->wanted_count = layout->read_count = 0;
    memset(layout->masks, 0, sizeof layout->masks);
    noting n = {.bytes = bytes, .masks = (uint8_t *)layout->masks};
    pass(&n, 0xff, (uint32_t)first);
    if (!note(layout, shape, &n)) {
        return;
    }
    memcpy(layout->texts, bytes, size);
    for (uint32_t block = 0; block < LAYOUT_BLOCKS_MAX; block++) {
        layout->texts[block] &= layout->masks[block];
    }
    layout->size = (uint32_t)size;
    layout->block_count = (layout->size + LAYOUT_BLOCK_BYTES - 1) / LAYOUT_BLOCK_BYTES;
}
