/* test_memory.c - large blocks: where they grow in place, and where addresses are bound or short.
 *
 * Law under test: a block keeps what it holds and its tail is zero, whatever the system refuses; with addresses to
 * spare it stays where it is until it is eight times as large.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/memory.h"
#include "support.h"

#define MEBIBYTE ((size_t)1 << 20)
#define PAGE ((size_t)4096)
#define FIRST (5 * MEBIBYTE)
#define HELD_MAX 4096U

static uint8_t mark_of(size_t at) {
    return (uint8_t)(1 + at / PAGE % 251);
}

static void write_marks(uint8_t *block, size_t from, size_t to) {
    for (size_t at = (from + PAGE - 1) / PAGE * PAGE; at < to; at += PAGE) {
        block[at] = mark_of(at);
    }
}

static void check_marks(const uint8_t *block, size_t size) {
    for (size_t at = 0; at < size; at += PAGE) {
        CHECK(block[at] == mark_of(at), "a block has lost its contents");
    }
}

static void check_zero(const uint8_t *block, size_t from, size_t to) {
    for (size_t at = from; at < to; at += 64) {
        CHECK(block[at] == 0, "the tail of a block is not zero");
    }
}

/* Grow to at least `wanted` by eighths; how often the block moved. */
static uint32_t grow_by_eighths(tm_memory *memory, uint8_t **block, size_t *size, size_t wanted) {
    uint32_t moves = 0;
    while (*size < wanted) {
        size_t larger = *size + *size / 8 + 24;
        uint8_t *grown = tm_extend_counted(memory, TM_HOT, *block, *size, larger);
        CHECK(grown != NULL, "a block does not grow");
        moves += grown != *block;
        check_zero(grown, *size, larger);
        write_marks(grown, *size, larger);
        *block = grown;
        *size = larger;
    }
    check_marks(*block, *size);
    return moves;
}

static uint8_t *new_block(tm_memory *memory, size_t size) {
    uint8_t *block = tm_alloc_counted(memory, TM_HOT, size);
    CHECK(block != NULL, "no block");
    check_zero(block, 0, size);
    write_marks(block, 0, size);
    return block;
}

static void test_in_place(void) {
    tm_memory memory = {0};
    size_t size = FIRST;
    uint8_t *block = new_block(&memory, size);
    CHECK((uintptr_t)block % (2 * MEBIBYTE) == 0, "a block does not start at a huge page");
    CHECK(grow_by_eighths(&memory, &block, &size, 7 * FIRST) == 0, "a block moved while it had addresses");
    CHECK(grow_by_eighths(&memory, &block, &size, 12 * FIRST) == 1, "a block did not move once");
    size_t smaller = FIRST + 100;
    block = tm_realloc_counted(&memory, TM_HOT, block, size, smaller);
    CHECK(block != NULL && memory.bytes < FIRST + 4 * PAGE, "a block does not shrink");
    check_marks(block, smaller);
    size = smaller;
    grow_by_eighths(&memory, &block, &size, 2 * FIRST); /* what it had once held there is gone */
    tm_free_counted(&memory, TM_HOT, block, size);
    CHECK(memory.bytes == 0, "unused bytes are counted");
}

static size_t address_bytes(void) {
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;
    CHECK(file != NULL && fscanf(file, "%lu", &pages) == 1, "no statm");
    fclose(file);
    return pages * PAGE;
}

/* As under `ulimit -v`. */
static void test_bound_addresses(void) {
    struct rlimit before;
    CHECK(getrlimit(RLIMIT_AS, &before) == 0, "no limits");
    struct rlimit bound = {address_bytes() + 160 * MEBIBYTE, before.rlim_max};
    CHECK(setrlimit(RLIMIT_AS, &bound) == 0, "no limit can be set");
    tm_memory memory = {0};
    size_t size = FIRST;
    uint8_t *block = new_block(&memory, size);
    grow_by_eighths(&memory, &block, &size, 12 * FIRST);
    uint64_t bytes = memory.bytes;
    CHECK(tm_extend_counted(&memory, TM_HOT, block, size, 200 * MEBIBYTE) == NULL, "a block grew past the limit");
    CHECK(memory.bytes == bytes, "a refused block is counted");
    check_marks(block, size);
    CHECK(setrlimit(RLIMIT_AS, &before) == 0, "the limit stays");
    grow_by_eighths(&memory, &block, &size, 20 * FIRST);
    tm_free_counted(&memory, TM_HOT, block, size);
}

typedef struct held_addresses {
    void *starts[HELD_MAX];
    size_t sizes[HELD_MAX];
    uint32_t count;
} held_addresses;

/* Take all addresses but for holes of less than `hole` bytes. */
static void hold_addresses(held_addresses *held, size_t hole) {
    held->count = 0;
    for (size_t size = (size_t)1 << 46; size >= hole; size /= 2) {
        while (held->count < HELD_MAX) {
            void *start = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (start == MAP_FAILED) {
                break;
            }
            held->starts[held->count] = start;
            held->sizes[held->count++] = size;
        }
    }
}

/* A reservation is refused, the block itself is not. */
static void test_short_addresses(void) {
    static held_addresses held;
    hold_addresses(&held, 16 * MEBIBYTE);
    void *room = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(held.count > 1 && held.count < HELD_MAX, "addresses cannot be held");
    munmap(held.starts[held.count - 1], held.sizes[held.count - 1]); /* for one block, its neighbour and their ends */
    tm_memory memory = {0};
    uint8_t *block = tm_alloc_counted(&memory, TM_HOT, FIRST);
    for (uint32_t i = 0; i + 1 < held.count; i++) {
        munmap(held.starts[i], held.sizes[i]);
    }
    munmap(room, PAGE);
    CHECK(block != NULL, "a block is refused because it cannot grow in place");
    check_zero(block, 0, FIRST);
    write_marks(block, 0, FIRST);
    size_t size = FIRST;
    CHECK(grow_by_eighths(&memory, &block, &size, 2 * FIRST) > 0, "a block grew into addresses of others");
    tm_free_counted(&memory, TM_HOT, block, size);
}

/* What is kept to grow into must not count as memory, which under strict overcommit it would if it could be written. */
static void test_reserve_counts_nowhere(void) {
    tm_memory memory = {0};
    uint8_t *block = new_block(&memory, FIRST);
    uintptr_t beyond = (uintptr_t)block + 6 * MEBIBYTE;
    FILE *file = fopen("/proc/self/maps", "r");
    CHECK(file != NULL, "no maps");
    bool is_found = false;
    char line[512];
    while (fgets(line, sizeof line, file) != NULL) {
        unsigned long from = 0;
        unsigned long to = 0;
        char rights[8] = "";
        if (sscanf(line, "%lx-%lx %7s", &from, &to, rights) == 3 && from <= beyond && beyond < to) {
            is_found = true;
            CHECK(strncmp(rights, "---p", 4) == 0, "reserved addresses are writable");
        }
    }
    fclose(file);
    CHECK(is_found, "nothing is reserved");
    tm_free_counted(&memory, TM_HOT, block, FIRST);
}

int main(void) {
    test_in_place();
    test_bound_addresses();
    test_short_addresses();
    test_reserve_counts_nowhere();
    return 0;
}
