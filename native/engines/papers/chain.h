/* chain.h - chains of the order constraints of a trie's constants, in order.
 *
 * Law: an upward chain has the < and <= of one trie in ascending order of their constants, a downward one the >, >= and
 * between in descending order, so that a text always satisfies the rest of a chain from some constant on. A constant's
 * links are adjacent, and it stores the block of its first one. Chains are unrolled into blocks: following one constant
 * after the other would miss the cache at each, the links of a block are loaded together.
 *
 *     constant ----------v
 *     block [link link link link] <-> block [link link ...] <-> ...       link = {constant, constraint}
 */
#ifndef TM_CHAIN_H
#define TM_CHAIN_H

#include "base/memory.h"
#include "engines/papers/found.h"

#define TM_UPWARD 0
#define TM_DOWNWARD 1

#define TM_BLOCK_LINKS_MAX 32

/* Bits in the constraint of a link: it also holds for a text equal to the constant (<=, >=, between); it has an upper
 * bound to be compared. Ids of constraints are far below. */
#define TM_LINK_INCLUSIVE 0x80000000u
#define TM_LINK_BOUNDED 0x40000000u
#define TM_LINK_ID 0x3fffffffu

typedef struct tm_chain_entry {
    uint32_t constant;
    uint32_t constraint; /* with the bits above */
} tm_chain_entry;

typedef struct tm_block {
    tm_chain_entry *links; /* owned */
    uint32_t next;         /* blocks, 0 at the ends; of a free one: the next free one */
    uint32_t previous;
    uint16_t count; /* never 0 except in a free one */
    uint16_t capacity;
} tm_block;

typedef struct tm_chain {
    uint32_t first; /* blocks, 0 for none */
    uint32_t last;
} tm_chain;

/* The blocks of all chains of a table; [0] unused. */
typedef struct tm_blocks {
    tm_memory *memory; /* borrowed */
    tm_block *blocks;
    uint32_t capacity, count, free;
} tm_blocks;

/* Return where a constant stores the block of its first link in a chain, or 0. */
typedef uint32_t *(*tm_chain_place)(void *constants, uint32_t constant);

/* A chain and all that is needed to change it; borrowed. */
typedef struct tm_chain_edit {
    tm_blocks *blocks;
    tm_chain *chain;
    void *constants;
    tm_chain_place place;
} tm_chain_edit;

/* Insert a link before those of constant `before`, which may be its own, or at the end if 0. TM_NO_MEMORY:
 * unchanged. */
int tm_chain_insert(const tm_chain_edit *edit, uint32_t before, tm_chain_entry link);

/* Remove a link, which must be there. */
void tm_chain_remove(const tm_chain_edit *edit, tm_chain_entry link);

void tm_chain_free(tm_blocks *blocks, tm_chain *chain);
void tm_blocks_init(tm_blocks *blocks, tm_memory *memory);
void tm_blocks_free(tm_blocks *blocks);

/* Return the index of the first link of `constant` in a block that has one. */
static inline uint32_t tm_block_find(const tm_block *block, uint32_t constant) {
    uint32_t index = 0;
    while (block->links[index].constant != constant) {
        index++;
    }
    return index;
}

#endif
