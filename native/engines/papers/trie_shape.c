/* trie_shape.c - adds constants to branches, and removes them. Law: see trie.h. */
#include <string.h>

#include "base/grow.h"
#include "engines/papers/trie_shape.h"

/* The first block of children outside a branch: 24 bytes hold four, and a smaller block would take as much. */
#define CHILDREN_OUTSIDE_MIN 4

/* ---- branches ---- */

static size_t block_bytes(uint32_t capacity) {
    return capacity * (sizeof(uint32_t) + 1);
}

static void delete_block(tm_trie_store *store, const tm_branch *branch) {
    if (branch->capacity > TM_BRANCH_IN_PLACE) {
        TM_DELETE(store->memory, TM_HOT, (uint8_t *)branch->links, uint8_t, block_bytes(branch->capacity));
    }
}

/* Return an empty branch, or 0 if out of memory. */
static uint32_t new_branch(tm_trie_store *store) {
    uint32_t id = store->branch_free;
    if (id == 0 && !tm_grow(store->memory, TM_HOT, &store->branches, sizeof *store->branches, &store->branch_capacity,
                            store->branch_count + 1)) {
        return 0;
    }
    if (id != 0) {
        store->branch_free = store->branches[id].parent;
    } else {
        id = store->branch_count++;
    }
    store->branches[id] = (tm_branch){.capacity = TM_BRANCH_IN_PLACE};
    return id;
}

static void delete_branch(tm_trie_store *store, uint32_t id) {
    tm_branch *branch = &store->branches[id];
    delete_block(store, branch);
    *branch = (tm_branch){.parent = store->branch_free};
    store->branch_free = id;
}

/* Move the children to other room, in place or outside the branch; false if out of memory. */
static bool resize_children(tm_trie_store *store, tm_branch *branch, uint32_t capacity) {
    tm_branch resized = *branch;
    resized.capacity = (uint16_t)capacity;
    if (capacity > TM_BRANCH_IN_PLACE) {
        resized.links = (uint32_t *)(void *)TM_NEW(store->memory, TM_HOT, uint8_t, block_bytes(capacity));
        if (resized.links == NULL) {
            return false;
        }
    }
    memcpy(tm_branch_links(&resized), tm_branch_links(branch), branch->count * sizeof *branch->links);
    memcpy(tm_branch_bytes(&resized), tm_branch_bytes(branch), branch->count);
    delete_block(store, branch);
    *branch = resized;
    return true;
}

static uint32_t larger(uint32_t capacity) {
    return capacity == TM_BRANCH_IN_PLACE ? CHILDREN_OUTSIDE_MIN : capacity * 2;
}

static uint32_t smaller(uint32_t capacity) {
    return capacity == CHILDREN_OUTSIDE_MIN ? TM_BRANCH_IN_PLACE : capacity / 2;
}

static void adopt(tm_trie_store *store, uint32_t branch, uint32_t link) {
    if ((link & TM_LEAF) == 0) {
        store->branches[link].parent = branch;
    }
}

static int add_child(tm_trie_store *store, uint32_t id, uint8_t byte, uint32_t link) {
    tm_branch *branch = &store->branches[id];
    if (branch->count == branch->capacity && !resize_children(store, branch, larger(branch->capacity))) {
        return TM_NO_MEMORY;
    }
    uint32_t index = tm_branch_seek(branch, byte);
    uint32_t behind = branch->count - index;
    uint8_t *bytes = tm_branch_bytes(branch);
    uint32_t *links = tm_branch_links(branch);
    memmove(&links[index + 1], &links[index], behind * sizeof *links);
    memmove(&bytes[index + 1], &bytes[index], behind);
    links[index] = link;
    bytes[index] = byte;
    branch->count++;
    adopt(store, id, link);
    return TM_OK;
}

static void remove_child(tm_trie_store *store, uint32_t id, uint8_t byte) {
    tm_branch *branch = &store->branches[id];
    uint32_t index = tm_branch_seek(branch, byte);
    uint32_t behind = --branch->count - index;
    uint8_t *bytes = tm_branch_bytes(branch);
    uint32_t *links = tm_branch_links(branch);
    memmove(&links[index], &links[index + 1], behind * sizeof *links);
    memmove(&bytes[index], &bytes[index + 1], behind);
    if (branch->capacity > TM_BRANCH_IN_PLACE && branch->count <= branch->capacity / 4) {
        resize_children(store, branch, smaller(branch->capacity)); /* on failure it stays larger */
    }
}

/* Replace the child at `byte` of `parent`, or the root, by `link`. */
static void replace_child(tm_text_index *trie, uint32_t parent, uint8_t byte, uint32_t link) {
    if (parent == 0) {
        trie->root = link;
    } else {
        tm_branch *branch = &trie->store->branches[parent];
        tm_branch_links(branch)[tm_branch_seek(branch, byte)] = link;
    }
    adopt(trie->store, parent, link);
}

/* ---- marks ---- */

static uint32_t marks_at(const tm_trie_store *store, tm_branch *branch) {
    uint32_t marks = branch->constant != 0 ? store->constants[branch->constant].marks : 0;
    for (uint32_t i = 0; i < branch->count; i++) {
        marks |= tm_link_marks(store, tm_branch_links(branch)[i]);
    }
    return marks;
}

