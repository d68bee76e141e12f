/* tree.c - inserts and removes boxes. Law: see tree.h.
 *
 * An insertion finds its leaf before it changes anything, allocates all nodes that the splits on the path up will need,
 * and cannot fail from there on.
 */
#include "engines/boxes/node.h"

void tm_boxes_init(tm_boxes *tree, tm_memory *memory, uint32_t names, tm_box_moved moved, void *owner) {
    *tree = (tm_boxes){.memory = memory, .moved = moved, .owner = owner, .names = names};
}

static void free_below(tm_box_node *node) {
    for (uint32_t row = 0; node->level > 0 && row < node->count; row++) {
        free_below(children_of(node)[row]);
    }
    tm_box_node_free(node);
}

void tm_boxes_clear(tm_boxes *tree) {
    if (tree->root != NULL) {
        free_below(tree->root);
    }
    tree->root = NULL;
    tree->count = 0;
}

void tm_boxes_ask(const tm_box_node *leaf, uint32_t names) {
    tm_box_node_ask(leaf, tm_box_node_bytes(names, 0, LEAF_ROWS));
}

void tm_boxes_ask_bounds(const tm_box_node *leaf) {
    const tm_box_node *parent = leaf->parent;
    for (uint32_t column = 0; parent != NULL && column < 2 * ends_of(leaf); column++) {
        __builtin_prefetch(&parent->columns[(size_t)column * INNER_ROWS + leaf->slot], 1);
    }
}

tm_boxes *tm_boxes_of(const tm_box_node *leaf) {
    return leaf->tree;
}

/* ---- bounds up to the root ---- */

/* Update the parent's bounds of the node; false if they have not changed. */
static bool refresh(tm_box_node *node) {
    box_bounds now;
    box_bounds before;
    tm_box_bounds(node, &now);
    tm_box_bounds_at(node->parent, node->slot, &before);
    if (tm_box_bounds_same(&now, &before, ends_of(node))) {
        return false;
    }
    tm_box_bounds_put(node->parent, node->slot, &now);
    return true;
}

static void refresh_up(tm_box_node *node) {
    while (node->parent != NULL && refresh(node)) {
        node = node->parent;
    }
}

/* Widen the bounds up to the root by a box that was inserted. */
static void widen_up(tm_box_node *node, const tm_box *box) {
    for (; node->parent != NULL; node = node->parent) {
        tm_box_node *parent = node->parent;
        for (uint32_t end = 0; end < ends_of(node); end++) {
            double *least = &column_of(parent, end)[node->slot];
            double *greatest = &greatest_of(parent, end)[node->slot];
            *least = is_below(node, end, box->ends[end], *least) ? box->ends[end] : *least;
            *greatest = is_below(node, end, *greatest, box->ends[end]) ? box->ends[end] : *greatest;
        }
        if (box->track == TM_BOX_UNTRACKED) {
            parent->others |= (uint16_t)(1U << node->slot);
        } else {
            interfaces_of(parent, node->slot)[box->track / 64] |= UINT64_C(1) << (box->track % 64);
        }
    }
}

/* ---- insertion ---- */

static void append_box(tm_box_node *leaf, const tm_box *box) {
    uint32_t row = leaf->count++;
    for (uint32_t end = 0; end < ends_of(leaf); end++) {
        column_of(leaf, end)[row] = box->ends[end];
    }
    ids_of(leaf)[row] = box->id;
    payloads_of(leaf)[row] = box->payload;
    stricts_of(leaf)[row] = box->strict;
    tracks_of(leaf)[row] = box->track;
    leaf->tree->moved(leaf->tree->owner, box->id, leaf);
}

/* Replace the only leaf by one of twice the room; false if out of memory. */
static bool grow_leaf(tm_boxes *tree) {
    tm_box_node *old = tree->root;
    tm_box_node *leaf = tm_box_node_new(tree, 0, 2U * old->capacity);
    if (leaf == NULL) {
        return false;
    }
    for (uint32_t row = 0; row < old->count; row++) {
        tm_box_row_move(leaf, leaf->count++, old, row);
    }
    tm_box_node_free(old);
    tree->root = leaf;
    return true;
}

/* Nodes for all splits that a full leaf causes, by level; the one after the last level is a new root. */
typedef struct fresh_nodes {
    tm_box_node *nodes[HEIGHT_MAX];
    uint32_t count;
} fresh_nodes;

