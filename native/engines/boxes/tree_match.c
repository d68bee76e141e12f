/* tree_match.c - one point against a tree of boxes.
 *
 * Law: reads the tree and changes nothing in it. The match descends into a row unless its bounds exclude the point or
 * nothing is to be gained below it; where the bounds imply that all boxes below hold, they are reported without a
 * comparison. Steps are spent for each node and for each box that is reported.
 *
 * Four rows are compared together, two pairs of floats; capacities are multiples of four.
 */
#include <math.h>

#include "base/bits.h"
#include "engines/boxes/node.h"
#include "engines/boxes/pairs.h"

#define STACK_MAX (HEIGHT_MAX * INNER_ROWS) /* each node on the path down leaves its other rows on the stack */
#define STEPS_OF_NODE (WORK_HOP + 2)
#define ROWS_A_STEP 8U
#define ROWS_AT_ONCE 4U
#define ROWS_SIMILAR 16U

_Static_assert(LEAF_ROWS_FIRST % ROWS_AT_ONCE == 0 && INNER_ROWS % ROWS_AT_ONCE == 0, "columns end with such rows");

/* The number of names of a tree, a constant in functions specialised for one number; ANY in the others. */
#define ANY 0U

static inline uint32_t names_of(const tm_box_node *node, uint32_t names) {
    return names == ANY ? node->tree->names : names;
}

/* Return the end of the compared rows. Of one name, where a row costs little, it is rounded up: a processor does not
 * predict an end that differs from node to node. */
static inline uint32_t end_of_rows(const tm_box_node *node, uint32_t names) {
    uint32_t end = (node->count + ROWS_SIMILAR - 1) / ROWS_SIMILAR * ROWS_SIMILAR;
    return names != 1 ? node->count : end < node->capacity ? end : node->capacity;
}

/* Return the rows whose least low is not above the value and whose greatest high is not below it: in a leaf, the boxes
 * that hold. The loop over a constant number of names is unrolled. */
static inline uint32_t rows_around(const tm_box_node *node, const tm_box_query *query, uint32_t names) {
    const size_t stride = node->capacity;
    const double *lows = node->columns;
    const double *highs = lows + (node->level == 0 ? 1 : 3) * names * stride;
    const uint32_t end = end_of_rows(node, names);
    uint64_t rows = 0;
    for (uint32_t row = 0; row < end; row += ROWS_AT_ONCE) {
        tm_verdict first = tm_pair_at_most(tm_pair_both(0), tm_pair_both(0));
        tm_verdict second = first;
        for (uint32_t name = 0; name < names; name++) {
            const double *low = lows + name * stride + row;
            const double *high = highs + name * stride + row;
            tm_pair below = tm_pair_both(query->values[name].below);
            tm_pair above = tm_pair_both(query->values[name].above);
            first = tm_verdict_and(first, tm_pair_is_around(low, high, below, above));
            second = tm_verdict_and(second, tm_pair_is_around(low + 2, high + 2, below, above));
        }
        rows |= (uint64_t)tm_verdict_bits(first, second) << row;
    }
    return (uint32_t)(rows & ((UINT64_C(1) << node->count) - 1));
}

/* Return those of the rows that hold for all labelled names, each compared by its label. */
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

static uint32_t rows_of_any(const tm_box_node *node, const tm_box_query *query) {
    uint32_t rows = node->tree->names == 3 ? rows_around(node, query, 3) : rows_around(node, query, node->tree->names);
    return node->tree->labelled == 0 ? rows : rows_by_label(node, query, rows);
}

static inline uint32_t rows_holding(const tm_box_node *node, const tm_box_query *query, uint32_t names) {
    return names == ANY ? rows_of_any(node, query) : rows_around(node, query, names);
}

/* Return those of the rows that hold for values between two floats: a strict bound at the float on its own side holds,
 * a bound there that is not strict does not. */
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

/* Let comparisons of floats accept every end of a labelled name. */
static void open_labelled(const tm_boxes *tree, tm_box_query *query) {
    for (uint32_t name = 0; name < tree->names && tree->labelled != 0; name++) {
        if (tree->labelled >> name & 1) {
            query->values[name] = (tm_box_value){.below = -INFINITY, .above = INFINITY};
        }
    }
}

static inline bool holds_float(const tm_box_node *inner, uint32_t row, uint32_t name, uint32_t names,
                               const tm_box_query *query) {
    const double *lows = inner->columns + 2 * names * (size_t)inner->capacity; /* the greatest lows */
    const double *highs = inner->columns + names * (size_t)inner->capacity;    /* the least highs */
    size_t at = name * (size_t)inner->capacity + row;
    return lows[at] <= query->values[name].below && highs[at] >= query->values[name].above;
}

