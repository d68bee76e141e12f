/* tree.c - nodes and branches of a cached tree. Law: see tree.h. */
#include <string.h>

#include "base/hash.h"
#include "engines/interval/tree_growing.h"

#define BRANCHES_FIRST 64U

void tm_tree_clear(tm_interval_tree *tree, tm_interval_store *store) {
    tm_memory *memory = store->memory;
    if (tree->bytes > 0) {
        TM_DELETE(memory, TM_HOT, tree->nodes, tm_tree_node, tree->node_capacity);
        TM_DELETE(memory, TM_HOT, tree->pool, uint64_t, tree->pool_capacity);
        TM_DELETE(memory, TM_HOT, tree->branches, tm_tree_branch, tree->branch_capacity);
        TM_DELETE(memory, TM_HOT, tree->buckets, uint32_t, tree->branch_capacity);
    }
    *tree = (tm_interval_tree){0};
}

/* ---- room ---- */

/* Grow an array of the tree for `wanted` elements and a half more; false beyond the bound, or if out of memory. */
static bool grow(tm_interval_tree *tree, tm_growth *growth, void *array, size_t size, uint32_t *capacity,
                 uint64_t wanted) {
    if (wanted <= *capacity) {
        return true;
    }
    uint64_t room = wanted + wanted / 2;
    uint64_t more = size * (room - *capacity);
    if (room > UINT32_MAX || tree->bytes + more > growth->bytes_max) {
        return false;
    }
    void *block;
    memcpy(&block, array, sizeof block);
    block = tm_extend_counted(growth->memory, TM_HOT, block, size * *capacity, size * room);
    if (block == NULL) {
        return false;
    }
    memcpy(array, &block, sizeof block);
    *capacity = (uint32_t)room;
    tree->bytes += more;
    return true;
}

static uint64_t hash_of_key(const tm_growth *growth, uint64_t key) {
    return tm_hash_words(0, (uint32_t)key, (uint32_t)(key >> 32), &growth->memory->key);
}

static void put_branch(tm_tree_branch *branches, uint32_t mask, uint64_t hash, tm_tree_branch branch) {
    uint32_t at = (uint32_t)hash & mask;
    while (branches[at].key != 0) {
        at = (at + 1) & mask;
    }
    branches[at] = branch;
}

static void put_node(tm_interval_tree *tree, uint32_t node) {
    uint32_t *bucket = &tree->buckets[tree->nodes[node].hash & (tree->branch_capacity - 1)];
    tree->nodes[node].next = *bucket;
    *bucket = node + 1;
}

/* Double the branches and buckets, from BRANCHES_FIRST on; false beyond the bound, or if out of memory. */
static bool grow_hashes(tm_interval_tree *tree, tm_growth *growth) {
    if ((uint64_t)tree->branch_count * 4 < (uint64_t)tree->branch_capacity * 3) {
        return true;
    }
    uint32_t capacity = tree->branch_capacity > 0 ? tree->branch_capacity * 2 : BRANCHES_FIRST;
    uint64_t each = sizeof(tm_tree_branch) + sizeof(uint32_t);
    if (tree->bytes + each * (capacity - tree->branch_capacity) > growth->bytes_max) {
        return false;
    }
    tm_tree_branch *branches = TM_NEW(growth->memory, TM_HOT, tm_tree_branch, capacity);
    uint32_t *buckets = branches != NULL ? TM_NEW(growth->memory, TM_HOT, uint32_t, capacity) : NULL;
    if (buckets == NULL) {
        TM_DELETE(growth->memory, TM_HOT, branches, tm_tree_branch, capacity);
        return false;
    }
    for (uint32_t i = 0; i < tree->branch_capacity; i++) {
        if (tree->branches[i].key != 0) {
            put_branch(branches, capacity - 1, hash_of_key(growth, tree->branches[i].key), tree->branches[i]);
        }
    }
    TM_DELETE(growth->memory, TM_HOT, tree->branches, tm_tree_branch, tree->branch_capacity);
    TM_DELETE(growth->memory, TM_HOT, tree->buckets, uint32_t, tree->branch_capacity);
    tree->bytes += each * (capacity - tree->branch_capacity);
    tree->branches = branches;
    tree->buckets = buckets;
    tree->branch_capacity = capacity;
    for (uint32_t node = 0; node < tree->node_count; node++) {
        put_node(tree, node);
    }
    return true;
}

/* ---- nodes ---- */

tm_survivors tm_tree_survivors(const tm_interval_tree *tree, uint32_t node) {
    const tm_tree_node *row = &tree->nodes[node];
    return (tm_survivors){.items = &tree->pool[row->items],
                          .count = row->count,
                          .words = row->words,
                          .is_bits = row->is_bits,
                          .is_all = row->level == 0};
}

static size_t bytes_of(const tm_survivors *survivors) {
    return survivors->is_bits ? sizeof(uint64_t) * (size_t)survivors->words
                              : sizeof(uint32_t) * (size_t)survivors->count;
}

static uint64_t hash_of(const tm_growth *growth, uint32_t level, const tm_survivors *survivors) {
    uint64_t hash = tm_hash_words(level, survivors->count, survivors->is_bits, &growth->memory->key);
    const uint8_t *bytes = survivors->items;
    for (size_t at = 0; at < bytes_of(survivors); at += sizeof(uint32_t)) {
        uint32_t word;
        memcpy(&word, bytes + at, sizeof word);
        hash = tm_hash_words(hash, word, 0, &growth->memory->key);
    }
    return hash;
}

