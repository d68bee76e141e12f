/* counter_tree.c - the nodes for the counts of a message. Law: see counter_tree.h. */
#include "engines/papers/counter_tree.h"

#include "base/grow.h"

bool tm_counter_tree_reserve(tm_counter_tree *tree, tm_memory *memory, uint32_t filters) {
    return tm_grow(memory, TM_HOT, &tree->nodes, sizeof *tree->nodes, &tree->capacity, filters);
}

void tm_counter_tree_free(tm_counter_tree *tree, tm_memory *memory) {
    TM_DELETE(memory, TM_HOT, tree->nodes, tm_counter_node, tree->capacity);
    *tree = (tm_counter_tree){0};
}
