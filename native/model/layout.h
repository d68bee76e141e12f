/* layout.h - a message whose names and values lie where those of an earlier one did, compared with that by blocks.
 *
 * Law: bytes of names must be equal, and of a value those that say its kind and its size. Bytes of strings are ASCII.
 * So a message of the layout is sound, but for numbers that not all of their bytes allow: they are read. A layout is
 * noted from a message of the shape, and again if others come, the less often the less it was of use.
 */
#ifndef TM_LAYOUT_H
#define TM_LAYOUT_H

#include <stdbool.h>

#include "tm.h"

#define LAYOUT_BLOCK_BYTES 16U
#define LAYOUT_BLOCKS_MAX 32U /* a longer message is no layout */

typedef uint8_t tm_layout_block __attribute__((vector_size(LAYOUT_BLOCK_BYTES), aligned(1)));

/* An attribute that is decoded, or one whose value is read to know that it is sound. Offsets in the message. */
typedef struct tm_layout_place {
    tm_attribute like; /* the attribute, but for what is read from the message */
    uint16_t name;
    uint16_t value;  /* its first byte; of a string, the first behind its length */
    uint8_t reading; /* how the value is read (layout.c) */
} tm_layout_place;

typedef struct tm_layout {
    uint32_t size; /* of a message; 0: there is no layout */
    uint32_t block_count;
    uint32_t wanted_count;
    uint32_t read_count;
    uint32_t wait;  /* messages without the layout until another one is noted */
    uint32_t pause; /* what `wait` begins with */
    bool was_used;  /* since it was noted */
    tm_layout_place wanted[TM_ATTRIBUTES_MAX];
    tm_layout_place read[TM_ATTRIBUTES_MAX]; /* not decoded */
    tm_layout_block masks[LAYOUT_BLOCKS_MAX];
    tm_layout_block texts[LAYOUT_BLOCKS_MAX]; /* under the masks */
} tm_layout;

struct tm_shape;

/* Decode a message of the layout into `out`: the wanted attributes, in order. false: it is none, or is not sound.
 * LAYOUT_BLOCK_BYTES behind `size` must be readable. */
bool tm_layout_take(tm_layout *layout, const uint8_t *bytes, size_t size, tm_attribute *out);
/* A sound message of the shape is not of the layout: note it in place of what was noted, if it is time. `first` is the
 * place of its first name. */
void tm_layout_miss(tm_layout *layout, const struct tm_shape *shape, const uint8_t *bytes, size_t size, size_t first);

#endif
