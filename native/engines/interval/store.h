/* store.h - how the arrays of the engine `interval` grow and shrink, and what they take.
 *
 * Law: every block of the structures comes from here and is counted in `bytes` as the allocator charges it. An array
 * grows by `grow` per cent of its room, and gives room back once more than `spare` per cent of it are empty. Rooms are
 * multiples of 16 bytes. A block that cannot be made smaller stays as it is.
 */
#ifndef TM_INTERVAL_STORE_H
#define TM_INTERVAL_STORE_H

#include "base/memory.h"

typedef struct tm_interval_store {
    tm_memory *memory; /* borrowed */
    uint64_t bytes;
    uint32_t grow;  /* per cent */
    uint32_t spare; /* per cent */
} tm_interval_store;

/* A zeroed block; NULL: there is no memory. Yours to free with its size. */
void *tm_store_new(tm_interval_store *store, size_t size);
void tm_store_free(tm_interval_store *store, void *block, size_t size);

/* Let `*(T **)array`, elements of `size` bytes, have room for `wanted`; new room is zeroed. false: nothing has changed.
 */
bool tm_store_grow(tm_interval_store *store, void *array, size_t size, uint32_t *capacity, uint32_t wanted);
/* `count` elements are left, the rest of the room is empty: give some back if that is too much. */
void tm_store_shrink(tm_interval_store *store, void *array, size_t size, uint32_t *capacity, uint32_t count);

#endif
