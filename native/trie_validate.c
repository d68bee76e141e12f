/* trie_validate.c - the invariants of trie.h, checked by visiting every constant in order. For tests. */
#include <string.h>

#include "trie.h"

typedef struct visit {
    const tm_text_index *trie;
    const char **reason;
    uint8_t path[TM_OPERAND_BYTES_MAX];
    uint32_t last_less; /* the constants that carry these marks, met last */
    uint32_t last_greater;
    uint32_t contained;
    uint64_t operands;
} visit;

static bool fails(const visit *v, const char *why) {
    *v->reason = why;
    return false;
}

static uint64_t count_operands(const tm_trie_store *store, const tm_constant *constant, uint32_t *less,
                               uint32_t *greater) {
    uint64_t total = 0;
    *less = constant->at[TM_AT_LT] != 0;
    *greater = constant->at[TM_AT_GT] != 0;
    for (uint32_t i = 0; i < TM_AT_COUNT; i++) {
        total += constant->at[i] != 0;
    }
    for (uint32_t cell = constant->cells; cell != 0; cell = store->cells[cell].next) {
        total++;
        *less += store->cells[cell].op == TM_OP_LE;
        *greater += store->cells[cell].op == TM_OP_GE || store->cells[cell].op == TM_OP_BETWEEN;
    }
    return total;
}

/* Chains: the greater one leads down to the one met last; the less one of that leads up to this. */
static bool visit_chains(visit *v, uint32_t id, const tm_constant *constant) {
    const tm_constant *constants = v->trie->store->constants;
    if (constant->marks & TM_MARK_LESS) {
        if (v->last_less != 0 && constants[v->last_less].next_less != id) {
            return fails(v, "a less-than chain leaves out a constant");
        }
        v->last_less = id;
    }
    if (constant->marks & TM_MARK_GREATER) {
        if (constant->next_greater != v->last_greater) {
            return fails(v, "a greater-than chain leaves out a constant");
        }
        v->last_greater = id;
    }
    return true;
}

static bool visit_constant(visit *v, uint32_t id, uint32_t depth) {
    const tm_trie_store *store = v->trie->store;
    const tm_constant *constant = &store->constants[id];
    const tm_interned *string = &store->strings->entries[constant->string];
    uint32_t less = 0;
    uint32_t greater = 0;
    uint64_t operands = count_operands(store, constant, &less, &greater);
    uint32_t marks = (less > 0 ? TM_MARK_LESS : 0) | (greater > 0 ? TM_MARK_GREATER : 0) |
                     (constant->at[TM_AT_CONTAINS] != 0 ? TM_MARK_CONTAINS : 0) |
                     (constant->at[TM_AT_SUFFIX] != 0 ? TM_MARK_SUFFIX : 0);
    if (string->bytes == NULL || string->length < depth || memcmp(string->bytes, v->path, depth) != 0) {
        return fails(v, "a constant hangs on a path that does not spell it");
    }
    if (operands == 0 || marks != constant->marks) {
        return fails(v, operands == 0 ? "a constant has no constraints" : "a constant is marked wrongly");
    }
    v->operands += operands;
    v->contained += (marks & TM_MARK_CONTAINS) != 0;
    return visit_chains(v, id, constant);
}

static bool visit_link(visit *v, uint32_t link, uint32_t parent, uint32_t depth, uint64_t *constants);

static bool visit_children(visit *v, uint32_t id, uint32_t depth, uint64_t *constants, uint32_t *marks) {
    const tm_branch *branch = &v->trie->store->branches[id];
    for (uint32_t i = 0; i < branch->count; i++) {
        if (i > 0 && tm_branch_bytes(branch)[i - 1] >= tm_branch_bytes(branch)[i]) {
            return fails(v, "the children of a branch are out of order");
        }
        v->path[depth] = tm_branch_bytes(branch)[i];
        if (!visit_link(v, branch->links[i], id, depth + 1, constants)) {
            return false;
        }
        *marks |= tm_link_marks(v->trie->store, branch->links[i]);
    }
    return true;
}

static bool visit_branch(visit *v, uint32_t id, uint32_t parent, uint32_t depth, uint64_t *constants) {
    const tm_trie_store *store = v->trie->store;
    const tm_branch *branch = &store->branches[id];
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
    const tm_constant *constants = v->trie->store->constants;
    if (v->last_less != 0 && constants[v->last_less].next_less != 0) {
        return fails(v, "a less-than chain does not end with the last constant");
    }
    if (v->operands != v->trie->operands || v->contained != v->trie->contained) {
        return fails(v, "a trie counts its constraints wrongly");
    }
    return true;
}

int tm_trie_validate(const tm_text_index *trie, const char **reason) {
    visit v = {.trie = trie, .reason = reason};
    uint64_t constants = 0;
    if (trie->root != 0 && !visit_link(&v, trie->root, 0, 0, &constants)) {
        return TM_MISUSED;
    }
    return visit_end(&v) ? tm_ordered_validate(&trie->unequal, NULL, reason) : TM_MISUSED;
}
