/* tree_match.c - one point against a tree.
 *
 * Law: reads the tree and changes nothing in it. A row is looked into unless its bounds exclude the point or nothing is
 * to be gained from what lies below it; where the bounds say that all below holds, it is reported without a look at its
 * boxes. Steps are spent for each node and for each box that is reported.
 *
 * Two rows are compared at a time: vectors of two floats are what every machine has.
 */
#include <math.h>

#include "base/bits.h"
#include "engines/boxes/node.h"

typedef double pair __attribute__((vector_size(16), aligned(8)));
typedef int64_t verdict __attribute__((vector_size(16)));

#define STACK_MAX (HEIGHT_MAX * INNER_ROWS) /* each node on the way down leaves its other rows behind */
#define STEPS_OF_NODE (WORK_HOP + 2)
#define ROWS_A_STEP 8U

static inline pair pair_at(const double *column, uint32_t row) {
    return *(const pair *)(const void *)(column + row);
}
static inline pair both(double value) {
    return (pair){value, value};
}

/* The rows of which no least low is above the value and no greatest high below it: of a leaf the boxes that hold. */
static inline uint32_t rows_around(const tm_box_node *node, const tm_box_query *query, uint32_t names) {
    const size_t stride = node->capacity;
    const double *lows = node->columns;
    const double *highs = (node->level == 0 ? lows : greatest_of(node, 0)) + names * stride;
    verdict rows = {0, 0};
    verdict bits = {1, 2};
    for (uint32_t row = 0; row < node->count; row += 2, bits <<= 2) {
        verdict all = bits;
        for (uint32_t name = 0; name < names; name++) {
            all &= pair_at(lows + name * stride, row) <= both(query->values[name].above);
            all &= pair_at(highs + name * stride, row) >= both(query->values[name].below);
        }
        rows |= all;
    }
    return (uint32_t)(rows[0] | rows[1]) & (uint32_t)((UINT64_C(1) << node->count) - 1);
}

/* The same of labelled names, each compared by its label: of these rows those that are left. */
static uint32_t rows_by_label(const tm_box_node *node, const tm_box_query *query, uint32_t rows) {
    const int64_t *labels = *node->tree->labels;
    uint32_t names = node->tree->names;
    for (uint32_t left = node->tree->labelled & ((1U << names) - 1); left != 0; left &= left - 1) {
        uint32_t name = (uint32_t)__builtin_ctz(left);
        const double *lows = column_of(node, name);
        const double *highs = node->level == 0 ? column_of(node, names + name) : greatest_of(node, names + name);
        for (uint32_t some = rows; some != 0; some &= some - 1) {
            uint32_t row = (uint32_t)__builtin_ctz(some);
            bool is_in = tm_box_label(labels, lows[row]) <= query->labels[name] &&
                         tm_box_label(labels, highs[row]) >= query->labels[name];
            rows &= is_in ? UINT32_MAX : ~(1U << row);
        }
    }
    return rows;
}

/* With the number of names a constant: the loop over them is unrolled. */
static uint32_t rows_by_float(const tm_box_node *node, const tm_box_query *query) {
    switch (node->tree->names) {
    case 1:
        return rows_around(node, query, 1);
    case 2:
        return rows_around(node, query, 2);
    case 3:
        return rows_around(node, query, 3);
    default:
        return rows_around(node, query, node->tree->names);
    }
}

static inline uint32_t rows_holding(const tm_box_node *node, const tm_box_query *query) {
    uint32_t rows = rows_by_float(node, query);
    return node->tree->labelled == 0 ? rows : rows_by_label(node, query, rows);
}

/* A value between two floats: a strict bound at the float on its own side holds, another one there does not. */
static uint32_t rows_between(const tm_box_node *leaf, const tm_box_query *query, uint32_t rows) {
    uint32_t names = leaf->tree->names;
    uint32_t left = rows;
    for (; left != 0; left &= left - 1) {
        uint32_t row = (uint32_t)__builtin_ctz(left);
        uint32_t strict = stricts_of(leaf)[row];
        for (uint32_t name = 0; name < names; name++) {
            tm_box_value value = query->values[name];
            bool low = column_of(leaf, name)[row] <= value.below || (strict >> name & 1);
            bool high = column_of(leaf, names + name)[row] >= value.above || (strict >> (names + name) & 1);
            bool holds = value.below == value.above || is_labelled(leaf, name) || (low && high);
            rows &= holds ? UINT32_MAX : ~(1U << row);
        }
    }
    return rows;
}

