/* trie.c - constraints at constants, and the walks that find them. Law: see trie.h. */
#include <string.h>

#include "grow.h"
#include "order_index.h"
#include "trie.h"

void tm_trie_store_init(tm_trie_store *store, tm_memory *memory, const tm_intern *strings,
                        const tm_constraints *constraints) {
    *store = (tm_trie_store){.memory = memory,
                             .strings = strings,
                             .constraints = constraints,
                             .branch_count = 1,
                             .constant_count = 1,
                             .cell_count = 1};
}

/* The tries have been freed: only the arrays are left. */
void tm_trie_store_free(tm_trie_store *store) {
    TM_DELETE(store->memory, TM_HOT, store->branches, tm_branch, store->branch_capacity);
    TM_DELETE(store->memory, TM_HOT, store->constants, tm_constant, store->constant_capacity);
    TM_DELETE(store->memory, TM_HOT, store->cells, tm_cell, store->cell_capacity);
}

static inline const tm_interned *string_of(const tm_trie_store *store, uint32_t constant) {
    return &store->strings->entries[store->constants[constant].string];
}

/* ---- walking ------------------------------------------------------------------------------------------------------
 */

/* Does the constant's tail from `depth` begin the text's? The bytes before agree. */
static inline bool tail_begins(const tm_interned *string, const uint8_t *text, uint32_t length, uint32_t depth) {
    return string->length <= length && memcmp(string->bytes + depth, text + depth, string->length - depth) == 0;
}

/* Returns whether the constant is a `contains` not found in this text before. */
static inline uint32_t hand_on_contained(const tm_trie_store *store, uint32_t constant, tm_found *found) {
    tm_constant *at = &store->constants[constant];
    if ((at->marks & TM_MARK_CONTAINS) == 0 || at->seen == store->text) {
        return 0;
    }
    at->seen = store->text;
    tm_found_add(found, at->at[TM_AT_CONTAINS]);
    return 1;
}

static inline uint32_t hand_on_beginning(const tm_trie_store *store, uint32_t constant, tm_found *found) {
    tm_found_add(found, store->constants[constant].at[TM_AT_PREFIX]);
    return hand_on_contained(store, constant, found);
}

