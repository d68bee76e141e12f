/* trie.c - adds constraints to constants, and removes them. Law: see trie.h. */
#include "engines/papers/trie.h"
#include "base/grow.h"
#include "engines/papers/trie_match.h"
#include "engines/papers/trie_shape.h"
#include "engines/papers/trie_validate.h"
#include "engines/papers/trie_walk.h"

void tm_trie_store_init(tm_trie_store *store, tm_memory *memory, const tm_intern *strings,
                        tm_constraints *constraints) {
    *store = (tm_trie_store){.memory = memory,
                             .strings = strings,
                             .constraints = constraints,
                             .branch_count = 1,
                             .constant_count = 1,
                             .cell_count = 1};
    tm_blocks_init(&store->blocks, memory);
}

/* Free the arrays; the tries must have been freed. */
void tm_trie_store_free(tm_trie_store *store) {
    TM_DELETE(store->memory, TM_HOT, store->branches, tm_branch, store->branch_capacity);
    TM_DELETE(store->memory, TM_HOT, store->constants, tm_constant, store->constant_capacity);
    TM_DELETE(store->memory, TM_HOT, store->cells, tm_cell, store->cell_capacity);
    tm_blocks_free(&store->blocks);
}

/* ---- the place of an operator's constraint ---- */

/* Return the operator's place in a constant, or TM_AT_COUNT. */
static uint32_t place_of(uint8_t op) {
    switch (op) {
    case TM_OP_EQ:
        return TM_AT_EQ;
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

static bool is_chained(uint8_t op) {
    return op >= TM_OP_BETWEEN && op <= TM_OP_LE;
}

static uint32_t way_of(uint8_t op) {
    return op == TM_OP_LT || op == TM_OP_LE ? TM_UPWARD : TM_DOWNWARD;
}

static uint32_t link_bits(uint8_t op) {
    return op == TM_OP_BETWEEN                ? TM_LINK_INCLUSIVE | TM_LINK_BOUNDED
           : op == TM_OP_LE || op == TM_OP_GE ? TM_LINK_INCLUSIVE
                                              : 0;
}

static uint32_t *upward_place(void *constants, uint32_t constant) {
    return &((tm_constant *)constants)[constant].chained[TM_UPWARD];
}

static uint32_t *downward_place(void *constants, uint32_t constant) {
    return &((tm_constant *)constants)[constant].chained[TM_DOWNWARD];
}

static tm_chain_edit chain_edit(tm_text_index *trie, uint32_t way) {
    tm_trie_store *store = trie->store;
    return (tm_chain_edit){.blocks = &store->blocks,
                           .chain = &trie->chains[way],
                           .constants = store->constants,
                           .place = way == TM_UPWARD ? upward_place : downward_place};
}

/* ---- insertion ---- */

/* Return the constant before whose links a new one of `constant` belongs: its own, or the closest one's. */
static uint32_t follower(const tm_text_index *trie, const tm_spot *spot, const tm_interned *text, uint32_t constant,
                         uint32_t way) {
    if (trie->store->constants[constant].chained[way] != 0) {
        return constant;
    }
    return way == TM_UPWARD ? tm_trie_above(trie, spot, text->bytes, text->length, TM_MARK_LESS)
                            : tm_trie_below(trie, spot, text->bytes, text->length, TM_MARK_GREATER);
}

static void put_cell(tm_trie_store *store, tm_constant *constant, uint8_t op, uint32_t constraint) {
    uint32_t cell = store->cell_free != 0 ? store->cell_free : store->cell_count++;
    store->cell_free = store->cells[cell].next;
    store->cells[cell] = (tm_cell){.constraint = constraint, .next = constant->cells, .op = op};
    constant->cells = cell;
}

/* Add a constraint to a constant; room for a cell must be reserved, a chain may need memory. TM_NO_MEMORY:
 * unchanged. */
static int put(tm_text_index *trie, const tm_spot *spot, const tm_interned *text, uint32_t constant, uint8_t op,
               uint32_t constraint) {
    tm_constant *at = &trie->store->constants[constant];
    if (is_chained(op)) {
        tm_chain_edit edit = chain_edit(trie, way_of(op));
        tm_chain_entry link = {constant, constraint | link_bits(op)};
        return tm_chain_insert(&edit, follower(trie, spot, text, constant, way_of(op)), link);
    }
    if (place_of(op) < TM_AT_COUNT) {
        at->at[place_of(op)] = constraint;
    } else {
        put_cell(trie->store, at, op, constraint);
    }
    return TM_OK;
}

static void take_cell(tm_trie_store *store, tm_constant *constant, uint32_t constraint) {
    uint32_t *at = &constant->cells;
    while (store->cells[*at].constraint != constraint) {
        at = &store->cells[*at].next;
    }
    uint32_t cell = *at;
    *at = store->cells[cell].next;
    store->cells[cell] = (tm_cell){.next = store->cell_free};
    store->cell_free = cell;
}

static void take_out(tm_text_index *trie, uint32_t constant, uint8_t op, uint32_t constraint) {
    tm_constant *at = &trie->store->constants[constant];
    if (is_chained(op)) {
        tm_chain_edit edit = chain_edit(trie, way_of(op));
        tm_chain_remove(&edit, (tm_chain_entry){constant, constraint | link_bits(op)});
    } else if (place_of(op) < TM_AT_COUNT) {
        at->at[place_of(op)] = 0;
    } else {
        take_cell(trie->store, at, constraint);
    }
}

static bool is_bare(const tm_constant *constant) {
    uint32_t any = constant->cells | constant->chained[TM_UPWARD] | constant->chained[TM_DOWNWARD];
    for (uint32_t i = 0; i < TM_AT_COUNT; i++) {
        any |= constant->at[i];
    }
    return any == 0;
}

/* Update marks and counts after a change of the constant's constraints. */
static void remark(tm_text_index *trie, const tm_spot *spot, uint32_t constant) {
    tm_constant *at = &trie->store->constants[constant];
    uint32_t had = at->marks;
    at->marks = (at->chained[TM_UPWARD] != 0 ? TM_MARK_LESS : 0) |
                (at->chained[TM_DOWNWARD] != 0 ? TM_MARK_GREATER : 0) |
                (at->at[TM_AT_CONTAINS] != 0 ? TM_MARK_CONTAINS : 0) | (at->at[TM_AT_SUFFIX] != 0 ? TM_MARK_SUFFIX : 0);
    tm_trie_refresh(trie, spot->branch);
    trie->contained += ((at->marks & TM_MARK_CONTAINS) != 0) - ((had & TM_MARK_CONTAINS) != 0);
}

/* ---- changes ---- */

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
    if (--store->live == 0) {
        tm_trie_store_free(store);
        tm_trie_store_init(store, store->memory, store->strings, store->constraints);
    }
}

/* Free an index. The arrays of the store are not changed: an index is only freed when it is empty or with the whole
 * table. */
static void destroy(tm_text_index *trie) {
    if (trie != NULL) {
        tm_trie_free_branches(trie);
        tm_chain_free(&trie->store->blocks, &trie->chains[TM_UPWARD]);
        tm_chain_free(&trie->store->blocks, &trie->chains[TM_DOWNWARD]);
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

/* Return the constant of `string`, which is made and added if it is new; `spot` is set to its place. */
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
    store->live++;
    *spot = tm_trie_walk(trie, text->bytes, text->length, NULL);
    return TM_OK;
}

static void take_down_if_bare(tm_text_index *trie, const tm_spot *spot, const tm_interned *text, uint32_t constant) {
    if (is_bare(&trie->store->constants[constant])) {
        tm_trie_take_down(trie, spot, text->bytes);
        release_constant(trie->store, constant);
    }
}

static int add_at_constant(tm_text_index *trie, uint8_t op, uint32_t string, uint32_t constraint) {
    const tm_interned *text = &trie->store->strings->entries[string];
    tm_spot spot;
    uint32_t constant = 0;
    if (!reserve(trie->store) || find_or_hang(trie, text, string, &spot, &constant) != TM_OK) {
        return TM_NO_MEMORY;
    }
    if (put(trie, &spot, text, constant, op, constraint) != TM_OK) {
        take_down_if_bare(trie, &spot, text, constant);
        return TM_NO_MEMORY;
    }
    remark(trie, &spot, constant);
    trie->operands++;
    return TM_OK;
}

static int add(tm_text_index *trie, uint8_t op, uint32_t string, uint32_t constraint) {
    tm_memory *memory = trie->store->memory;
    tm_probe probe = tm_probe_id(constraint);
    if (op != TM_OP_NE) {
        return add_at_constant(trie, op, string, constraint);
    }
    int result = tm_ordered_add(&trie->unequal, memory, NULL, &probe, 0);
    if (result == TM_OK) {
        result = add_at_constant(trie, op, string, constraint);
        if (result != TM_OK) {
            tm_ordered_remove(&trie->unequal, memory, NULL, &probe);
        }
    }
    return result;
}

static void remove_(tm_text_index *trie, uint8_t op, uint32_t string, uint32_t constraint) {
    tm_trie_store *store = trie->store;
    const tm_interned *text = &store->strings->entries[string];
    tm_spot spot = tm_trie_walk(trie, text->bytes, text->length, NULL);
    uint32_t constant = tm_trie_complete(trie, &spot, text->bytes, text->length);
    if (op == TM_OP_NE) {
        tm_probe probe = tm_probe_id(constraint);
        tm_ordered_remove(&trie->unequal, store->memory, NULL, &probe);
    }
    take_out(trie, constant, op, constraint);
    remark(trie, &spot, constant);
    trie->operands--;
    take_down_if_bare(trie, &spot, text, constant);
}

static uint64_t count(const tm_text_index *trie) {
    return trie->operands;
}

const tm_text_class tm_text_trie = {create, destroy, add, remove_, tm_trie_match, count, tm_trie_validate};
