/* memory.c - the only place that asks the system for memory.
 *
 * Law: as in memory.h. What is counted is what the allocator takes: glibc's rule of an eight-byte header and steps of
 * sixteen, or whole pages for a block so large that it is mapped by itself. Those are aligned for huge pages, because
 * a match jumps through them and would miss the TLB on every step.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/memory.h"

#define HUGE_PAGE_BYTES ((size_t)2 << 20)
#define MAPPED_BYTES_MIN ((size_t)4 << 20) /* below, a block would waste the ends of its huge pages */
#define PAGE_BYTES ((size_t)4096)
#define GIVEN_BACK_BYTES (UINT64_C(16) << 20)

static bool is_mapped(size_t size) {
    return size >= MAPPED_BYTES_MIN;
}

static size_t round_up(size_t size, size_t step) {
    return (size + step - 1) / step * step;
}

uint64_t tm_memory_charge(size_t size) {
    if (is_mapped(size)) {
        return round_up(size, PAGE_BYTES);
    }
    size_t chunk = round_up(size + 8, 16);
    return chunk < 32 ? 32 : chunk;
}

/* Would `size` more bytes in place of `old` be allowed? Counts down to the failure a test has asked for. */
static bool admitted(tm_memory *memory, uint64_t old, uint64_t size) {
    if (memory->fail_in > 0 && --memory->fail_in == 0) {
        return false;
    }
    return memory->bytes_max == 0 || memory->bytes - old + size <= memory->bytes_max;
}

static void account(tm_memory *memory, tm_heat heat, uint64_t old, uint64_t size) {
    memory->bytes += size - old;
    if (heat == TM_HOT) {
        memory->hot_bytes += size - old;
    }
}

/* A zeroed mapping that starts at a huge page: map too much, give back both ends. */
static void *map(size_t size) {
    size_t wanted = round_up(size, PAGE_BYTES);
    uint8_t *start = mmap(NULL, wanted + HUGE_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) {
        return NULL;
    }
    uint8_t *aligned = (uint8_t *)round_up((uintptr_t)start, HUGE_PAGE_BYTES);
    size_t before = (size_t)(aligned - start);
    if (before > 0) {
        munmap(start, before);
    }
    if (before < HUGE_PAGE_BYTES) {
        munmap(aligned + wanted, HUGE_PAGE_BYTES - before);
    }
    madvise(aligned, wanted, MADV_HUGEPAGE); /* only advice: a kernel without huge pages refuses it */
    return aligned;
}

static void *obtain(size_t size) {
    return is_mapped(size) ? map(size) : calloc(1, size > 0 ? size : 1);
}

static void release(void *block, size_t size) {
    if (is_mapped(size)) {
        munmap(block, round_up(size, PAGE_BYTES));
    } else {
        free(block);
    }
}

void *tm_alloc_counted(tm_memory *memory, tm_heat heat, size_t size) {
    void *block = admitted(memory, 0, tm_memory_charge(size)) ? obtain(size) : NULL;
    if (block != NULL) {
        account(memory, heat, 0, tm_memory_charge(size));
    }
    return block;
}

/* Pages change their address, not their place: growing a table of any size is a matter of microseconds. */
static void *remap(void *block, size_t old, size_t size) {
    size_t kept = round_up(old < size ? old : size, PAGE_BYTES);
    void *moved = map(size);
    if (moved == NULL) {
        return NULL;
    }
    if (mremap(block, kept, kept, MREMAP_MAYMOVE | MREMAP_FIXED, moved) == MAP_FAILED) {
        memcpy(moved, block, kept);
        munmap(block, kept);
    }
    if (round_up(old, PAGE_BYTES) > kept) {
        munmap((uint8_t *)block + kept, round_up(old, PAGE_BYTES) - kept);
    }
    return moved;
}

static void *move(void *block, size_t old, size_t size) {
    if (is_mapped(old) && is_mapped(size)) {
        return remap(block, old, size);
    }
    void *moved = obtain(size);
    if (moved != NULL) {
        memcpy(moved, block, old < size ? old : size);
        release(block, old);
    }
    return moved;
}

void *tm_realloc_counted(tm_memory *memory, tm_heat heat, void *block, size_t old, size_t size) {
    if (block == NULL) {
        return tm_alloc_counted(memory, heat, size);
    }
    if (!admitted(memory, tm_memory_charge(old), tm_memory_charge(size))) {
        return NULL;
    }
    void *moved = is_mapped(old) || is_mapped(size) ? move(block, old, size) : realloc(block, size > 0 ? size : 1);
    if (moved != NULL) {
        account(memory, heat, tm_memory_charge(old), tm_memory_charge(size));
    }
    return moved;
}

void *tm_extend_counted(tm_memory *memory, tm_heat heat, void *block, size_t old, size_t size) {
    uint8_t *extended = tm_realloc_counted(memory, heat, block, old, size);
    if (extended != NULL && block != NULL) {
        size_t mapped_end = round_up(old, PAGE_BYTES); /* the page of the old end may hold what was there before */
        size_t end = is_mapped(size) && mapped_end < size ? mapped_end : size;
        memset(extended + old, 0, end - old);
    }
    return extended;
}

void tm_free_counted(tm_memory *memory, tm_heat heat, void *block, size_t size) {
    if (block != NULL) {
        release(block, size);
        account(memory, heat, tm_memory_charge(size), 0);
        memory->freed += size;
    }
}

/* The allocator keeps what lies below a block in use, however much it is. */
void tm_memory_give_back(tm_memory *memory) {
    if (memory->freed >= GIVEN_BACK_BYTES) {
        memory->freed = 0;
        malloc_trim(0);
    }
}