static uint32_t find_node(const tm_interval_tree *tree, uint64_t hash, uint32_t level, const tm_survivors *survivors) {
    for (uint32_t at = tree->buckets[hash & (tree->branch_capacity - 1)]; at != 0; at = tree->nodes[at - 1].next) {
        const tm_tree_node *node = &tree->nodes[at - 1];
        if (node->hash == hash && node->level == level && node->count == survivors->count &&
            node->is_bits == survivors->is_bits && node->words == survivors->words &&
            (node->count == 0 || memcmp(&tree->pool[node->items], survivors->items, bytes_of(survivors)) == 0)) {
            return at - 1;
        }
    }
    return TM_NODE_NONE;
}

/* Return the node with these filters, made if there is none; TM_NODE_NONE if there is no room. */
static uint32_t need_node(tm_interval_tree *tree, tm_growth *growth, uint32_t level, const tm_survivors *survivors) {
    uint64_t hash = hash_of(growth, level, survivors);
    uint32_t found = find_node(tree, hash, level, survivors);
    if (found != TM_NODE_NONE) {
        return found;
    }
    uint64_t end = tree->pool_count + (uint64_t)(bytes_of(survivors) + 7) / 8;
    if (!grow(tree, growth, &tree->pool, sizeof *tree->pool, &tree->pool_capacity, end + 1) ||
        !grow(tree, growth, &tree->nodes, sizeof *tree->nodes, &tree->node_capacity, tree->node_count + 1)) {
        return TM_NODE_NONE;
    }
    if (survivors->count > 0) {
        memcpy(&tree->pool[tree->pool_count], survivors->items, bytes_of(survivors));
    }
    tree->nodes[tree->node_count] = (tm_tree_node){.hash = hash,
                                                   .items = tree->pool_count,
                                                   .count = survivors->count,
                                                   .words = survivors->words,
                                                   .level = (uint16_t)level,
                                                   .is_bits = survivors->is_bits};
    tree->pool_count = (uint32_t)end;
    put_node(tree, tree->node_count);
    return tree->node_count++;
}

/* ---- branches ---- */

static uint64_t key_of(uint32_t node, uint32_t edge) {
    return ((uint64_t)node << 32 | edge) + 1;
}

static uint32_t find_branch(const tm_interval_tree *tree, const tm_growth *growth, uint64_t key) {
    uint32_t mask = tree->branch_capacity - 1;
    uint32_t at = (uint32_t)hash_of_key(growth, key) & mask;
    for (; tree->branches[at].key != 0; at = (at + 1) & mask) {
        if (tree->branches[at].key == key) {
            return tree->branches[at].node;
        }
    }
    return TM_NODE_NONE;
}

bool tm_tree_begin(tm_interval_tree *tree, tm_growth *growth) {
    if (tree->node_count > 0) {
        return true;
    }
    tm_survivors all = tm_survivors_all(growth->structure);
    return grow_hashes(tree, growth) && need_node(tree, growth, 0, &all) != TM_NODE_NONE;
}

uint32_t tm_tree_take(tm_interval_tree *tree, tm_growth *growth, uint32_t node, uint32_t edge, uint64_t *places) {
    uint64_t key = key_of(node, edge);
    uint32_t found = find_branch(tree, growth, key);
    if (found != TM_NODE_NONE) {
        return found;
    }
    uint32_t level = tree->nodes[node].level;
    const tm_axis *axis = growth->structure->axes[level];
    const tm_interval_set *set = edge < axis->count ? &axis->edges[edge]->set : NULL;
    tm_survivors left = tm_survivors_meet(tm_tree_survivors(tree, node), growth->structure, axis, set,
                                          growth->dense_from, growth->room, places);
    left = tm_survivors_padded(left, growth->structure, growth->room);
    if (!grow_hashes(tree, growth)) {
        return TM_NODE_NONE;
    }
    uint32_t made = need_node(tree, growth, level + 1, &left);
    if (made != TM_NODE_NONE) {
        put_branch(tree->branches, tree->branch_capacity - 1, hash_of_key(growth, key), (tm_tree_branch){key, made});
        tree->branch_count++;
    }
    return made;
}

void tm_tree_grow(tm_interval_tree *tree, tm_growth *growth, uint64_t *steps) {
    const tm_structure *structure = growth->structure;
    if (tree->is_whole || !tm_tree_begin(tree, growth)) {
        return;
    }
    while (*steps > 0 && tree->grown_node < tree->node_count) {
        const tm_tree_node *node = &tree->nodes[tree->grown_node];
        bool is_last = node->level == structure->axis_count || node->count == 0;
        if (is_last || tree->grown_edge > structure->axes[node->level]->count) { /* the branch * is after the edges */
            tree->grown_node++;
            tree->grown_edge = 0;
            continue;
        }
        uint64_t places = 1;
        bool has_room = tm_tree_take(tree, growth, tree->grown_node, tree->grown_edge, &places) != TM_NODE_NONE;
        *steps -= places < *steps ? places : *steps;
        if (!has_room) {
            break; /* the bound is reached: existing branches stay, others are made on demand */
        }
        tree->grown_edge++;
    }
    tree->is_whole = *steps > 0;
}
