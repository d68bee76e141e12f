/* trie_validate.c - visits every constant of a trie in order. Law: see trie_validate.h. */
#include <string.h>

#include "engines/papers/trie_validate.h"

typedef struct visit {
    const tm_text_index *trie;
    const char **reason;
    uint8_t path[TM_OPERAND_BYTES_MAX];
    uint32_t block[2]; /* the upward chain is visited from its first link on, the downward one from its last */
    uint32_t index[2]; /* of the next link; plus one in the downward chain */
    uint32_t contained;
    uint64_t operands;
} visit;

static bool fails(const visit *v, const char *why) {
    *v->reason = why;
    return false;
}

/* Return the next link in ascending order of constants, or NULL. */
static const tm_chain_entry *next_link(visit *v, uint32_t way) {
    if (v->block[way] == 0) {
        return NULL;
    }
    const tm_chain_entry *links = v->trie->store->blocks.blocks[v->block[way]].links;
    return way == TM_UPWARD ? &links[v->index[way]] : &links[v->index[way] - 1];
}

static void pass_link(visit *v, uint32_t way) {
    const tm_block *blocks = v->trie->store->blocks.blocks;
    const tm_block *block = &blocks[v->block[way]];
    if (way == TM_UPWARD && ++v->index[way] == block->count) {
        v->block[way] = block->next;
        v->index[way] = 0;
    } else if (way == TM_DOWNWARD && --v->index[way] == 0) {
        v->block[way] = block->previous;
        v->index[way] = blocks[block->previous].count;
    }
}

/* Check that the constant's links come next, and that its first one is in the block that it stores. */
static bool visit_chain(visit *v, uint32_t way, uint32_t id) {
    const tm_constant *constant = &v->trie->store->constants[id];
    uint32_t first = 0;
    for (const tm_chain_entry *link; (link = next_link(v, way)) != NULL && link->constant == id; pass_link(v, way)) {
        first = first == 0 || way == TM_DOWNWARD ? v->block[way] : first;
        v->operands++;
    }
    return first == constant->chained[way] || fails(v, "a chain does not have a constant's links in their place");
}

static bool visit_links(visit *v, uint32_t id) {
    const tm_trie_store *store = v->trie->store;
    const tm_constant *constant = &store->constants[id];
    for (uint32_t i = 0; i < TM_AT_COUNT; i++) {
        v->operands += constant->at[i] != 0;
    }
    for (uint32_t cell = constant->cells; cell != 0; cell = store->cells[cell].next) {
        v->operands++;
    }
    return visit_chain(v, TM_UPWARD, id) && visit_chain(v, TM_DOWNWARD, id);
}

static bool visit_constant(visit *v, uint32_t id, uint32_t depth) {
    const tm_trie_store *store = v->trie->store;
    const tm_constant *constant = &store->constants[id];
    const tm_interned *string = &store->strings->entries[constant->string];
    uint64_t operands = v->operands;
    uint32_t marks = (constant->chained[TM_UPWARD] != 0 ? TM_MARK_LESS : 0) |
                     (constant->chained[TM_DOWNWARD] != 0 ? TM_MARK_GREATER : 0) |
                     (constant->at[TM_AT_CONTAINS] != 0 ? TM_MARK_CONTAINS : 0) |
                     (constant->at[TM_AT_SUFFIX] != 0 ? TM_MARK_SUFFIX : 0);
    if (string->bytes == NULL || string->length < depth || memcmp(string->bytes, v->path, depth) != 0) {
        return fails(v, "a constant hangs on a path that does not spell it");
    }
    if (marks != constant->marks) {
        return fails(v, "a constant is marked wrongly");
    }
    v->contained += (marks & TM_MARK_CONTAINS) != 0;
    return visit_links(v, id) && (v->operands > operands || fails(v, "a constant has no constraints"));
}

static bool visit_link(visit *v, uint32_t link, uint32_t parent, uint32_t depth, uint64_t *constants);

static bool visit_children(visit *v, uint32_t id, uint32_t depth, uint64_t *constants, uint32_t *marks) {
    tm_branch *branch = &v->trie->store->branches[id];
    for (uint32_t i = 0; i < branch->count; i++) {
        if (i > 0 && tm_branch_bytes(branch)[i - 1] >= tm_branch_bytes(branch)[i]) {
            return fails(v, "the children of a branch are out of order");
        }
        v->path[depth] = tm_branch_bytes(branch)[i];
        if (!visit_link(v, tm_branch_links(branch)[i], id, depth + 1, constants)) {
            return false;
        }
        *marks |= tm_link_marks(v->trie->store, tm_branch_links(branch)[i]);
    }
    return true;
}

static bool visit_branch(visit *v, uint32_t id, uint32_t parent, uint32_t depth, uint64_t *constants) {
    const tm_trie_store *store = v->trie->store;
    tm_branch *branch = &store->branches[id];
    uint64_t below = 0;
    uint32_t marks = 0;
    if (branch->parent != parent || branch->count > branch->capacity) {
        return fails(v, "a branch does not know its parent or its room");
    }
    if (branch->constant != 0) {
        marks = store->constants[branch->constant].marks;
        below = 1;
        if (store->strings->entries[store->constants[branch->constant].string].length != depth ||
            !visit_constant(v, branch->constant, depth)) {
            return fails(v, "a constant ends at a branch of another depth");
        }
    }
    if (!visit_children(v, id, depth, &below, &marks)) {
        return false;
    }
    *constants += below;
    if (below < 2 || marks != branch->marks) {
        return fails(v, below < 2 ? "a branch has fewer than two constants" : "a branch is marked wrongly");
    }
    return true;
}

static bool visit_link(visit *v, uint32_t link, uint32_t parent, uint32_t depth, uint64_t *constants) {
    if (link & TM_LEAF) {
        ++*constants;
        return visit_constant(v, link & ~TM_LEAF, depth);
    }
    return visit_branch(v, link, parent, depth, constants);
}

static bool visit_end(visit *v) {
    if (v->block[TM_UPWARD] != 0 || v->block[TM_DOWNWARD] != 0) {
        return fails(v, "a chain has links of no constant");
    }
    if (v->operands != v->trie->operands || v->contained != v->trie->contained) {
        return fails(v, "a trie counts its constraints wrongly");
    }
    return true;
}

int tm_trie_validate(const tm_text_index *trie, const char **reason) {
    visit v = {.trie = trie, .reason = reason};
    uint64_t constants = 0;
    v.block[TM_UPWARD] = trie->chains[TM_UPWARD].first;
    v.block[TM_DOWNWARD] = trie->chains[TM_DOWNWARD].last;
    v.index[TM_DOWNWARD] = v.block[TM_DOWNWARD] != 0 ? trie->store->blocks.blocks[v.block[TM_DOWNWARD]].count : 0;
    if (trie->root != 0 && !visit_link(&v, trie->root, 0, 0, &constants)) {
        return TM_MISUSED;
    }
    return visit_end(&v) ? tm_ordered_validate(&trie->unequal, NULL, reason) : TM_MISUSED;
}
