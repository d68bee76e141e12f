/* grow.h - the rule by which arrays grow that have no reason for another.
 *
 * Law: capacity grows by half while an array is small and by a quarter once it is large, so adding is cheap on average
 * and a large array wastes an eighth on average. New elements are zeroed. On failure nothing has changed.
 *
 * Other rules, each explained at its place:
 *
 *     hash sets               double, as a slot is a hash cut to a power of two (idset.c)
 *     the arena               by an eighth: it is one large block that grows in place (arena.c)
 *     bytes of a connection   double, so that moving them down is paid for by those that come (outbox.c)
 *     arrays of all filters   by a quarter from the start, because bytes a filter are what a table is judged by
 *                             (engines/onepath, subscriptions.c)
 *     lists of one constant   in the steps of the allocator (constraints.c, chain.c, trie_shape.c)
 */
#ifndef TM_GROW_H
#define TM_GROW_H

#include "base/memory.h"
#include "tm.h"

/* Return the capacity that follows `capacity` elements of `size` bytes by the rule; for arrays that grow together, or
 * up to a bound. */
uint32_t tm_next_capacity(uint32_t capacity, size_t size);

/* Grow `*(T **)array`, elements of `size` bytes, to at least `wanted`; `*capacity` is its capacity. false: no memory.
 */
bool tm_grow(tm_memory *memory, tm_heat heat, void *array, size_t size, uint32_t *capacity, uint32_t wanted);

/* Shrink an array to `wanted` elements, more than 0; without memory for the smaller block it stays. */
void tm_shrink(tm_memory *memory, tm_heat heat, void *array, size_t size, uint32_t *capacity, uint32_t wanted);

#endif
