/* grow.c - growing an array. Law: see grow.h. */
#include <string.h>

#include "base/grow.h"

#define LARGE_BYTES ((size_t)1 << 20)

uint32_t tm_next_capacity(uint32_t capacity, size_t size) {
    if (capacity == 0) {
        return 1;
    }
    return capacity + 1 + (capacity * size < LARGE_BYTES ? capacity / 2 : capacity / 4);
}

bool tm_grow(tm_memory *memory, tm_heat heat, void *array, size_t size, uint32_t *capacity, uint32_t wanted) {
    if (wanted <= *capacity) {
        return true;
    }
    uint32_t room = tm_next_capacity(*capacity, size);
    room = room < wanted ? wanted : room;
    uint8_t *block;
    memcpy(&block, array, sizeof block);
    block = tm_extend_counted(memory, heat, block, size * *capacity, size * room);
    if (block == NULL) {
        return false;
    }
    memcpy(array, &block, sizeof block);
    *capacity = room;
    return true;
}

void tm_shrink(tm_memory *memory, tm_heat heat, void *array, size_t size, uint32_t *capacity, uint32_t wanted) {
    uint8_t *block;
    memcpy(&block, array, sizeof block);
    if (wanted >= *capacity) {
        return;
    }
    block = tm_realloc_counted(memory, heat, block, size * *capacity, size * wanted);
    if (block != NULL) {
        memcpy(array, &block, sizeof block);
        *capacity = wanted;
    }
}
