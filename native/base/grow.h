/* grow.h - the one rule by which arrays grow.
 *
 * Law: room grows by half while an array is small and by a quarter once it is large, so adding is cheap on average and
 * a large table wastes an eighth on average. New elements are zeroed. On failure nothing has changed.
 */
#ifndef TM_GROW_H
#define TM_GROW_H

#include "base/memory.h"
#include "tm.h"

/* Let `*(T **)array`, elements of `size` bytes, have room for `wanted`; `*capacity` is its room. */
bool tm_grow(tm_memory *memory, tm_heat heat, void *array, size_t size, uint32_t *capacity, uint32_t wanted);

/* Give back the room beyond `wanted` elements; without memory for the smaller block it stays. `wanted` is not 0. */
void tm_shrink(tm_memory *memory, tm_heat heat, void *array, size_t size, uint32_t *capacity, uint32_t wanted);

#endif
