/* node.h - a node of a tree of boxes: its columns, and the bounds of what is below it.
 *
 * Law: a node of level 0 is a leaf, its rows are boxes; the rows of any other are nodes one level below. A row has 2k
 * ends: the lows of the k names, then their highs. A leaf has one column for each end; an inner node has two, the least
 * and the greatest of it among all boxes below a row. A column has room for `capacity` rows, so that two of them at a
 * time are compared with a value. Columns beyond `count` are undefined. Private to engines/boxes/.
 */
#ifndef TM_BOX_NODE_H
#define TM_BOX_NODE_H

#include <string.h>

#include "engines/boxes/tree.h"

#define LEAF_ROWS_FIRST 4U /* of a tree that is one leaf: it grows by doubling */
#define LEAF_ROWS 32U
#define INNER_ROWS 16U
#define LEAF_ROWS_MIN 8U  /* fewer are moved to a neighbour that has room for them */
#define INNER_ROWS_MIN 4U /* the limit of inner nodes */
#define ENDS_MAX (2 * TM_BOX_NAMES_MAX)
#define HEIGHT_MAX 16U /* a node is split into halves: 8^16 nodes are more than there are handles */

struct tm_box_node {
    tm_boxes *tree;      /* borrowed: it owns the node */
    tm_box_node *parent; /* borrowed; NULL: the root */
    uint16_t count;      /* of rows */
    uint16_t capacity;
    uint16_t others; /* of an inner node: rows below which an interface is not tracked, a bit each */
    uint8_t level;
    uint8_t slot;     /* its row in the parent */
    double columns[]; /* after them, in a leaf: ids, payloads, stricts, tracks; else: children, interfaces */
};

static inline uint32_t ends_of(const tm_box_node *node) {
    return 2 * node->tree->names;
}
static inline uint32_t columns_of(const tm_box_node *node) {
    return node->level == 0 ? ends_of(node) : 2 * ends_of(node);
}
/* Return the column of an end: in a leaf the end itself; in an inner node the least of it. */
static inline double *column_of(const tm_box_node *node, uint32_t end) {
    return (double *)(uintptr_t)node->columns + (size_t)end * node->capacity;
}
static inline double *greatest_of(const tm_box_node *node, uint32_t end) {
    return column_of(node, ends_of(node) + end);
}

/* Return the size of a node of this level and capacity. */
size_t tm_box_node_bytes(uint32_t names, uint32_t level, uint32_t capacity);

/* Prefetch a node that has not been read yet. */
#define LINE_BYTES 64U

static inline void tm_box_node_ask(const tm_box_node *node, size_t bytes) {
    for (size_t at = 0; at < bytes; at += LINE_BYTES) {
        __builtin_prefetch((const uint8_t *)node + at);
    }
}

static inline bool is_labelled(const tm_box_node *node, uint32_t end) {
    return node->tree->labelled >> end & 1;
}
/* true if one end of the tree is below another of its name and side. */
static inline bool is_below(const tm_box_node *node, uint32_t end, double a, double b) {
    if (!is_labelled(node, end)) {
        return a < b;
    }
    const int64_t *labels = *node->tree->labels;
    return tm_box_label(labels, a) < tm_box_label(labels, b);
}
/* Return an end as a number for measures and weights; for a labelled name an estimate. */
static inline double measure_of(const tm_boxes *tree, uint32_t end, double at) {
    return tree->labelled >> end & 1 ? (double)tm_box_label(*tree->labels, at) : at;
}

static inline uint32_t *ids_of(const tm_box_node *leaf) {
    return (uint32_t *)(void *)column_of(leaf, ends_of(leaf));
}
static inline uint32_t *payloads_of(const tm_box_node *leaf) {
    return ids_of(leaf) + leaf->capacity;
}
static inline uint32_t *stricts_of(const tm_box_node *leaf) {
    return payloads_of(leaf) + leaf->capacity;
}
static inline uint16_t *tracks_of(const tm_box_node *leaf) {
    return (uint16_t *)(void *)(stricts_of(leaf) + leaf->capacity);
}

static inline tm_box_node **children_of(const tm_box_node *inner) {
    return (tm_box_node **)(void *)column_of(inner, 2 * ends_of(inner));
}
/* Return the tracked interfaces below a row. */
static inline uint64_t *interfaces_of(const tm_box_node *inner, uint32_t row) {
    return (uint64_t *)(void *)(children_of(inner) + inner->capacity) + (size_t)row * TM_BOX_WORDS;
}

/* The bounds of a row of an inner node. */
typedef struct box_bounds {
    double least[ENDS_MAX];
    double greatest[ENDS_MAX];
    uint64_t interfaces[TM_BOX_WORDS];
    bool others;
} box_bounds;

/* Compute the bounds of all rows of a node that has some. */
void tm_box_bounds(const tm_box_node *node, box_bounds *bounds);
/* Read and write the bounds that a parent has of a row. */
void tm_box_bounds_at(const tm_box_node *inner, uint32_t row, box_bounds *bounds);
void tm_box_bounds_put(tm_box_node *inner, uint32_t row, const box_bounds *bounds);
bool tm_box_bounds_same(const box_bounds *a, const box_bounds *b, uint32_t ends);

tm_box_node *tm_box_node_new(tm_boxes *tree, uint32_t level, uint32_t capacity); /* NULL if out of memory */
void tm_box_node_free(tm_box_node *node);

/* Move row `from` of a node to row `to` of one of its level; the caller updates the counts. */
void tm_box_row_move(tm_box_node *target, uint32_t to, const tm_box_node *source, uint32_t from);
/* Append a child to a node that has room. */
void tm_box_child_append(tm_box_node *inner, tm_box_node *child);

/* ---- tree_shape.c ---- */

/* Widen the ranges by which ends are compared by a box that was inserted. */
void tm_box_widen_scales(tm_boxes *tree, const tm_box *box);

/* Return the row of an inner node to which a box is closest. */
uint32_t tm_box_closest(const tm_box_node *inner, const double *ends);
/* Return the other row of the node's parent that has room for all rows of the node and grows least by them; -1 if none
 * has room. */
int tm_box_neighbour(const tm_box_node *node);
/* Move half of a full node to an empty one of its capacity. Returns the end that separates the halves: it is at least
 * `*bound` in the rows that were moved. */
uint32_t tm_box_split(tm_box_node *full, tm_box_node *fresh, double *bound);
/* Return the position of a row along an end, measured: in an inner node the middle of its bounds. */
double tm_box_position(const tm_box_node *node, uint32_t row, uint32_t end);

/* Return the approximate memory of a box of this many names. */
uint64_t tm_boxes_bytes(uint32_t names);

#endif