static bool holds_label(const tm_box_node *inner, uint32_t row, uint32_t name, const tm_box_query *query) {
    const int64_t *labels = *inner->tree->labels;
    double low = greatest_of(inner, name)[row];
    double high = column_of(inner, inner->tree->names + name)[row];
    return tm_box_label(labels, low) <= query->labels[name] && tm_box_label(labels, high) >= query->labels[name];
}

/* true if every box below the row holds. */
static inline bool holds_whole(const tm_box_node *inner, uint32_t row, const tm_box_query *query, uint32_t names) {
    const uint32_t count = names_of(inner, names);
    for (uint32_t name = 0; name < count; name++) {
        bool is_in = names == ANY && is_labelled(inner, name) ? holds_label(inner, row, name, query)
                                                              : holds_float(inner, row, name, count, query);
        if (!is_in) {
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
    bool whole; /* all boxes below hold */
} visit;

static inline uint32_t push_rows(const tm_box_node *inner, bool whole, const tm_box_query *query, uint32_t names,
                                 visit *stack, uint32_t depth) {
    uint32_t rows = whole ? (1U << inner->count) - 1 : rows_holding(inner, query, names);
    for (; rows != 0; rows &= rows - 1) {
        uint32_t row = (uint32_t)__builtin_ctz(rows);
        if (!is_settled(inner, row, query)) {
            const tm_box_node *child = children_of(inner)[row];
            __builtin_prefetch(child);
            __builtin_prefetch(child->columns + 8);
            stack[depth++] = (visit){child, whole || holds_whole(inner, row, query, names)};
        }
    }
    return depth;
}

/* Report the boxes of a leaf that hold; false if the match is over. */
static inline bool see_leaf(const tm_box_node *leaf, bool whole, bool exact, tm_box_query *query, uint32_t names) {
    uint32_t rows = whole ? (uint32_t)((UINT64_C(1) << leaf->count) - 1) : rows_holding(leaf, query, names);
    if (!exact && !whole) {
        rows = rows_between(leaf, query, rows);
    }
    if (rows == 0) {
        return true;
    }
    const uint32_t *ids = (const uint32_t *)(const void *)(leaf->columns + 2 * names_of(leaf, names) * leaf->capacity);
    uint32_t count = tm_bit_count(rows);
    return tm_work_spend(&query->work, count) && query->found(query, ids, ids + leaf->capacity, rows, count);
}

static inline void see_below(const tm_box_node *root, bool exact, tm_box_query *query, uint32_t names) {
    visit stack[STACK_MAX];
    uint32_t depth = 0;
    stack[depth++] = (visit){root, false};
    while (depth > 0) {
        visit at = stack[--depth];
        if (!tm_work_spend(&query->work, STEPS_OF_NODE + at.node->count / ROWS_A_STEP)) {
            return;
        }
        if (at.node->level > 0) {
            depth = push_rows(at.node, at.whole, query, names, stack, depth);
        } else if (!see_leaf(at.node, at.whole, exact, query, names)) {
            return;
        }
    }
}

static void see_any(const tm_box_node *root, bool exact, tm_box_query *query) {
    see_below(root, exact, query, ANY);
}
static void see_one(const tm_box_node *root, bool exact, tm_box_query *query) {
    see_below(root, exact, query, 1);
}
static void see_two(const tm_box_node *root, bool exact, tm_box_query *query) {
    see_below(root, exact, query, 2);
}

/* Many lines have only one leaf. */
void tm_boxes_match_line(const tm_boxes *tree, tm_box_query *query) {
    const tm_box_node *root = tree->root;
    if (root == NULL) {
        return;
    }
    bool exact = query->values[0].below == query->values[0].above;
    if (root->level > 0) {
        see_one(root, exact, query);
    } else if (tm_work_spend(&query->work, STEPS_OF_NODE + root->count / ROWS_A_STEP)) {
        see_leaf(root, false, exact, query, 1);
    }
}

void tm_boxes_match(const tm_boxes *tree, tm_box_query *query) {
    if (tree->root == NULL) {
        return;
    }
    if (tree->names == 1 && tree->labelled == 0) {
        tm_boxes_match_line(tree, query);
        return;
    }
    bool exact = is_exact(tree, query);
    open_labelled(tree, query);
    if (tree->names == 2 && tree->labelled == 0) {
        see_two(tree->root, exact, query);
    } else {
        see_any(tree->root, exact, query);
    }
}
