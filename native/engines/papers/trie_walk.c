/* trie_walk.c - walks a text along a trie, and finds the closest constants. Law: see trie.h. */
#include "engines/papers/trie_walk.h"

static inline uint32_t hand_on_beginning(const tm_trie_store *store, uint32_t constant, tm_found *found) {
    tm_found_add(found, store->constants[constant].at[TM_AT_PREFIX]);
    return tm_constant_contained(store, constant, found);
}

tm_spot tm_trie_walk(const tm_text_index *trie, const uint8_t *text, uint32_t length, tm_found *found) {
    const tm_trie_store *store = trie->store;
    tm_spot spot = {0};
    uint32_t link = trie->root;
    uint32_t depth = 0;
    while (link != 0 && (link & TM_LEAF) == 0) {
        tm_branch *branch = &store->branches[link];
        spot.branch = link;
        spot.depth = depth;
        if (found != NULL && branch->constant != 0) {
            spot.found += hand_on_beginning(store, branch->constant, found);
        }
        if (depth == length) {
            spot.ended = true;
            return spot;
        }
        link = tm_branch_child(branch, text[depth++]);
    }
    spot.leaf = link & ~TM_LEAF;
    if (found != NULL && spot.leaf != 0 && tm_tail_begins(tm_constant_string(store, spot.leaf), text, length, depth)) {
        spot.found += hand_on_beginning(store, spot.leaf, found);
    }
    return spot;
}

uint32_t tm_trie_complete(const tm_text_index *trie, const tm_spot *spot, const uint8_t *text, uint32_t length) {
    if (spot->ended) {
        return trie->store->branches[spot->branch].constant;
    }
    if (spot->leaf == 0) {
        return 0;
    }
    const tm_interned *string = tm_constant_string(trie->store, spot->leaf);
    return string->length == length && tm_tail_begins(string, text, length, spot->depth) ? spot->leaf : 0;
}

uint32_t tm_trie_equal(const tm_text_index *trie, const uint8_t *text, uint32_t length) {
    tm_spot spot = tm_trie_walk(trie, text, length, NULL);
    uint32_t constant = tm_trie_complete(trie, &spot, text, length);
    return constant != 0 ? trie->store->constants[constant].at[TM_AT_EQ] : 0;
}

/* ---- the closest constants ---- */

/* Return the first constant with `mark` at or below `link`, which has it. */
static uint32_t first_of(const tm_trie_store *store, uint32_t link, uint32_t mark) {
    while ((link & TM_LEAF) == 0) {
        tm_branch *branch = &store->branches[link];
        if (branch->constant != 0 && store->constants[branch->constant].marks & mark) {
            return branch->constant;
        }
        uint32_t i = 0;
        while ((tm_link_marks(store, tm_branch_links(branch)[i]) & mark) == 0) {
            i++;
        }
        link = tm_branch_links(branch)[i];
    }
    return link & ~TM_LEAF;
}

static uint32_t last_of(const tm_trie_store *store, uint32_t link, uint32_t mark) {
    while ((link & TM_LEAF) == 0) {
        tm_branch *branch = &store->branches[link];
        uint32_t i = branch->count;
        while (i > 0 && (tm_link_marks(store, tm_branch_links(branch)[i - 1]) & mark) == 0) {
            i--;
        }
        if (i == 0) {
            return branch->constant;
        }
        link = tm_branch_links(branch)[i - 1];
    }
    return link & ~TM_LEAF;
}

/* Compare the leaf of the spot with the text: negative, 0 or positive. */
static int compare_leaf(const tm_trie_store *store, const tm_spot *spot, const uint8_t *text, uint32_t length) {
    return tm_intern_compare(store->strings, store->constants[spot->leaf].string, text, length);
}

uint32_t tm_trie_above(const tm_text_index *trie, const tm_spot *spot, const uint8_t *text, uint32_t length,
                       uint32_t mark) {
    const tm_trie_store *store = trie->store;
    if (spot->leaf != 0 && store->constants[spot->leaf].marks & mark && compare_leaf(store, spot, text, length) > 0) {
        return spot->leaf;
    }
    uint32_t depth = spot->depth;
    /* All children are above a text that ends here; otherwise those after its next byte. */
    uint32_t from = spot->ended ? 0 : length > depth ? text[depth] + 1u : 0;
    for (uint32_t id = spot->branch; id != 0; id = store->branches[id].parent) {
        tm_branch *branch = &store->branches[id];
        if (branch->marks & mark) {
            for (uint32_t i = tm_branch_seek(branch, from); i < branch->count; i++) {
                if (tm_link_marks(store, tm_branch_links(branch)[i]) & mark) {
                    return first_of(store, tm_branch_links(branch)[i], mark);
                }
            }
        }
        from = depth > 0 ? text[--depth] + 1u : 0;
    }
    return 0;
}

uint32_t tm_trie_below(const tm_text_index *trie, const tm_spot *spot, const uint8_t *text, uint32_t length,
                       uint32_t mark) {
    const tm_trie_store *store = trie->store;
    if (spot->leaf != 0 && store->constants[spot->leaf].marks & mark && compare_leaf(store, spot, text, length) < 0) {
        return spot->leaf;
    }
    uint32_t id = spot->branch;
    uint32_t depth = spot->depth;
    if (spot->ended) { /* no constant at or under the branch where the text ends is below it */
        id = store->branches[id].parent;
        depth--;
    }
    for (; id != 0; id = store->branches[id].parent, depth--) {
        tm_branch *branch = &store->branches[id];
        if ((branch->marks & mark) == 0) {
            continue;
        }
        for (uint32_t i = tm_branch_seek(branch, text[depth]); i > 0; i--) {
            if (tm_link_marks(store, tm_branch_links(branch)[i - 1]) & mark) {
                return last_of(store, tm_branch_links(branch)[i - 1], mark);
            }
        }
        if (branch->constant != 0 && store->constants[branch->constant].marks & mark) {
            return branch->constant;
        }
    }
    return 0;
}
