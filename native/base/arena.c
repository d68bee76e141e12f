/* arena.c - see arena.h. Growth is by an eighth, at least one page: large arrays grow in place (memory.c), so the
 * cost of growing stays small, and little is kept unused. */
#include "base/arena.h"

#include <string.h>

#define GROWTH_UNITS_MIN 512U

void tm_arena_init(tm_arena *arena, tm_memory *memory, tm_heat heat) {
    memset(arena, 0, sizeof *arena);
    arena->memory = memory;
    arena->heat = heat;
    arena->top = 1;
}

void tm_arena_clear(tm_arena *arena) {
    TM_DELETE(arena->memory, arena->heat, arena->units, uint64_t, arena->capacity);
    tm_arena_init(arena, arena->memory, arena->heat);
}

/* Classes 0 ... 15 have 1 ... 16 units, then two classes an octave: 24, 32, 48, 64 ... */
uint32_t tm_arena_class_units(unsigned size_class) {
    if (size_class < TM_ARENA_EXACT) {
        return size_class + 1;
    }
    unsigned above = size_class - TM_ARENA_EXACT;
    return (above & 1 ? 4U : 3U) << (above / 2 + 3);
}

unsigned tm_arena_class(uint32_t units) {
    if (units <= TM_ARENA_EXACT) {
        return units <= 1 ? 0 : units - 1;
    }
    unsigned octave = 31U - (unsigned)__builtin_clz(units - 1); /* 2^octave < units <= 2^(octave + 1) */
    unsigned upper = TM_ARENA_EXACT + 2 * (octave - 4) + 1;     /* the class of 2^(octave + 1) */
    return units <= tm_arena_class_units(upper - 1) ? upper - 1 : upper;
}

static bool grow(tm_arena *arena, uint32_t units) {
    uint64_t wanted = (uint64_t)arena->top + units;
    uint64_t capacity = arena->capacity + arena->capacity / 8 + GROWTH_UNITS_MIN;
    if (capacity < wanted) {
        capacity = wanted;
    }
    if (capacity > UINT32_MAX) {
        return false;
    }
    uint64_t *moved = TM_RESIZE(arena->memory, arena->heat, arena->units, uint64_t, arena->capacity, capacity);
    if (moved == NULL) {
        return false;
    }
    arena->units = moved;
    arena->capacity = (uint32_t)capacity;
    return true;
}

bool tm_arena_reserve(tm_arena *arena, uint32_t units) {
    return (uint64_t)arena->top + units <= arena->capacity || grow(arena, units);
}

uint32_t tm_arena_take(tm_arena *arena, unsigned size_class) {
    uint32_t units = tm_arena_class_units(size_class);
    uint32_t block = arena->free[size_class];
    if (block != 0) {
        arena->free[size_class] = (uint32_t)arena->units[block];
        __builtin_prefetch(&arena->units[arena->free[size_class]], 1); /* for the next block of this class */
    } else {
        if ((uint64_t)arena->top + units > arena->capacity && !grow(arena, units)) {
            return 0;
        }
        block = arena->top;
        arena->top += units;
    }
    arena->used += units;
    return block;
}

void tm_arena_give(tm_arena *arena, uint32_t block, unsigned size_class) {
    arena->used -= tm_arena_class_units(size_class);
    if (arena->used == 0) { /* no block is live: forget the free lists and start from the bottom */
        tm_arena_clear(arena);
        return;
    }
    arena->units[block] = arena->free[size_class];
    arena->free[size_class] = block;
}
