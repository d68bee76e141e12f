/* store.c - blocks and arrays. Law: see store.h. */
#include <string.h>

#include "engines/interval/store.h"

#define GRAIN_BYTES 16U

void *tm_store_new(tm_interval_store *store, size_t size) {
    void *block = tm_alloc_counted(store->memory, TM_HOT, size);
    store->bytes += block != NULL ? tm_memory_charge(size) : 0;
    return block;
}

void tm_store_free(tm_interval_store *store, void *block, size_t size) {
    if (block != NULL) {
        store->bytes -= tm_memory_charge(size);
        tm_free_counted(store->memory, TM_HOT, block, size);
    }
}

/* Return `count` elements rounded up to whole grains. */
static uint32_t in_grains(uint64_t count, size_t size) {
    uint64_t grain = size < GRAIN_BYTES ? GRAIN_BYTES / size : 1;
    return (uint32_t)((count + grain - 1) / grain * grain);
}

static bool resize(tm_interval_store *store, void *array, size_t size, uint32_t *capacity, uint32_t room) {
    void *block;
    memcpy(&block, array, sizeof block);
    void *resized = tm_realloc_counted(store->memory, TM_HOT, block, size * *capacity, size * room);
    if (resized == NULL) {
        return false;
    }
    store->bytes += tm_memory_charge(size * room);
    store->bytes -= block != NULL ? tm_memory_charge(size * *capacity) : 0;
    memcpy(array, &resized, sizeof resized);
    *capacity = room;
    return true;
}

bool tm_store_grow(tm_interval_store *store, void *array, size_t size, uint32_t *capacity, uint32_t wanted) {
    uint32_t before = *capacity;
    if (wanted <= before) {
        return true;
    }
    uint64_t room = before + (uint64_t)before * store->grow / 100;
    if (!resize(store, array, size, capacity, in_grains(room > wanted ? room : wanted, size))) {
        return false;
    }
    uint8_t *block;
    memcpy(&block, array, sizeof block);
    memset(block + size * before, 0, size * (*capacity - before));
    return true;
}

void tm_store_shrink(tm_interval_store *store, void *array, size_t size, uint32_t *capacity, uint32_t count) {
    if (count == 0) {
        void *block;
        memcpy(&block, array, sizeof block);
        tm_store_free(store, block, size * *capacity);
        block = NULL;
        memcpy(array, &block, sizeof block);
        *capacity = 0;
        return;
    }
    uint32_t room = in_grains(count, size);
    uint64_t empty = *capacity - count;
    if (room < *capacity && empty * 100 > (uint64_t)*capacity * store->spare) {
        resize(store, array, size, capacity, room);
    }
}