static bool take_fresh(tm_boxes *tree, const tm_box_node *leaf, fresh_nodes *fresh) {
    const tm_box_node *node = leaf;
    fresh->count = 0;
    for (uint32_t level = 0; level < HEIGHT_MAX; level++) {
        bool is_split = node != NULL && node->count == node->capacity;
        if (node != NULL && !is_split) {
            return true;
        }
        tm_box_node *made = tm_box_node_new(tree, level, level == 0 ? LEAF_ROWS : INNER_ROWS);
        if (made == NULL) {
            break;
        }
        fresh->nodes[fresh->count++] = made;
        if (node == NULL) {
            return true;
        }
        node = node->parent;
    }
    while (fresh->count > 0) {
        tm_box_node_free(fresh->nodes[--fresh->count]);
    }
    return false;
}

/* Add `fresh`, which has half of the node's rows, to the parent, and split parents that are full. */
static void tell_parent(tm_boxes *tree, tm_box_node *node, tm_box_node *fresh, const fresh_nodes *made) {
    while (node->parent != NULL) {
        tm_box_node *parent = node->parent;
        refresh(node);
        if (parent->count < parent->capacity) {
            tm_box_child_append(parent, fresh);
            refresh_up(parent);
            return;
        }
        tm_box_node *half = made->nodes[parent->level];
        double bound;
        uint32_t end = tm_box_split(parent, half, &bound);
        box_bounds bounds;
        tm_box_bounds(fresh, &bounds);
        double middle = (measure_of(tree, end, bounds.least[end]) + measure_of(tree, end, bounds.greatest[end])) / 2;
        tm_box_child_append(middle < bound ? parent : half, fresh);
        node = parent;
        fresh = half;
    }
    tree->root = made->nodes[made->count - 1];
    tm_box_child_append(tree->root, node);
    tm_box_child_append(tree->root, fresh);
}

static bool insert_split(tm_boxes *tree, tm_box_node *leaf, const tm_box *box) {
    fresh_nodes made;
    if (!take_fresh(tree, leaf, &made)) {
        return false;
    }
    double bound;
    tm_box_node *fresh = made.nodes[0];
    uint32_t end = tm_box_split(leaf, fresh, &bound);
    append_box(measure_of(tree, end, box->ends[end]) < bound ? leaf : fresh, box);
    tell_parent(tree, leaf, fresh, &made);
    return true;
}

bool tm_boxes_insert(tm_boxes *tree, const tm_box *box) {
    if (tree->root == NULL) {
        tree->root = tm_box_node_new(tree, 0, LEAF_ROWS_FIRST);
    }
    if (tree->root == NULL) {
        return false;
    }
    if (tree->root->count == tree->root->capacity && tree->root->capacity < LEAF_ROWS && tree->root->level == 0 &&
        !grow_leaf(tree)) {
        return false;
    }
    tm_box_node *leaf = tree->root;
    while (leaf->level > 0) {
        uint32_t level = leaf->level - 1U;
        leaf = children_of(leaf)[tm_box_closest(leaf, box->ends)];
        tm_box_node_ask(leaf, tm_box_node_bytes(tree->names, level, level == 0 ? LEAF_ROWS : INNER_ROWS));
    }
    if (leaf->count < leaf->capacity) {
        append_box(leaf, box);
        widen_up(leaf, box);
    } else if (!insert_split(tree, leaf, box)) {
        return false;
    }
    tm_box_widen_scales(tree, box);
    tree->count++;
    return true;
}

/* ---- removal ---- */

static void mend(tm_box_node *node);

/* Remove a node without rows from its parent; the root leaves an empty tree. */
static void detach(tm_box_node *node) {
    tm_box_node *parent = node->parent;
    if (parent == NULL) {
        node->tree->root = NULL;
        tm_box_node_free(node);
        return;
    }
    if (node->slot != --parent->count) {
        tm_box_row_move(parent, node->slot, parent, parent->count);
    }
    parent->others &= (uint16_t)((1U << parent->count) - 1);
    tm_box_node_free(node);
    mend(parent);
}

static void drop_root(tm_box_node *root) {
    root->tree->root = children_of(root)[0];
    root->tree->root->parent = NULL;
    tm_box_node_free(root);
}

/* Update bounds after rows were removed; a node with few rows moves them to a neighbour. */
static void mend(tm_box_node *node) {
    uint32_t least = node->level == 0 ? LEAF_ROWS_MIN : INNER_ROWS_MIN;
    if (node->count == 0) {
        detach(node);
    } else if (node->parent == NULL) {
        while (node->level > 0 && node->count == 1) {
            tm_box_node *root = node;
            node = children_of(root)[0];
            drop_root(root);
        }
    } else {
        int row = node->count < least ? tm_box_neighbour(node) : -1;
        if (row < 0) {
            refresh_up(node);
            return;
        }
        tm_box_node *other = children_of(node->parent)[row];
        while (node->count > 0) {
            tm_box_row_move(other, other->count++, node, --node->count);
        }
        refresh(other);
        detach(node);
    }
}