void tm_trie_refresh(tm_text_index *trie, uint32_t id) {
    while (id != 0) {
        tm_branch *branch = &trie->store->branches[id];
        uint32_t marks = marks_at(trie->store, branch);
        if (marks == branch->marks) {
            return;
        }
        branch->marks = (uint8_t)marks;
        id = branch->parent;
    }
}

/* ---- adding a constant ---- */

/* Add `constant`, spelled `text`, at the branch or as its child; there must be room. */
static void join(tm_trie_store *store, uint32_t id, const uint8_t *text, uint32_t length, uint32_t depth,
                 uint32_t constant) {
    if (depth == length) {
        store->branches[id].constant = constant;
    } else {
        add_child(store, id, text[depth], constant | TM_LEAF);
    }
    store->branches[id].marks |= (uint8_t)store->constants[constant].marks;
}

/* Delete a chain of branches of which each except the last has the next one as its only child. */
static void delete_chain(tm_trie_store *store, uint32_t id) {
    while (id != 0) {
        uint32_t child = tm_branch_links(&store->branches[id])[0];
        bool last = store->branches[id].count != 1 || (child & TM_LEAF) != 0;
        delete_branch(store, id);
        id = last ? 0 : child;
    }
}

/* Make the branches for two constants that agree from `start` to `end`, the lower ones first. 0 if out of memory. */
static uint32_t fork(tm_trie_store *store, const uint8_t *text, uint32_t length, uint32_t start, uint32_t end,
                     uint32_t constant, uint32_t other) {
    const tm_interned *string = &store->strings->entries[store->constants[other].string];
    uint32_t id = new_branch(store);
    if (id == 0) {
        return 0;
    }
    join(store, id, text, length, end, constant);
    join(store, id, string->bytes, string->length, end, other);
    for (uint32_t depth = end; depth > start; depth--) {
        uint32_t above = new_branch(store);
        if (above == 0) {
            delete_chain(store, id);
            return 0;
        }
        add_child(store, above, text[depth - 1], id);
        store->branches[above].marks = store->branches[id].marks;
        id = above;
    }
    return id;
}

static int split_leaf(tm_text_index *trie, const tm_spot *spot, const uint8_t *text, uint32_t length,
                      uint32_t constant) {
    tm_trie_store *store = trie->store;
    const tm_interned *string = &store->strings->entries[store->constants[spot->leaf].string];
    uint32_t start = spot->branch == 0 ? 0 : spot->depth + 1;
    uint32_t end = start;
    while (end < length && end < string->length && text[end] == string->bytes[end]) {
        end++;
    }
    uint32_t id = fork(store, text, length, start, end, constant, spot->leaf);
    if (id == 0) {
        return TM_NO_MEMORY;
    }
    replace_child(trie, spot->branch, start > 0 ? text[start - 1] : 0, id);
    return TM_OK;
}

int tm_trie_hang(tm_text_index *trie, const tm_spot *spot, const uint8_t *text, uint32_t length, uint32_t constant) {
    int result = TM_OK;
    if (spot->leaf != 0) {
        result = split_leaf(trie, spot, text, length, constant);
    } else if (spot->branch == 0) {
        trie->root = constant | TM_LEAF;
    } else if (spot->ended) {
        trie->store->branches[spot->branch].constant = constant;
    } else {
        result = add_child(trie->store, spot->branch, text[spot->depth], constant | TM_LEAF);
    }
    return result;
}

/* ---- removing a constant ---- */

/* Return the link that can replace a branch, if a single constant is left below it; otherwise 0. */
static uint32_t sole_constant(tm_branch *branch) {
    if (branch->count == 0) {
        return branch->constant | TM_LEAF;
    }
    uint32_t first = tm_branch_links(branch)[0];
    return branch->count == 1 && branch->constant == 0 && (first & TM_LEAF) != 0 ? first : 0;
}

void tm_trie_take_down(tm_text_index *trie, const tm_spot *spot, const uint8_t *text) {
    tm_trie_store *store = trie->store;
    uint32_t id = spot->branch;
    uint32_t depth = spot->depth;
    if (id == 0) {
        trie->root = 0;
        return;
    }
    if (spot->leaf == 0) {
        store->branches[id].constant = 0;
    } else {
        remove_child(store, id, text[depth]);
    }
    for (uint32_t sole; id != 0 && (sole = sole_constant(&store->branches[id])) != 0;) {
        uint32_t parent = store->branches[id].parent;
        replace_child(trie, parent, depth > 0 ? text[depth - 1] : 0, sole);
        delete_branch(store, id);
        id = parent;
        depth--;
    }
    tm_trie_refresh(trie, id);
}

static void free_below(tm_trie_store *store, uint32_t link) {
    if (link == 0 || (link & TM_LEAF) != 0) {
        return;
    }
    for (uint32_t i = 0; i < store->branches[link].count; i++) {
        free_below(store, tm_branch_links(&store->branches[link])[i]);
    }
    delete_branch(store, link);
}

/* Recursion is as deep as the longest operand, which is bounded. */
void tm_trie_free_branches(tm_text_index *trie) {
    free_below(trie->store, trie->root);
    trie->root = 0;
}
