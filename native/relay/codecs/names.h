/* names.h - whether the names of one message differ.
 *
 * Law: for at most TM_ATTRIBUTES_MAX names. Names that meet in one of 256 places are compared, which costs at most
 * 2,016 comparisons, of bytes that the message has: some 30 us for names that were chosen to meet, of 16 KiB.
 */
#ifndef TM_RELAY_NAMES_H
#define TM_RELAY_NAMES_H

#include <stdbool.h>
#include <string.h>

#include "tm.h"

typedef struct names {
    uint64_t taken[4];
    const uint8_t *at[TM_ATTRIBUTES_MAX]; /* borrowed */
    uint16_t size[TM_ATTRIBUTES_MAX];
    uint32_t count;
} names;

static inline void names_begin(names *all) {
    memset(all->taken, 0, sizeof all->taken);
    all->count = 0;
}

/* Add a name of at least one byte, of which there are fewer than TM_ATTRIBUTES_MAX; false: it is there. */
static inline bool names_add(names *all, const uint8_t *name, uint32_t size) {
    uint32_t mixed = (name[0] * 31U + name[size / 2] * 17U + name[size - 1]) * 2654435761U + size * 40503U;
    uint32_t place = mixed >> 24;
    uint64_t bit = UINT64_C(1) << place % 64;
    if ((all->taken[place / 64] & bit) != 0) {
        for (uint32_t i = 0; i < all->count; i++) {
            if (all->size[i] == size && memcmp(all->at[i], name, size) == 0) {
                return false;
            }
        }
    }
    all->taken[place / 64] |= bit;
    all->at[all->count] = name;
    all->size[all->count++] = (uint16_t)size;
    return true;
}

#endif