static uint32_t row_of(const tm_box_node *leaf, uint32_t id) {
    uint32_t row = 0;
    while (ids_of(leaf)[row] != id) {
        row++;
    }
    return row;
}

/* A set of ends, a bit each. */
typedef uint32_t box_ends;

_Static_assert(ENDS_MAX <= 32, "ends are bits of a word");

/* Return the ends at which the parent's bound is that of this row. */
static box_ends ends_at_edge(const tm_box_node *leaf, uint32_t row) {
    box_ends edges = 0;
    for (uint32_t end = 0; end < ends_of(leaf); end++) {
        double at = column_of(leaf, end)[row];
        bool is_edge =
            at == column_of(leaf->parent, end)[leaf->slot] || at == greatest_of(leaf->parent, end)[leaf->slot];
        edges |= (box_ends)is_edge << end;
    }
    return edges;
}

/* true if no other row of the leaf has the track of this row. */
static bool is_alone(const tm_box_node *leaf, uint32_t row) {
    const uint16_t *tracks = tracks_of(leaf);
    for (uint32_t other = 0; other < leaf->count; other++) {
        if (other != row && tracks[other] == tracks[row]) {
            return false;
        }
    }
    return true;
}

/* Find the least and the greatest of an end in a node that has rows. */
static void range_of(const tm_box_node *node, uint32_t end, double *least, double *greatest) {
    const double *leasts = column_of(node, end);
    const double *greatests = node->level == 0 ? leasts : greatest_of(node, end);
    *least = leasts[0];
    *greatest = greatests[0];
    for (uint32_t row = 1; row < node->count; row++) {
        *least = is_below(node, end, leasts[row], *least) ? leasts[row] : *least;
        *greatest = is_below(node, end, *greatest, greatests[row]) ? greatests[row] : *greatest;
    }
}

/* Narrow the bounds of these ends after a row was removed, and further up those that have changed. */
static void narrow_up(tm_box_node *node, box_ends ends) {
    for (; node->parent != NULL && ends != 0; node = node->parent) {
        box_ends narrower = 0;
        for (box_ends left = ends; left != 0; left &= left - 1) {
            uint32_t end = (uint32_t)__builtin_ctz(left);
            double least;
            double greatest;
            range_of(node, end, &least, &greatest);
            double *was_least = &column_of(node->parent, end)[node->slot];
            double *was_greatest = &greatest_of(node->parent, end)[node->slot];
            narrower |= (box_ends)(*was_least != least || *was_greatest != greatest) << end;
            *was_least = least;
            *was_greatest = greatest;
        }
        ends = narrower;
    }
}

void tm_boxes_remove(tm_box_node *leaf, uint32_t id) {
    uint32_t row = row_of(leaf, id);
    bool may_stay = leaf->parent != NULL && leaf->count > LEAF_ROWS_MIN && !is_alone(leaf, row);
    box_ends edges = may_stay ? ends_at_edge(leaf, row) : 0;
    leaf->tree->count--;
    leaf->count--;
    tm_box_row_move(leaf, row, leaf, leaf->count);
    if (may_stay) {
        narrow_up(leaf, edges);
    } else {
        mend(leaf);
    }
}

/* ---- reading ---- */

void tm_boxes_at(const tm_box_node *leaf, uint32_t id, tm_box *box) {
    uint32_t row = row_of(leaf, id);
    *box = (tm_box){
        .id = id, .payload = payloads_of(leaf)[row], .strict = stricts_of(leaf)[row], .track = tracks_of(leaf)[row]};
    for (uint32_t end = 0; end < ends_of(leaf); end++) {
        box->ends[end] = column_of(leaf, end)[row];
    }
}

static uint32_t ids_below(const tm_box_node *node, uint32_t *ids, uint32_t room) {
    uint32_t count = 0;
    for (uint32_t row = 0; row < node->count && count < room; row++) {
        if (node->level == 0) {
            ids[count++] = ids_of(node)[row];
        } else {
            count += ids_below(children_of(node)[row], ids + count, room - count);
        }
    }
    return count;
}

uint32_t tm_boxes_ids(const tm_boxes *tree, uint32_t *ids, uint32_t room) {
    return tree->root == NULL ? 0 : ids_below(tree->root, ids, room);
}