static bool is_exact(const tm_boxes *tree, const tm_box_query *query) {
    bool exact = true;
    for (uint32_t name = 0; name < tree->names; name++) {
        exact &= query->values[name].below == query->values[name].above || (tree->labelled >> name & 1);
    }
    return exact;
}

/* Comparisons of floats let every end of a labelled name pass. */
static void open_labelled(const tm_boxes *tree, tm_box_query *query) {
    for (uint32_t name = 0; name < tree->names; name++) {
        if (tree->labelled >> name & 1) {
            query->values[name] = (tm_box_value){.below = -INFINITY, .above = INFINITY};
        }
    }
}

static bool holds_name(const tm_box_node *inner, uint32_t row, uint32_t name, const tm_box_query *query) {
    double low = greatest_of(inner, name)[row];
    double high = column_of(inner, inner->tree->names + name)[row];
    if (!is_labelled(inner, name)) {
        return low <= query->values[name].below && high >= query->values[name].above;
    }
    const int64_t *labels = *inner->tree->labels;
    return tm_box_label(labels, low) <= query->labels[name] && tm_box_label(labels, high) >= query->labels[name];
}

/* Does every box below the row hold? */
static bool holds_whole(const tm_box_node *inner, uint32_t row, const tm_box_query *query) {
    uint32_t names = inner->tree->names;
    for (uint32_t name = 0; name < names; name++) {
        if (!holds_name(inner, row, name, query)) {
            return false;
        }
    }
    return true;
}

static bool is_settled(const tm_box_node *inner, uint32_t row, const tm_box_query *query) {
    uint64_t open = inner->others >> row & 1;
    for (uint32_t word = 0; word < TM_BOX_WORDS; word++) {
        open |= interfaces_of(inner, row)[word] & ~query->settled[word];
    }
    return open == 0;
}

typedef struct visit {
    const tm_box_node *node;
    bool whole; /* all below holds */
} visit;

static uint32_t push_rows(const tm_box_node *inner, bool whole, const tm_box_query *query, visit *stack,
                          uint32_t depth) {
    uint32_t rows = whole ? (1U << inner->count) - 1 : rows_holding(inner, query);
    for (; rows != 0; rows &= rows - 1) {
        uint32_t row = (uint32_t)__builtin_ctz(rows);
        if (!is_settled(inner, row, query)) {
            const tm_box_node *child = children_of(inner)[row];
            __builtin_prefetch(child);
            __builtin_prefetch(child->columns + 8);
            stack[depth++] = (visit){child, whole || holds_whole(inner, row, query)};
        }
    }
    return depth;
}

/* false: it is over. */
static bool see_leaf(const tm_box_node *leaf, bool whole, bool exact, tm_box_query *query) {
    uint32_t rows = whole ? (uint32_t)((UINT64_C(1) << leaf->count) - 1) : rows_holding(leaf, query);
    if (!exact && !whole) {
        rows = rows_between(leaf, query, rows);
    }
    if (rows == 0) {
        return true;
    }
    return tm_work_spend(&query->work, tm_bit_count(rows)) &&
           query->found(query, ids_of(leaf), payloads_of(leaf), rows);
}

void tm_boxes_match(const tm_boxes *tree, tm_box_query *query) {
    visit stack[STACK_MAX];
    uint32_t depth = 0;
    bool exact = is_exact(tree, query);
    open_labelled(tree, query);
    if (tree->root != NULL) {
        stack[depth++] = (visit){tree->root, false};
    }
    while (depth > 0) {
        visit at = stack[--depth];
        if (!tm_work_spend(&query->work, STEPS_OF_NODE + at.node->count / ROWS_A_STEP)) {
            return;
        }
        if (at.node->level > 0) {
            depth = push_rows(at.node, at.whole, query, stack, depth);
        } else if (!see_leaf(at.node, at.whole, exact, query)) {
            return;
        }
    }
}