tm_spot tm_trie_walk(const tm_text_index *trie, const uint8_t *text, uint32_t length, tm_found *found) {
    const tm_trie_store *store = trie->store;
    tm_spot spot = {0};
    uint32_t link = trie->root;
    uint32_t depth = 0;
    while (link != 0 && (link & TM_LEAF) == 0) {
        const tm_branch *branch = &store->branches[link];
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
    if (found != NULL && spot.leaf != 0 && tail_begins(string_of(store, spot.leaf), text, length, depth)) {
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
    const tm_interned *string = string_of(trie->store, spot->leaf);
    return string->length == length && tail_begins(string, text, length, spot->depth) ? spot->leaf : 0;
}

uint32_t tm_trie_equal(const tm_text_index *trie, const uint8_t *text, uint32_t length) {
    tm_spot spot = tm_trie_walk(trie, text, length, NULL);
    uint32_t constant = tm_trie_complete(trie, &spot, text, length);
    return constant != 0 ? trie->store->constants[constant].at[TM_AT_EQ] : 0;
}

/* ---- the closest constants ----------------------------------------------------------------------------------------
 */

/* The first constant with `mark` at or below `link`, which has it. */
static uint32_t first_of(const tm_trie_store *store, uint32_t link, uint32_t mark) {
    while ((link & TM_LEAF) == 0) {
        const tm_branch *branch = &store->branches[link];
        if (branch->constant != 0 && store->constants[branch->constant].marks & mark) {
            return branch->constant;
        }
        uint32_t i = 0;
        while ((tm_link_marks(store, branch->links[i]) & mark) == 0) {
            i++;
        }
        link = branch->links[i];
    }
    return link & ~TM_LEAF;
}

static uint32_t last_of(const tm_trie_store *store, uint32_t link, uint32_t mark) {
    while ((link & TM_LEAF) == 0) {
        const tm_branch *branch = &store->branches[link];
        uint32_t i = branch->count;
        while (i > 0 && (tm_link_marks(store, branch->links[i - 1]) & mark) == 0) {
            i--;
        }
        if (i == 0) {
            return branch->constant;
        }
        link = branch->links[i - 1];
    }
    return link & ~TM_LEAF;
}

/* The leaf of the spot against the text: negative, 0 or positive. */
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
    /* All children are above a text that ends here; otherwise those behind its next byte. */
    uint32_t from = spot->ended ? 0 : length > depth ? text[depth] + 1u : 0;
    for (uint32_t id = spot->branch; id != 0; id = store->branches[id].parent) {
        const tm_branch *branch = &store->branches[id];
        if (branch->marks & mark) {
            for (uint32_t i = tm_branch_seek(branch, from); i < branch->count; i++) {
                if (tm_link_marks(store, branch->links[i]) & mark) {
                    return first_of(store, branch->links[i], mark);
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
    if (spot->ended) { /* nothing at or under the branch where the text ends is below it */
        id = store->branches[id].parent;
        depth--;
    }
    for (; id != 0; id = store->branches[id].parent, depth--) {
        const tm_branch *branch = &store->branches[id];
        if ((branch->marks & mark) == 0) {
            continue;
        }
        for (uint32_t i = tm_branch_seek(branch, text[depth]); i > 0; i--) {
            if (tm_link_marks(store, branch->links[i - 1]) & mark) {
                return last_of(store, branch->links[i - 1], mark);
            }
        }
        if (branch->constant != 0 && store->constants[branch->constant].marks & mark) {
            return branch->constant;
        }
    }
    return 0;
}

/* ---- constraints at a constant ------------------------------------------------------------------------------------
 */

/* Its place in a constant, or TM_AT_COUNT for a cell. */
static uint32_t place_of(uint8_t op) {
    switch (op) {
    case TM_OP_EQ:
        return TM_AT_EQ;
    case TM_OP_LT:
        return TM_AT_LT;
    case TM_OP_GT:
        return TM_AT_GT;
    case TM_OP_PREFIX:
        return TM_AT_PREFIX;
    case TM_OP_SUFFIX:
        return TM_AT_SUFFIX;
    case TM_OP_CONTAINS:
        return TM_AT_CONTAINS;
    default:
        return TM_AT_COUNT;
    }
}

static uint32_t mark_of(uint32_t op) {
    switch (op) {
    case TM_OP_LT:
    case TM_OP_LE:
        return TM_MARK_LESS;
    case TM_OP_GT:
    case TM_OP_GE:
    case TM_OP_BETWEEN:
        return TM_MARK_GREATER;
    case TM_OP_CONTAINS:
        return TM_MARK_CONTAINS;
    case TM_OP_SUFFIX:
        return TM_MARK_SUFFIX;
    default:
        return 0;
    }
}

static uint32_t marks_of(const tm_trie_store *store, const tm_constant *constant) {
    uint32_t marks = (constant->at[TM_AT_LT] != 0 ? TM_MARK_LESS : 0) |
                     (constant->at[TM_AT_GT] != 0 ? TM_MARK_GREATER : 0) |
                     (constant->at[TM_AT_CONTAINS] != 0 ? TM_MARK_CONTAINS : 0) |
                     (constant->at[TM_AT_SUFFIX] != 0 ? TM_MARK_SUFFIX : 0);
    for (uint32_t cell = constant->cells; cell != 0; cell = store->cells[cell].next) {
        marks |= mark_of(store->cells[cell].op);
    }
    return marks;
}

static void put(tm_trie_store *store, tm_constant *constant, uint8_t op, uint32_t constraint) {
    uint32_t place = place_of(op);
    if (place < TM_AT_COUNT) {
        constant->at[place] = constraint;
        return;
    }
    uint32_t cell = store->cell_free != 0 ? store->cell_free : store->cell_count++;
    store->cell_free = store->cells[cell].next;
    store->cells[cell] = (tm_cell){.constraint = constraint, .next = constant->cells, .op = op};
    constant->cells = cell;
}

static void take_out(tm_trie_store *store, tm_constant *constant, uint8_t op, uint32_t constraint) {
    uint32_t place = place_of(op);
    if (place < TM_AT_COUNT) {
        constant->at[place] = 0;
        return;
    }
    uint32_t *at = &constant->cells;
    while (store->cells[*at].constraint != constraint) {
        at = &store->cells[*at].next;
    }
    uint32_t cell = *at;
    *at = store->cells[cell].next;
    store->cells[cell] = (tm_cell){.next = store->cell_free};
    store->cell_free = cell;
}

static bool is_bare(const tm_constant *constant) {
    for (uint32_t i = 0; i < TM_AT_COUNT; i++) {
        if (constant->at[i] != 0) {
            return false;
        }
    }
    return constant->cells == 0;
}

/* ---- chains -------------------------------------------------------------------------------------------------------
 */

/* The constant has just got TM_MARK_LESS, or is about to lose it: let the one before it lead to it, or past it. */
static void chain_less(const tm_text_index *trie, const tm_spot *spot, const tm_interned *text, uint32_t constant,
                       bool in) {
    tm_constant *constants = trie->store->constants;
    uint32_t before = tm_trie_below(trie, spot, text->bytes, text->length, TM_MARK_LESS);
    uint32_t after = tm_trie_above(trie, spot, text->bytes, text->length, TM_MARK_LESS);
    constants[constant].next_less = in ? after : 0;
    if (before != 0) {
        constants[before].next_less = in ? constant : after;
    }
}

static void chain_greater(const tm_text_index *trie, const tm_spot *spot, const tm_interned *text, uint32_t constant,
                          bool in) {
    tm_constant *constants = trie->store->constants;
    uint32_t before = tm_trie_above(trie, spot, text->bytes, text->length, TM_MARK_GREATER);
    uint32_t after = tm_trie_below(trie, spot, text->bytes, text->length, TM_MARK_GREATER);
    constants[constant].next_greater = in ? after : 0;
    if (before != 0) {
        constants[before].next_greater = in ? constant : after;
    }
}

/* Bring marks, chains and counts up to what stands at the constant now. */
static void remark(tm_text_index *trie, const tm_spot *spot, const tm_interned *text, uint32_t constant) {
    tm_constant *at = &trie->store->constants[constant];
    uint32_t marks = marks_of(trie->store, at);
    uint32_t changed = marks ^ at->marks;
    at->marks = marks;
    tm_trie_refresh(trie, spot->branch);
    if (changed & TM_MARK_LESS) {
        chain_less(trie, spot, text, constant, marks & TM_MARK_LESS);
    }
    if (changed & TM_MARK_GREATER) {
        chain_greater(trie, spot, text, constant, marks & TM_MARK_GREATER);
    }
    if (changed & TM_MARK_CONTAINS) {
        trie->contained += marks & TM_MARK_CONTAINS ? 1u : -1u;
    }
}

/* ---- change -------------------------------------------------------------------------------------------------------
 */

static tm_text_index *create(tm_constraints *constraints, void *shared) {
    tm_text_index *trie = TM_NEW(constraints->memory, TM_HOT, tm_text_index, 1);
    if (trie != NULL) {
        trie->store = shared;
    }
    return trie;
}

static void release_constant(tm_trie_store *store, uint32_t constant) {
    store->constants[constant] = (tm_constant){.marks = store->constant_free};
    store->constant_free = constant;
}

/* The arrays of the store keep what is in them: an index is only freed when it is empty or with the whole table. */
static void destroy(tm_text_index *trie) {
    if (trie != NULL) {
        tm_trie_free_branches(trie);
        tm_ordered_free(&trie->unequal, trie->store->memory);
        TM_DELETE(trie->store->memory, TM_HOT, trie, tm_text_index, 1);
    }
}

static bool reserve(tm_trie_store *store) {
    return tm_grow(store->memory, TM_HOT, &store->constants, sizeof *store->constants, &store->constant_capacity,
                   store->constant_count + 1) &&
           tm_grow(store->memory, TM_HOT, &store->cells, sizeof *store->cells, &store->cell_capacity,
                   store->cell_count + 1);
}

/* The constant of `string`, made and hung up if it is new; `spot` comes out as where it is. */
static int find_or_hang(tm_text_index *trie, const tm_interned *text, uint32_t string, tm_spot *spot, uint32_t *out) {
    tm_trie_store *store = trie->store;
    *spot = tm_trie_walk(trie, text->bytes, text->length, NULL);
    *out = tm_trie_complete(trie, spot, text->bytes, text->length);
    if (*out != 0) {
        return TM_OK;
    }
    bool reuse = store->constant_free != 0;
    *out = reuse ? store->constant_free : store->constant_count;
    uint32_t next_free = store->constants[*out].marks;
    store->constants[*out] = (tm_constant){.string = string};
    if (tm_trie_hang(trie, spot, text->bytes, text->length, *out) != TM_OK) {
        store->constants[*out] = (tm_constant){.marks = next_free};
        return TM_NO_MEMORY;
    }
    store->constant_free = reuse ? next_free : 0;
    store->constant_count += !reuse;
    *spot = tm_trie_walk(trie, text->bytes, text->length, NULL);
    return TM_OK;
}

static tm_probe id_probe(uint32_t constraint) {
    tm_probe probe = tm_probe_number((tm_number_key){constraint, 0});
    probe.constraint = constraint;
    return probe;
}

static int add(tm_text_index *trie, uint8_t op, uint32_t string, uint32_t constraint) {
    tm_trie_store *store = trie->store;
    const tm_interned *text = &store->strings->entries[string];
    tm_probe probe = id_probe(constraint);
    tm_spot spot;
    uint32_t constant = 0;
    if (!reserve(store) ||
        (op == TM_OP_NE && tm_ordered_add(&trie->unequal, store->memory, NULL, &probe, 0) != TM_OK)) {
        return TM_NO_MEMORY;
    }
    if (find_or_hang(trie, text, string, &spot, &constant) != TM_OK) {
        if (op == TM_OP_NE) {
            tm_ordered_remove(&trie->unequal, store->memory, NULL, &probe);
        }
        return TM_NO_MEMORY;
    }
    put(store, &store->constants[constant], op, constraint);
    remark(trie, &spot, text, constant);
    trie->operands++;
    return TM_OK;
}

static void remove_(tm_text_index *trie, uint8_t op, uint32_t string, uint32_t constraint) {
    tm_trie_store *store = trie->store;
    const tm_interned *text = &store->strings->entries[string];
    tm_spot spot = tm_trie_walk(trie, text->bytes, text->length, NULL);
    uint32_t constant = tm_trie_complete(trie, &spot, text->bytes, text->length);
    if (op == TM_OP_NE) {
        tm_probe probe = id_probe(constraint);
        tm_ordered_remove(&trie->unequal, store->memory, NULL, &probe);
    }
    take_out(store, &store->constants[constant], op, constraint);
    remark(trie, &spot, text, constant);
    trie->operands--;
    if (is_bare(&store->constants[constant])) {
        tm_trie_take_down(trie, &spot, text->bytes);
        release_constant(store, constant);
    }
}

/* ---- matching -----------------------------------------------------------------------------------------------------
 */

/* What holds of a text equal to the constant, beyond what held when it was a beginning. Returns its !=, or 0. */
static uint32_t hand_on_complete(const tm_trie_store *store, const tm_constant *constant, const tm_probe *value,
                                 tm_found *found) {
    uint32_t unequal = 0;
    tm_found_add(found, constant->at[TM_AT_EQ]);
    tm_found_add(found, constant->at[TM_AT_SUFFIX]);
    for (uint32_t cell = constant->cells; cell != 0; cell = store->cells[cell].next) {
        const tm_cell *at = &store->cells[cell];
        if (at->op == TM_OP_NE) {
            unequal = at->constraint;
        } else if (at->op != TM_OP_BETWEEN || tm_between_reaches(store->constraints, at->constraint, value)) {
            tm_found_add(found, at->constraint);
        }
    }
    return unequal;
}

/* Every constant from here on is above the text. */
static void follow_less(const tm_trie_store *store, uint32_t constant, tm_found *found) {
    while (constant != 0 && !found->done) {
        const tm_constant *at = &store->constants[constant];
        constant = at->next_less;
        __builtin_prefetch(&store->constants[constant]);
        tm_found_add(found, at->at[TM_AT_LT]);
        for (uint32_t cell = at->cells; cell != 0; cell = store->cells[cell].next) {
            tm_found_add(found, store->cells[cell].op == TM_OP_LE ? store->cells[cell].constraint : 0);
        }
    }
}

/* Every constant from here on is below the text. */
static void follow_greater(const tm_trie_store *store, uint32_t constant, const tm_probe *value, tm_found *found) {
    while (constant != 0 && !found->done) {
        const tm_constant *at = &store->constants[constant];
        constant = at->next_greater;
        __builtin_prefetch(&store->constants[constant]);
        tm_found_add(found, at->at[TM_AT_GT]);
        for (uint32_t cell = at->cells; cell != 0; cell = store->cells[cell].next) {
            const tm_cell *next = &store->cells[cell];
            if (next->op == TM_OP_GE ||
                (next->op == TM_OP_BETWEEN && tm_between_reaches(store->constraints, next->constraint, value))) {
                tm_found_add(found, next->constraint);
            }
        }
    }
}

/* Walk along text[start ..] for `contains`, and for `suffix` at its end, as far as `wanted` marks reach. Returns how
 * many `contains` were new. */
static uint32_t scan(const tm_text_index *trie, const uint8_t *text, uint32_t length, uint32_t start, uint32_t wanted,
                     tm_found *found) {
    const tm_trie_store *store = trie->store;
    uint32_t link = trie->root;
    uint32_t depth = start;
    uint32_t fresh = 0;
    while (link != 0 && (link & TM_LEAF) == 0 && store->branches[link].marks & wanted) {
        const tm_branch *branch = &store->branches[link];
        if (branch->constant != 0) {
            fresh += hand_on_contained(store, branch->constant, found);
        }
        if (depth == length) {
            tm_found_add(found, branch->constant != 0 ? store->constants[branch->constant].at[TM_AT_SUFFIX] : 0);
            return fresh;
        }
        link = tm_branch_child(branch, text[depth++]);
    }
    uint32_t leaf = link & TM_LEAF ? link & ~TM_LEAF : 0;
    if (leaf != 0 && store->constants[leaf].marks & wanted) {
        const tm_interned *string = string_of(store, leaf);
        if (tail_begins(string, text + start, length - start, depth - start)) {
            fresh += hand_on_contained(store, leaf, found);
            tm_found_add(found, string->length == length - start ? store->constants[leaf].at[TM_AT_SUFFIX] : 0);
        }
    }
    return fresh;
}

/* From each further character: `contains` until the last of those `unseen` was found, `suffix` where little is left. */
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

/* The texts are numbered so that a constant knows in which it was found; when numbers run out, they forget. */
static void next_text(tm_trie_store *store) {
    if (++store->text != 0) {
        return;
    }
    for (uint32_t i = 1; i < store->constant_count; i++) {
        store->constants[i].seen = 0;
    }
    store->text = 1;
}

static void match(const tm_text_index *trie, const uint8_t *text, uint32_t length, tm_found *found) {
    tm_trie_store *store = trie->store;
    if (trie->root == 0) {
        return;
    }
    next_text(store);
    tm_probe value = tm_probe_text(text, length);
    tm_spot spot = tm_trie_walk(trie, value.text, length, found);
    uint32_t complete = tm_trie_complete(trie, &spot, value.text, length);
    uint32_t unequal = complete != 0 ? hand_on_complete(store, &store->constants[complete], &value, found) : 0;
    uint32_t present = tm_link_marks(store, trie->root);
    if (present & TM_MARK_LESS) {
        follow_less(store, tm_trie_above(trie, &spot, value.text, length, TM_MARK_LESS), found);
    }
    if (present & TM_MARK_GREATER) {
        follow_greater(store, tm_trie_below(trie, &spot, value.text, length, TM_MARK_GREATER), &value, found);
    }
    if (trie->unequal.count > 0) {
        tm_probe probe = id_probe(unequal);
        tm_ordered_unequal(&trie->unequal, NULL, &probe, found);
    }
    if (present & (TM_MARK_CONTAINS | TM_MARK_SUFFIX)) {
        scan_further(trie, value.text, length, trie->contained - spot.found, found);
    }
}

static uint64_t count(const tm_text_index *trie) {
    return trie->operands;
}

const tm_text_class tm_text_trie = {create, destroy, add, remove_, match, count, tm_trie_validate};
