/* chain.c - inserts and removes links of chains. Law: see chain.h. */
#include <string.h>

#include "base/grow.h"
#include "engines/papers/chain.h"

#define LINKS_MIN 3 /* the links of the allocator's smallest block */

void tm_blocks_init(tm_blocks *blocks, tm_memory *memory) {
    *blocks = (tm_blocks){.memory = memory, .count = 1};
}

/* Free the array; the chains must have been freed. */
void tm_blocks_free(tm_blocks *blocks) {
    TM_DELETE(blocks->memory, TM_HOT, blocks->blocks, tm_block, blocks->capacity);
}

/* Return a new block with room for `capacity` links, in no chain; 0 if out of memory. */
static uint32_t new_block(tm_blocks *blocks, uint32_t capacity) {
    uint32_t wanted = blocks->count + (blocks->free == 0);
    if (!tm_grow(blocks->memory, TM_HOT, &blocks->blocks, sizeof(tm_block), &blocks->capacity, wanted)) {
        return 0;
    }
    tm_chain_entry *links = TM_NEW(blocks->memory, TM_HOT, tm_chain_entry, capacity);
    if (links == NULL) {
        return 0;
    }
    uint32_t id = blocks->free;
    if (id != 0) {
        blocks->free = blocks->blocks[id].next;
    } else {
        id = blocks->count++;
    }
    blocks->blocks[id] = (tm_block){.links = links, .capacity = (uint16_t)capacity};
    return id;
}

static void delete_block(tm_blocks *blocks, uint32_t id) {
    tm_block *block = &blocks->blocks[id];
    TM_DELETE(blocks->memory, TM_HOT, block->links, tm_chain_entry, block->capacity);
    *block = (tm_block){.next = blocks->free};
    blocks->free = id;
}

void tm_chain_free(tm_blocks *blocks, tm_chain *chain) {
    for (uint32_t id = chain->first; id != 0;) {
        uint32_t next = blocks->blocks[id].next;
        delete_block(blocks, id);
        id = next;
    }
    *chain = (tm_chain){0};
}

/* Insert block `id` after `previous`, or at the front if that is 0. */
static void join(tm_blocks *blocks, tm_chain *chain, uint32_t previous, uint32_t id) {
    uint32_t next = previous != 0 ? blocks->blocks[previous].next : chain->first;
    blocks->blocks[id].previous = previous;
    blocks->blocks[id].next = next;
    *(previous != 0 ? &blocks->blocks[previous].next : &chain->first) = id;
    *(next != 0 ? &blocks->blocks[next].previous : &chain->last) = id;
}

static void part(tm_blocks *blocks, tm_chain *chain, uint32_t id) {
    tm_block *block = &blocks->blocks[id];
    *(block->previous != 0 ? &blocks->blocks[block->previous].next : &chain->first) = block->next;
    *(block->next != 0 ? &blocks->blocks[block->next].previous : &chain->last) = block->previous;
}

/* ---- insertion ---- */

/* Move the upper half of a full block to a new one after it, and update the constants whose first link has moved. */
static int split(const tm_chain_edit *edit, uint32_t id) {
    uint32_t right = new_block(edit->blocks, TM_BLOCK_LINKS_MAX);
    if (right == 0) {
        return TM_NO_MEMORY;
    }
    join(edit->blocks, edit->chain, id, right);
    tm_block *from = &edit->blocks->blocks[id];
    tm_block *to = &edit->blocks->blocks[right];
    from->count = TM_BLOCK_LINKS_MAX / 2;
    to->count = TM_BLOCK_LINKS_MAX - TM_BLOCK_LINKS_MAX / 2;
    memcpy(to->links, from->links + from->count, to->count * sizeof *to->links);
    for (uint32_t i = 0; i < to->count; i++) {
        uint32_t before = i > 0 ? to->links[i - 1].constant : from->links[from->count - 1].constant;
        if (to->links[i].constant != before) {
            *edit->place(edit->constants, to->links[i].constant) = right;
        }
    }
    return TM_OK;
}

static bool reserve_link(tm_blocks *blocks, tm_block *block) {
    if (block->count < block->capacity) {
        return true;
    }
    uint32_t room = block->capacity * 2u + 2u < TM_BLOCK_LINKS_MAX ? block->capacity * 2u + 2u : TM_BLOCK_LINKS_MAX;
    tm_chain_entry *links = TM_RESIZE(blocks->memory, TM_HOT, block->links, tm_chain_entry, block->capacity, room);
    if (links != NULL) {
        block->links = links;
        block->capacity = (uint16_t)room;
    }
    return links != NULL;
}

/* Return the block for a link before those of `before`, with room for it; 0 if out of memory. */
static uint32_t reserve_place(const tm_chain_edit *edit, uint32_t before) {
    uint32_t id = before != 0 ? *edit->place(edit->constants, before) : edit->chain->last;
    if (id == 0) {
        id = new_block(edit->blocks, LINKS_MIN);
        if (id != 0) {
            join(edit->blocks, edit->chain, 0, id);
        }
        return id;
    }
    if (edit->blocks->blocks[id].count == TM_BLOCK_LINKS_MAX) {
        if (split(edit, id) != TM_OK) {
            return 0;
        }
        id = before != 0 ? *edit->place(edit->constants, before) : edit->chain->last;
    }
    return reserve_link(edit->blocks, &edit->blocks->blocks[id]) ? id : 0;
}

int tm_chain_insert(const tm_chain_edit *edit, uint32_t before, tm_chain_entry link) {
    uint32_t id = reserve_place(edit, before);
    if (id == 0) {
        return TM_NO_MEMORY;
    }
    tm_block *block = &edit->blocks->blocks[id];
    uint32_t index = before != 0 ? tm_block_find(block, before) : block->count;
    memmove(&block->links[index + 1], &block->links[index], (block->count - index) * sizeof *block->links);
    block->links[index] = link;
    block->count++;
    *edit->place(edit->constants, link.constant) = id;
    return TM_OK;
}

/* ---- removal ---- */

typedef struct position {
    uint32_t block;
    uint32_t index;
} position;

static position step(const tm_blocks *blocks, position at) {
    at.index++;
    return at.index < blocks->blocks[at.block].count ? at : (position){blocks->blocks[at.block].next, 0};
}

static const tm_chain_entry *link_at(const tm_blocks *blocks, position at) {
    return at.block != 0 ? &blocks->blocks[at.block].links[at.index] : NULL;
}

static void take_out(const tm_chain_edit *edit, position at) {
    tm_block *block = &edit->blocks->blocks[at.block];
    block->count--;
    memmove(&block->links[at.index], &block->links[at.index + 1], (block->count - at.index) * sizeof *block->links);
    if (block->count == 0) {
        part(edit->blocks, edit->chain, at.block);
        delete_block(edit->blocks, at.block);
    }
}

void tm_chain_remove(const tm_chain_edit *edit, tm_chain_entry link) {
    const tm_blocks *blocks = edit->blocks;
    uint32_t *place = edit->place(edit->constants, link.constant);
    position first = {*place, tm_block_find(&blocks->blocks[*place], link.constant)};
    position at = first;
    while (link_at(blocks, at)->constraint != link.constraint) {
        at = step(blocks, at);
    }
    if (at.block == first.block &&
        at.index == first.index) { /* the next link becomes the first one, if it is of this constant */
        position next = step(blocks, at);
        const tm_chain_entry *follower = link_at(blocks, next);
        *place = follower != NULL && follower->constant == link.constant ? next.block : 0;
    }
    take_out(edit, at);
}
