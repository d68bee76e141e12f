/* memory.c - the only place that requests memory from the system.
 *
 * Law: see memory.h. The counted size is what the allocator takes: glibc's rule of an eight-byte header and steps of
 * sixteen, or whole pages for a block so large that it is mapped by itself. Those are aligned for huge pages, because
 * a match jumps through them and would miss the TLB on every step, and grow in place into addresses that are reserved
 * for them, because a page that is moved in parts is no longer huge. The last huge page of a block may be taken whole.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/memory.h"

#define HUGE_PAGE_BYTES ((size_t)2 << 20)
#define MAPPED_BYTES_MIN ((size_t)4 << 20) /* a smaller block would waste the ends of its huge pages */
#define PAGE_BYTES ((size_t)4096)
#define RESERVED_TIMES 8U /* multiple of a mapped block's size that is reserved to grow into */
#define GIVEN_BACK_BYTES (UINT64_C(16) << 20)

static bool is_mapped(size_t size) {
    return size >= MAPPED_BYTES_MIN;
}

static size_t round_up(size_t size, size_t step) {
    return (size + step - 1) / step * step;
}

uint64_t tm_memory_charge(size_t size) {
    if (is_mapped(size)) {
        return PAGE_BYTES + round_up(size, PAGE_BYTES); /* with the page before it */
    }
    size_t chunk = round_up(size + 8, 16);
    return chunk < 32 ? 32 : chunk;
}

/* true if `size` bytes in place of `old` are allowed; counts down to the failure that a test has requested */
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

/* ---- mapped blocks ---- */

/* Stored in the page before a mapped block. */
typedef struct extent {
    size_t reserved; /* reserved addresses from the block on: whole huge pages */
    size_t open;     /* writable part of these: whole huge pages, at least the block's size */
} extent;

static extent *extent_of(void *block) {
    return (extent *)(void *)((uint8_t *)block - PAGE_BYTES);
}

/* Return the addresses to reserve for a block. Addresses cost nothing where they have no bound. With one (`ulimit -v`)
 * none are reserved beyond the block, since other allocations need them, and a block that grows moves. */
static size_t reserve_for(size_t size) {
    struct rlimit limit;
    bool is_bound = getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
    return round_up(is_bound ? size : size * RESERVED_TIMES, HUGE_PAGE_BYTES);
}

/* Reserve addresses from the start of a huge page on, with a page before them, without access: they count nowhere, not
 * even under strict overcommit. Maps too much and unmaps both ends. */
static uint8_t *reserve(size_t reserved) {
    uint8_t *start = mmap(NULL, PAGE_BYTES + reserved + HUGE_PAGE_BYTES, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) {
        return NULL;
    }
    uint8_t *block = (uint8_t *)round_up((uintptr_t)start + PAGE_BYTES, HUGE_PAGE_BYTES);
    size_t before = (size_t)(block - PAGE_BYTES - start);
    if (before > 0) {
        munmap(start, before);
    }
    if (before < HUGE_PAGE_BYTES) {
        munmap(block + reserved, HUGE_PAGE_BYTES - before);
    }
    return block;
}

static void release_mapped(void *block) {
    munmap((uint8_t *)block - PAGE_BYTES, PAGE_BYTES + extent_of(block)->reserved);
}

/* Make the whole pages from..to of a reservation writable; they are zero. false: no memory. */
static bool open_pages(uint8_t *block, size_t from, size_t to) {
    if (mprotect(block + from, to - from, PROT_READ | PROT_WRITE) != 0) {
        return false;
    }
    madvise(block + from, to - from, MADV_HUGEPAGE); /* advisory: a kernel without huge pages refuses it */
    return true;
}

/* Reserve a block of `size` bytes, writable from `from` on; NULL: no memory. Where the addresses are refused, only
 * those that the block needs now are reserved. */
static uint8_t *reserve_open(size_t size, size_t from) {
    size_t open = round_up(size, HUGE_PAGE_BYTES);
    size_t reserved = reserve_for(size);
    uint8_t *block = reserve(reserved);
    if (block == NULL && reserved > open) {
        reserved = open;
        block = reserve(reserved);
    }
    if (block == NULL) {
        return NULL;
    }
    bool is_head_open = mprotect(block - PAGE_BYTES, PAGE_BYTES, PROT_READ | PROT_WRITE) == 0;
    if (!is_head_open || (from < open && !open_pages(block, from, open))) {
        munmap(block - PAGE_BYTES, PAGE_BYTES + reserved);
        return NULL;
    }
    *extent_of(block) = (extent){reserved, open};
    return block;
}

/* Return a zeroed block; NULL: no memory. */
static void *map(size_t size) {
    return reserve_open(size, 0);
}

/* Pages change their address, not their frame: moving a table of any size takes microseconds. */
static void *move_mapped(void *block, size_t size) {
    size_t kept = extent_of(block)->open;
    uint8_t *moved = reserve_open(size, kept);
    if (moved == NULL) {
        return NULL;
    }
    if (mremap(block, kept, kept, MREMAP_MAYMOVE | MREMAP_FIXED, moved) == MAP_FAILED) {
        if (!open_pages(moved, 0, kept)) {
            release_mapped(moved);
            return NULL;
        }
        memcpy(moved, block, kept);
    }
    release_mapped(block);
    return moved;
}

/* Resize in place as long as the reservation suffices: huge pages stay whole, and no page moves. */
static void *resize_mapped(void *block, size_t old, size_t size) {
    extent *at = extent_of(block);
    if (size > at->reserved) {
        return move_mapped(block, size);
    }
    if (size > at->open) {
        size_t open = round_up(size, HUGE_PAGE_BYTES);
        if (!open_pages(block, at->open, open)) {
            return NULL;
        }
        at->open = open;
    }
    size_t kept = round_up(size, PAGE_BYTES);
    if (round_up(old, PAGE_BYTES) > kept) { /* the freed tail must be zero when it is used again */
        madvise((uint8_t *)block + kept, round_up(old, PAGE_BYTES) - kept, MADV_DONTNEED);
    }
    return block;
}

static void *obtain(size_t size) {
    return is_mapped(size) ? map(size) : calloc(1, size > 0 ? size : 1);
}

static void release(void *block, size_t size) {
    if (is_mapped(size)) {
        release_mapped(block);
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

static void *move(void *block, size_t old, size_t size) {
    if (is_mapped(old) && is_mapped(size)) {
        return resize_mapped(block, old, size);
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
        size_t mapped_end = round_up(old, PAGE_BYTES); /* the last page of the old block may hold old data */
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

/* The allocator keeps free memory below a block in use, however much it is. */
void tm_memory_give_back(tm_memory *memory) {
    if (memory->freed >= GIVEN_BACK_BYTES) {
        memory->freed = 0;
        malloc_trim(0);
    }
}
