/* arena.h - many small blocks in one growing array of 8-byte units, named by 32-bit references.
 *
 * Law: a block is at least as large as requested (its size class); freed blocks are reused by blocks of their class; a
 * reference stays valid while the array moves, a pointer from tm_arena_at only until the next allocation. Reference 0
 * is never assigned.
 */
#ifndef TM_ARENA_H
#define TM_ARENA_H

#include "base/memory.h"

/* Classes of 1, 2, 3 ... 16 units, then 24, 32, 48, 64 ...: small blocks waste nothing, large ones at most a third. */
#define TM_ARENA_EXACT 16U
#define TM_ARENA_CLASSES 64

typedef struct tm_arena {
    tm_memory *memory; /* borrowed */
    uint64_t *units;   /* owned; [0] unused */
    uint32_t top;
    uint32_t capacity;
    uint32_t used; /* units in live blocks */
    tm_heat heat;
    uint32_t free[TM_ARENA_CLASSES]; /* heads of the free lists; a free block starts with the next reference */
} tm_arena;

void tm_arena_init(tm_arena *arena, tm_memory *memory, tm_heat heat);
void tm_arena_clear(tm_arena *arena);

/* Return the class whose blocks hold `units`; return the units of a class. */
unsigned tm_arena_class(uint32_t units);
uint32_t tm_arena_class_units(unsigned size_class);

/* Make room for `units` more, so that taking them does not grow; false: no memory, nothing changed. */
bool tm_arena_reserve(tm_arena *arena, uint32_t units);

uint32_t tm_arena_take(tm_arena *arena, unsigned size_class); /* 0: no memory; contents are undefined */
void tm_arena_give(tm_arena *arena, uint32_t block, unsigned size_class);

static inline void *tm_arena_at(const tm_arena *arena, uint32_t block) {
    return arena->units + block;
}

#endif
