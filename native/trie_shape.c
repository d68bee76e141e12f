/* trie_shape.c - branches grow and go. Law: see trie.h. */
#include <string.h>

#include "grow.h"
#include "trie.h"

#define CHILDREN_MIN 4 /* what the smallest block of the allocator holds */

/* ---- branches -----------------------------------------------------------------------------------------------------
 */

static size_t block_bytes(uint32_t capacity) {
    return capacity * (sizeof(uint32_t) + 1);
}

static uint32_t *new_block(tm_trie_store *store, uint32_t capacity) {
    return (uint32_t *)(void *)TM_NEW(store->memory, TM_HOT, uint8_t, block_bytes(capacity));
}

static void delete_block(tm_trie_store *store, uint32_t *block, uint32_t capacity) {
    TM_DELETE(store->memory, TM_HOT, (uint8_t *)block, uint8_t, block_bytes(capacity));
}

/* A branch with room for CHILDREN_MIN children, or 0. */
static uint32_t new_branch(tm_trie_store *store) {
    bool reuse = store->branch_free != 0;
    if (!reuse && !tm_grow(store->memory, TM_HOT, &store->branches, sizeof *store->branches, &store->branch_capacity,
                           store->branch_count + 1)) {
        return 0;
    }
    uint32_t *links = new_block(store, CHILDREN_MIN);
    if (links == NULL) {
        return 0;
    }
    uint32_t id = reuse ? store->branch_free : store->branch_count++;
    if (reuse) {
        store->branch_free = store->branches[id].parent;
    }
    store->branches[id] = (tm_branch){.links = links, .capacity = CHILDREN_MIN};
    return id;
}

static void delete_branch(tm_trie_store *store, uint32_t id) {
    tm_branch *branch = &store->branches[id];
    delete_block(store, branch->links, branch->capacity);
    *branch = (tm_branch){.parent = store->branch_free};
    store->branch_free = id;
}

/* Give the children a block of another size; false if there is none. */
static bool resize_children(tm_trie_store *store, tm_branch *branch, uint32_t capacity) {
    uint32_t *links = new_block(store, capacity);
    if (links == NULL) {
        return false;
    }
    memcpy(links, branch->links, branch->count * sizeof *links);
    memcpy(links + capacity, tm_branch_bytes(branch), branch->count);
    delete_block(store, branch->links, branch->capacity);
    branch->links = links;
    branch->capacity = (uint16_t)capacity;
    return true;
}

static void adopt(tm_trie_store *store, uint32_t branch, uint32_t link) {
    if ((link & TM_LEAF) == 0) {
        store->branches[link].parent = branch;
    }
}

static int add_child(tm_trie_store *store, uint32_t id, uint8_t byte, uint32_t link) {
    tm_branch *branch = &store->branches[id];
    if (branch->count == branch->capacity && !resize_children(store, branch, branch->capacity * 2)) {
        return TM_NO_MEMORY;
    }
    uint32_t index = tm_branch_seek(branch, byte);
    uint32_t behind = branch->count - index;
    uint8_t *bytes = (uint8_t *)(branch->links + branch->capacity);
    memmove(&branch->links[index + 1], &branch->links[index], behind * sizeof *branch->links);
    memmove(&bytes[index + 1], &bytes[index], behind);
    branch->links[index] = link;
    bytes[index] = byte;
    branch->count++;
    adopt(store, id, link);
    return TM_OK;
}

static void remove_child(tm_trie_store *store, uint32_t id, uint8_t byte) {
    tm_branch *branch = &store->branches[id];
    uint32_t index = tm_branch_seek(branch, byte);
    uint32_t behind = --branch->count - index;
    uint8_t *bytes = (uint8_t *)(branch->links + branch->capacity);
    memmove(&branch->links[index], &branch->links[index + 1], behind * sizeof *branch->links);
    memmove(&bytes[index], &bytes[index + 1], behind);
    if (branch->capacity > CHILDREN_MIN && branch->count <= branch->capacity / 4) {
        resize_children(store, branch, branch->capacity / 2); /* or it stays larger than it need be */
    }
}

/* Let what hangs at `byte` of `parent`, or at the root, be `link`. */
static void replace_child(tm_text_index *trie, uint32_t parent, uint8_t byte, uint32_t link) {
    if (parent == 0) {
        trie->root = link;
    } else {
        tm_branch *branch = &trie->store->branches[parent];
        branch->links[tm_branch_seek(branch, byte)] = link;
    }
    adopt(trie->store, parent, link);
}

/* ---- marks --------------------------------------------------------------------------------------------------------
 */

static uint32_t marks_at(const tm_trie_store *store, const tm_branch *branch) {
    uint32_t marks = branch->constant != 0 ? store->constants[branch->constant].marks : 0;
    for (uint32_t i = 0; i < branch->count; i++) {
        marks |= tm_link_marks(store, branch->links[i]);
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
        branch->marks = marks;
        id = branch->parent;
    }
}

/* ---- hanging a constant -------------------------------------------------------------------------------------------
 */

/* Let `constant`, spelled `text`, end at the branch or hang under it; room is there. */
static void join(tm_trie_store *store, uint32_t id, const uint8_t *text, uint32_t length, uint32_t depth,
                 uint32_t constant) {
    if (depth == length) {
        store->branches[id].constant = constant;
    } else {
        add_child(store, id, text[depth], constant | TM_LEAF);
    }
    store->branches[id].marks |= store->constants[constant].marks;
}

/* Undo the branches from `id` upwards of which only `made` are ours: a chain of single children. */
static void delete_chain(tm_trie_store *store, uint32_t id) {
    while (id != 0) {
        uint32_t child = store->branches[id].count == 1 && (store->branches[id].links[0] & TM_LEAF) == 0
                             ? store->branches[id].links[0]
                             : 0;
        delete_branch(store, id);
        id = child;
    }
}

/* The branches for two constants that agree from `start` to `end`, the lower ones made first. 0: no memory. */
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

/* ---- taking one down ----------------------------------------------------------------------------------------------
 */

/* What a branch comes down to when a single constant is left below it: a link to that; otherwise 0. */
static uint32_t sole_constant(const tm_branch *branch) {
    if (branch->count == 0) {
        return branch->constant | TM_LEAF;
    }
    bool single = branch->count == 1 && branch->constant == 0 && (branch->links[0] & TM_LEAF) != 0;
    return single ? branch->links[0] : 0;
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
        free_below(store, store->branches[link].links[i]);
    }
    delete_branch(store, link);
}

/* Recursion is as deep as the longest operand, which is bounded. */
void tm_trie_free_branches(tm_text_index *trie) {
    free_below(trie->store, trie->root);
    trie->root = 0;
}
