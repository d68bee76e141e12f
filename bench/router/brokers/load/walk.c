/* walk.c - the msgpack items whose header has more than one byte, and the few that have one of their own. */
#include "walk.h"

#include <string.h>

static bool float_item(walk *w, size_t size, walk_item *out) {
    uint64_t bits;
    if (!walk_big_endian(w, size, &bits)) {
        return false;
    }
    if (size == 4) {
        uint32_t narrow_bits = (uint32_t)bits;
        float narrow;
        memcpy(&narrow, &narrow_bits, sizeof narrow);
        double wide = narrow;
        memcpy(&bits, &wide, sizeof bits);
    }
    *out = (walk_item){WALK_FLOAT, bits, NULL};
    return true;
}

static bool number_item(walk *w, walk_kind kind, size_t size, walk_item *out) {
    uint64_t number;
    if (!walk_big_endian(w, size, &number)) {
        return false;
    }
    if (kind == WALK_SIGNED && size < 8 && number >> (8 * size - 1)) {
        number |= UINT64_MAX << (8 * size);
    }
    *out = (walk_item){kind, number, NULL};
    return true;
}

static bool content_item(walk *w, walk_kind kind, size_t size, walk_item *out) {
    uint64_t length;
    return walk_big_endian(w, size, &length) && walk_content(w, kind, length, out);
}

bool walk_long_form(walk *w, uint8_t head, walk_item *out) {
    switch (head) {
    case 0xc2:
    case 0xc3:
        *out = (walk_item){WALK_BOOLEAN, head & 1, NULL};
        return true;
    case 0xc4:
    case 0xc5:
    case 0xc6:
        return content_item(w, WALK_BYTES, (size_t)1 << (head - 0xc4), out);
    case 0xca:
    case 0xcb:
        return float_item(w, head == 0xca ? 4 : 8, out);
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf:
        return number_item(w, WALK_UNSIGNED, (size_t)1 << (head - 0xcc), out);
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
        return number_item(w, WALK_SIGNED, (size_t)1 << (head - 0xd0), out);
    case 0xd9:
    case 0xda:
    case 0xdb:
        return content_item(w, WALK_TEXT, (size_t)1 << (head - 0xd9), out);
    case 0xdc:
    case 0xdd:
        return number_item(w, WALK_ARRAY, head == 0xdc ? 2 : 4, out);
    case 0xde:
    case 0xdf:
        return number_item(w, WALK_MAP, head == 0xde ? 2 : 4, out);
    default:
        *out = (walk_item){WALK_SIGNED, (uint64_t)(int64_t)(int8_t)head, NULL};
        return head >= 0xe0;
    }
}
