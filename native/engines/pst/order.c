/* order.c - ranks names, and moves filters accordingly. Law: see order.h. */
#include "engines/pst/order.h"

bool pst_order_before(const pst_labels *labels, uint32_t one, uint32_t other) {
    if (one == other) {
        return false;
    }
    if (labels->of_names[one].rank != labels->of_names[other].rank) {
        return labels->of_names[one].rank > labels->of_names[other].rank;
    }
    const tm_interned *name = &labels->names.entries[other];
    return tm_intern_compare(&labels->names, one, name->bytes, name->length) < 0;
}

/* true if label `a` comes before `b`, of another name. */
static bool is_before(const pst_labels *labels, uint32_t a, uint32_t b) {
    return pst_order_before(labels, labels->rows[a].name, labels->rows[b].name);
}

static bool is_sorted(const pst_labels *labels, const uint32_t *ids, uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        if (!is_before(labels, ids[i - 1], ids[i])) {
            return false;
        }
    }
    return true;
}

void pst_order_sort(const pst_labels *labels, uint32_t *ids, uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        uint32_t id = ids[i];
        uint32_t at = i;
        for (; at > 0 && is_before(labels, id, ids[at - 1]); at--) {
            ids[at] = ids[at - 1];
        }
        ids[at] = id;
    }
}

/* ---- ranks ---- */

static void take_ranks(pst_order *order, pst_tree *tree) {
    pst_labels *labels = &tree->labels;
    uint32_t names = pst_labels_names(labels);
    order->added = 0;
    if (names > PST_RANKED_NAMES_MAX) {
        return;
    }
    for (uint32_t name = 1; name < names; name++) {
        labels->of_names[name].rank = labels->of_names[name].filters;
    }
    order->ranked_at = tree->filters;
    order->next = 0;
    order->end = tree->handles;
}

void pst_order_added(pst_order *order, pst_tree *tree, const uint32_t *ids, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        tree->labels.of_names[tree->labels.rows[ids[i]].name].filters++;
    }
    order->added++;
    if (order->kind == PST_ORDER_AUTO && order->added >= PST_RANKED_FROM && order->added >= order->ranked_at) {
        take_ranks(order, tree);
    }
    pst_order_settle(order, tree, PST_MOVES_WITH_AN_ADD);
}

void pst_order_removed(pst_tree *tree, uint32_t handle) {
    uint32_t ids[TM_CONSTRAINTS_MAX];
    uint32_t count = pst_seats_path(tree, tree->seated[handle], ids);
    for (uint32_t i = 0; i < count; i++) {
        tree->labels.of_names[tree->labels.rows[ids[i]].name].filters--;
    }
}

/* ---- moves ---- */

/* Move the seat if its labels are in another order. Returns whether they are. */
static bool move(pst_tree *tree, uint32_t seat) {
    uint32_t ids[TM_CONSTRAINTS_MAX];
    uint32_t count = pst_seats_path(tree, seat, ids);
    if (is_sorted(&tree->labels, ids, count)) {
        return false;
    }
    pst_order_sort(&tree->labels, ids, count);
    pst_seats_move(tree, seat, ids, count);
    return true;
}

/* Move those seats of a filter that are in another order. Returns the steps that it takes. */
static uint64_t move_all(pst_tree *tree, uint32_t handle) {
    uint64_t steps = 0;
    for (uint32_t seat = tree->seated[handle]; seat != PST_NONE; seat = tree->seats[seat].other) {
        steps += move(tree, seat) ? PST_MOVE_STEPS : 1;
    }
    return steps;
}

void pst_order_settle(pst_order *order, pst_tree *tree, uint64_t steps) {
    for (uint64_t taken = 0; order->next < order->end && taken < steps;) {
        uint64_t moved = move_all(tree, order->next++);
        taken += moved > 0 ? moved : 1;
    }
}
