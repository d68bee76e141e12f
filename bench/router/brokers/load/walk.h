/* walk.h - read msgpack in place: what the load generator and the forwarder need of it, and no more.
 *
 * Law: never past `end`; allocates nothing. The daemon under test judges what is well-formed; here a `false` only means
 * that the bytes are none we know.
 */
#ifndef WALK_H
#define WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct walk {
    const uint8_t *at; /* borrowed */
    const uint8_t *end;
} walk;

/* One item: its kind, and what its header says. Of strings and bins the content is passed over, of containers not. */
typedef enum walk_kind {
    WALK_UNSIGNED,
    WALK_SIGNED,
    WALK_FLOAT,
    WALK_BOOLEAN,
    WALK_TEXT,
    WALK_BYTES,
    WALK_ARRAY,
    WALK_MAP
} walk_kind;

typedef struct walk_item {
    walk_kind kind;
    uint64_t number;      /* an integer's two's complement; 0 or 1; a float's bits as a double; a length; a count */
    const uint8_t *bytes; /* of a text or bin; borrowed */
} walk_item;

static inline bool walk_big_endian(walk *w, size_t size, uint64_t *out) {
    if ((size_t)(w->end - w->at) < size) {
        return false;
    }
    *out = 0;
    for (size_t i = 0; i < size; i++) {
        *out = *out << 8 | w->at[i];
    }
    w->at += size;
    return true;
}

static inline bool walk_content(walk *w, walk_kind kind, uint64_t length, walk_item *out) {
    if ((uint64_t)(w->end - w->at) < length) {
        return false;
    }
    *out = (walk_item){kind, length, w->at};
    w->at += length;
    return true;
}

bool walk_long_form(walk *w, uint8_t head, walk_item *out);

static inline bool walk_next(walk *w, walk_item *out) {
    if (w->at >= w->end) {
        return false;
    }
    uint8_t head = *w->at++;
    if (head < 0x80) {
        *out = (walk_item){WALK_UNSIGNED, head, NULL};
    } else if (head < 0xa0) {
        *out = (walk_item){head < 0x90 ? WALK_MAP : WALK_ARRAY, head & 15, NULL};
    } else if (head < 0xc0) {
        return walk_content(w, WALK_TEXT, head & 31, out);
    } else {
        return walk_long_form(w, head, out);
    }
    return true;
}

static inline bool walk_expect(walk *w, walk_kind kind, walk_item *out) {
    return walk_next(w, out) && out->kind == kind;
}

#endif
