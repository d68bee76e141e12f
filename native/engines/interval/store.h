/* store.h - grows and shrinks the arrays of the engine `interval`, and counts their memory.
 *
 * Law: every block of the structures is allocated here and counted in `bytes` as the allocator charges it. An array
 * grows by `grow` per cent of its room, and shrinks once more than `spare` per cent of it are empty. Rooms are
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

/* Return a zeroed block; NULL if out of memory. The caller frees it with its size. */
void *tm_store_new(tm_interval_store *store, size_t size);
void tm_store_free(tm_interval_store *store, void *block, size_t size);

/* Grow `*(T **)array`, elements of `size` bytes, to room for `wanted`; new room is zeroed. false if out of memory, then
 * nothing changed. */
bool tm_store_grow(tm_interval_store *store, void *array, size_t size, uint32_t *capacity, uint32_t wanted);
/* Shrink an array that has `count` elements left, if too much of it is empty. */
void tm_store_shrink(tm_interval_store *store, void *array, size_t size, uint32_t *capacity, uint32_t count);

#endif
