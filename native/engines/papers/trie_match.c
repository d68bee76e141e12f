/* trie_match.c - one text against all constants of a trie. Law: see trie.h. */
#include "engines/papers/trie_match.h"
#include "engines/papers/order_index.h"
#include "engines/papers/trie_walk.h"

/* Report the constraints that hold for a text equal to the constant, except those of beginnings. Returns its !=, or
 * 0. */
static uint32_t hand_on_complete(const tm_trie_store *store, const tm_constant *constant, tm_found *found) {
    uint32_t unequal = 0;
    tm_found_add(found, constant->at[TM_AT_EQ]);
    tm_found_add(found, constant->at[TM_AT_SUFFIX]);
    for (uint32_t cell = constant->cells; cell != 0; cell = store->cells[cell].next) {
        if (store->cells[cell].op == TM_OP_NE) {
            unequal = store->cells[cell].constraint;
        } else {
            tm_found_add(found, store->cells[cell].constraint);
        }
    }
    return unequal;
}

/* ---- chains ---- */

static inline void hand_on_link(const tm_trie_store *store, uint32_t link, const tm_probe *value, tm_found *found) {
    if (link < TM_LINK_BOUNDED) { /* most links are plain */
        tm_found_add(found, link);
    } else if ((link & TM_LINK_BOUNDED) == 0 || tm_between_reaches(store->constraints, link & TM_LINK_ID, value)) {
        tm_found_add(found, link & TM_LINK_ID);
    }
}

/* Report all links from the first one of `constant` to the end of its chain; of its own links only the inclusive ones,
 * if it is the text itself. */
static void follow(const tm_trie_store *store, uint32_t way, uint32_t constant, bool is_text, const tm_probe *value,
                   tm_found *found) {
    uint32_t id = store->constants[constant].chained[way];
    const tm_block *block = &store->blocks.blocks[id];
    uint32_t i = tm_block_find(block, constant);
    for (;;) {
        __builtin_prefetch(store->blocks.blocks[block->next].links);
        tm_found_spend(found, block->count - i);
        for (; i < block->count; i++) {
            tm_chain_entry link = block->links[i];
            is_text = is_text && link.constant == constant;
            if (!is_text || link.constraint & TM_LINK_INCLUSIVE) {
                hand_on_link(store, link.constraint, value, found);
            }
        }
        if (block->next == 0 || found->done) {
            return;
        }
        block = &store->blocks.blocks[block->next];
        i = 0;
    }
}

/* Report the rest of a chain from the constant equal to the text, if that is in the chain; otherwise from the closest
 * one. */
static void follow_chain(const tm_text_index *trie, uint32_t way, const tm_spot *spot, uint32_t complete,
                         const tm_probe *value, tm_found *found) {
    const tm_trie_store *store = trie->store;
    if (trie->chains[way].first == 0) {
        return;
    }
    if (complete != 0 && store->constants[complete].chained[way] != 0) {
        follow(store, way, complete, true, value, found);
        return;
    }
    uint32_t closest = way == TM_UPWARD ? tm_trie_above(trie, spot, value->text, value->length, TM_MARK_LESS)
                                        : tm_trie_below(trie, spot, value->text, value->length, TM_MARK_GREATER);
    if (closest != 0) {
        follow(store, way, closest, false, value, found);
    }
}

/* ---- prefixes, suffixes and substrings ---- */

/* Walk along text[start ..] for `contains`, and for `suffix` at its end, as far as `wanted` marks reach. Returns how
 * many `contains` were new. */
static uint32_t scan(const tm_text_index *trie, const uint8_t *text, uint32_t length, uint32_t start, uint32_t wanted,
                     tm_found *found) {
    const tm_trie_store *store = trie->store;
    uint32_t link = trie->root;
    uint32_t depth = start;
    uint32_t fresh = 0;
    while (link != 0 && (link & TM_LEAF) == 0 && store->branches[link].marks & wanted) {
        tm_branch *branch = &store->branches[link];
        if (branch->constant != 0) {
            fresh += tm_constant_contained(store, branch->constant, found);
        }
        if (depth == length) {
            tm_found_spend(found, 1 + (depth - start));
            tm_found_add(found, branch->constant != 0 ? store->constants[branch->constant].at[TM_AT_SUFFIX] : 0);
            return fresh;
        }
        link = tm_branch_child(branch, text[depth++]);
    }
    tm_found_spend(found, 1 + (depth - start));
    uint32_t leaf = link & TM_LEAF ? link & ~TM_LEAF : 0;
    if (leaf != 0 && store->constants[leaf].marks & wanted) {
        const tm_interned *string = tm_constant_string(store, leaf);
        if (tm_tail_begins(string, text + start, length - start, depth - start)) {
            fresh += tm_constant_contained(store, leaf, found);
            tm_found_add(found, string->length == length - start ? store->constants[leaf].at[TM_AT_SUFFIX] : 0);
        }
    }
    return fresh;
}

/* Scan from each further character: `contains` until the last of the `unseen` is found, `suffix` near the end. */
static void scan_further(const tm_text_index *trie, const uint8_t *text, uint32_t length, uint32_t unseen,
                         tm_found *found) {
    uint32_t present = tm_link_marks(trie->store, trie->root);
    uint32_t contains = unseen > 0 ? present & TM_MARK_CONTAINS : 0;
    uint32_t suffix = present & TM_MARK_SUFFIX;
    uint32_t suffix_start = length > TM_PATTERN_BYTES_MAX ? length - TM_PATTERN_BYTES_MAX : 1;
    for (uint32_t start = contains ? 1 : suffix_start; start <= length && !found->done; start++) {
        uint32_t wanted = contains | (start >= suffix_start ? suffix : 0);
        if (wanted == 0) {
            start = suffix == 0 ? length : suffix_start - 1;
            continue;
        }
        unseen -= scan(trie, text, length, start, wanted, found);
        contains = unseen == 0 ? 0 : contains;
    }
}

void tm_trie_match(const tm_text_index *trie, const uint8_t *text, uint32_t length, tm_found *found) {
    const tm_trie_store *store = trie->store;
    if (trie->root == 0) {
        return;
    }
    tm_probe value = tm_probe_text(text, length);
    tm_spot spot = tm_trie_walk(trie, value.text, length, found);
    uint32_t complete = tm_trie_complete(trie, &spot, value.text, length);
    uint32_t unequal = complete != 0 ? hand_on_complete(store, &store->constants[complete], found) : 0;
    for (uint32_t way = TM_UPWARD; way <= TM_DOWNWARD; way++) {
        follow_chain(trie, way, &spot, complete, &value, found);
    }
    if (trie->unequal.count > 0) {
        tm_probe probe = tm_probe_id(unequal);
        tm_ordered_unequal(&trie->unequal, NULL, &probe, found);
    }
    if (tm_link_marks(store, trie->root) & (TM_MARK_CONTAINS | TM_MARK_SUFFIX)) {
        scan_further(trie, value.text, length, trie->contained - spot.found, found);
    }
}
