/* tree_validate.c - checks the invariants of tree.h one by one. Law: see tree_validate.h. */
#include "engines/boxes/node.h"

typedef bool (*box_is_at)(const void *owner, uint32_t id, const tm_box_node *leaf);

static int fails(const char **reason, const char *why) {
    *reason = why;
    return TM_MISUSED;
}

static int validate_leaf(const tm_box_node *leaf, box_is_at is_at, const char **reason) {
    for (uint32_t row = 0; row < leaf->count; row++) {
        uint16_t track = tracks_of(leaf)[row];
        if (track >= TM_BOX_TRACKED && track != TM_BOX_UNTRACKED) {
            return fails(reason, "a box has an interface that is not tracked");
        }
        if (is_at != NULL && !is_at(leaf->tree->owner, ids_of(leaf)[row], leaf)) {
            return fails(reason, "a box is not at the place that its owner records");
        }
    }
    return TM_OK;
}

static int validate_node(const tm_box_node *node, box_is_at is_at, uint32_t *boxes, const char **reason);

static int validate_row(const tm_box_node *inner, uint32_t row, box_is_at is_at, uint32_t *boxes, const char **reason) {
    const tm_box_node *child = children_of(inner)[row];
    if (child->parent != inner || child->slot != row || child->level + 1 != inner->level ||
        child->tree != inner->tree) {
        return fails(reason, "a node of boxes does not hang where it should");
    }
    int result = validate_node(child, is_at, boxes, reason);
    if (result != TM_OK) {
        return result;
    }
    box_bounds said;
    box_bounds found;
    tm_box_bounds_at(inner, row, &said);
    tm_box_bounds(child, &found);
    return tm_box_bounds_same(&said, &found, ends_of(inner)) ? TM_OK : fails(reason, "a bound of boxes is wrong");
}

static int validate_node(const tm_box_node *node, box_is_at is_at, uint32_t *boxes, const char **reason) {
    if (node->count == 0 || node->count > node->capacity) {
        return fails(reason, "a node of boxes is empty or overfull");
    }
    if (node->level == 0) {
        *boxes += node->count;
        return validate_leaf(node, is_at, reason);
    }
    if (node->others >> node->count != 0) {
        return fails(reason, "a node of boxes refers to rows that it lacks");
    }
    int result = TM_OK;
    for (uint32_t row = 0; row < node->count && result == TM_OK; row++) {
        result = validate_row(node, row, is_at, boxes, reason);
    }
    return result;
}

int tm_boxes_validate(const tm_boxes *tree, box_is_at is_at, const char **reason) {
    uint32_t boxes = 0;
    int result = TM_OK;
    if (tree->root != NULL) {
        bool sound = tree->root->parent == NULL && tree->root->tree == tree && tree->root->level < HEIGHT_MAX &&
                     (tree->root->level == 0 || tree->root->count > 1);
        result =
            sound ? validate_node(tree->root, is_at, &boxes, reason) : fails(reason, "a tree of boxes has no root");
    }
    return result == TM_OK && boxes != tree->count ? fails(reason, "a tree's count of boxes is wrong") : result;
}
