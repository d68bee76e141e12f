/* counter_tree.h - the counts of one message in a search tree by filter, as the map of a library stores them.
 *
 * Law: the tree is empty before a message's first count. Its order is that of mixed numbers, so that it is as deep as a
 * tree of random keys, for any set of filters. There are nodes for all filters; they are reserved when filters are
 * added, never by a match, so that a count costs less here than in a map that allocates each node.
 */
#ifndef TM_COUNTER_TREE_H
#define TM_COUNTER_TREE_H

#include "base/memory.h"
#include "tm.h"

#define TM_NO_NODE UINT32_MAX

typedef struct tm_counter_node {
    uint32_t filter;
    uint32_t state;    /* message << 8 | counted, or TM_COUNT_VETOED */
    uint32_t below[2]; /* nodes of a smaller and of a larger order, or TM_NO_NODE */
} tm_counter_node;

typedef struct tm_counter_tree {
    tm_counter_node *nodes; /* owned; the first `count` are those of `message` */
    uint32_t capacity;
    uint32_t count;
    uint32_t message; /* 0: none */
} tm_counter_tree;

/* Reserve nodes for `filters`; false if out of memory, then nothing changed. Counts stay. */
bool tm_counter_tree_reserve(tm_counter_tree *tree, tm_memory *memory, uint32_t filters);
void tm_counter_tree_free(tm_counter_tree *tree, tm_memory *memory);
/* Drop the counts of all messages. */
static inline void tm_counter_tree_forget(tm_counter_tree *tree) {
    tree->message = 0;
}

/* Return the order of a filter: distinct for distinct numbers (the last steps of MurmurHash3), so that there are no
 * ties. */
static inline uint32_t tm_counter_order(uint32_t filter) {
    filter = (filter ^ filter >> 16) * 0x85ebca6bU;
    filter = (filter ^ filter >> 13) * 0xc2b2ae35U;
    return filter ^ filter >> 16;
}

static inline uint32_t *tm_counter_tree_of(tm_counter_tree *tree, uint32_t filter, uint32_t message) {
    uint32_t order = tm_counter_order(filter);
    tm_counter_node *parent = NULL;
    uint32_t side = 0;
    if (tree->message != message) {
        tree->message = message;
        tree->count = 0;
    }
    for (uint32_t at = tree->count > 0 ? 0 : TM_NO_NODE; at != TM_NO_NODE; at = parent->below[side]) {
        parent = &tree->nodes[at];
        if (parent->filter == filter) {
            return &parent->state;
        }
        side = order > tm_counter_order(parent->filter);
    }
    if (parent != NULL) {
        parent->below[side] = tree->count;
    }
    tm_counter_node *node = &tree->nodes[tree->count++];
    *node = (tm_counter_node){filter, message << 8, {TM_NO_NODE, TM_NO_NODE}};
    return &node->state;
}

#endif
