/* node.c - makes and frees nodes, moves rows and computes bounds. Law: see node.h. */
#include "engines/boxes/node.h"

/* ---- life ---- */

size_t tm_box_node_bytes(uint32_t names, uint32_t level, uint32_t capacity) {
    size_t ends = 2 * (size_t)names;
    size_t row = level == 0 ? sizeof(double) * ends + 3 * sizeof(uint32_t) + sizeof(uint16_t)
                            : sizeof(double) * 2 * ends + sizeof(tm_box_node *) + sizeof(uint64_t) * TM_BOX_WORDS;
    return sizeof(tm_box_node) + row * capacity;
}

tm_box_node *tm_box_node_new(tm_boxes *tree, uint32_t level, uint32_t capacity) {
    tm_box_node *node =
        (tm_box_node *)(void *)TM_NEW(tree->memory, TM_HOT, uint8_t, tm_box_node_bytes(tree->names, level, capacity));
    if (node != NULL) {
        node->tree = tree;
        node->level = (uint8_t)level;
        node->capacity = (uint16_t)capacity;
    }
    return node;
}

void tm_box_node_free(tm_box_node *node) {
    TM_DELETE(node->tree->memory, TM_HOT, node, uint8_t,
              tm_box_node_bytes(node->tree->names, node->level, node->capacity));
}

uint64_t tm_boxes_bytes(uint32_t names) {
    return tm_box_node_bytes(names, 0, LEAF_ROWS) * 3 / 2 / LEAF_ROWS; /* leaves are two thirds full */
}

/* ---- bounds ---- */

static void widen(const tm_box_node *node, box_bounds *bounds, uint32_t end, double least, double greatest) {
    bounds->least[end] = is_below(node, end, least, bounds->least[end]) ? least : bounds->least[end];
    bounds->greatest[end] = is_below(node, end, bounds->greatest[end], greatest) ? greatest : bounds->greatest[end];
}

static void note_interfaces(const tm_box_node *node, box_bounds *bounds) {
    for (uint32_t row = 0; row < node->count; row++) {
        if (node->level > 0) {
            for (uint32_t word = 0; word < TM_BOX_WORDS; word++) {
                bounds->interfaces[word] |= interfaces_of(node, row)[word];
            }
            continue;
        }
        uint16_t track = tracks_of(node)[row];
        if (track == TM_BOX_UNTRACKED) {
            bounds->others = true;
        } else {
            bounds->interfaces[track / 64] |= UINT64_C(1) << (track % 64);
        }
    }
}

void tm_box_bounds(const tm_box_node *node, box_bounds *bounds) {
    uint32_t ends = ends_of(node);
    for (uint32_t end = 0; end < ends; end++) {
        const double *least = column_of(node, end);
        const double *greatest = node->level == 0 ? least : greatest_of(node, end);
        bounds->least[end] = least[0];
        bounds->greatest[end] = greatest[0];
        for (uint32_t row = 1; row < node->count; row++) {
            widen(node, bounds, end, least[row], greatest[row]);
        }
    }
    memset(bounds->interfaces, 0, sizeof bounds->interfaces);
    bounds->others = node->level > 0 && node->others != 0;
    note_interfaces(node, bounds);
}

void tm_box_bounds_at(const tm_box_node *inner, uint32_t row, box_bounds *bounds) {
    for (uint32_t end = 0; end < ends_of(inner); end++) {
        bounds->least[end] = column_of(inner, end)[row];
        bounds->greatest[end] = greatest_of(inner, end)[row];
    }
    memcpy(bounds->interfaces, interfaces_of(inner, row), sizeof bounds->interfaces);
    bounds->others = inner->others >> row & 1;
}

void tm_box_bounds_put(tm_box_node *inner, uint32_t row, const box_bounds *bounds) {
    for (uint32_t end = 0; end < ends_of(inner); end++) {
        column_of(inner, end)[row] = bounds->least[end];
        greatest_of(inner, end)[row] = bounds->greatest[end];
    }
    memcpy(interfaces_of(inner, row), bounds->interfaces, sizeof bounds->interfaces);
    inner->others = (uint16_t)((inner->others & ~(1U << row)) | (uint32_t)bounds->others << row);
}

bool tm_box_bounds_same(const box_bounds *a, const box_bounds *b, uint32_t ends) {
    bool same = a->others == b->others && memcmp(a->interfaces, b->interfaces, sizeof a->interfaces) == 0;
    for (uint32_t end = 0; end < ends && same; end++) {
        same = a->least[end] == b->least[end] && a->greatest[end] == b->greatest[end];
    }
    return same;
}

/* ---- rows ---- */

static void move_box(tm_box_node *target, uint32_t to, const tm_box_node *source, uint32_t from) {
    ids_of(target)[to] = ids_of(source)[from];
    payloads_of(target)[to] = payloads_of(source)[from];
    stricts_of(target)[to] = stricts_of(source)[from];
    tracks_of(target)[to] = tracks_of(source)[from];
    if (target != source) {
        target->tree->moved(target->tree->owner, ids_of(target)[to], target);
    }
}

static void move_child(tm_box_node *target, uint32_t to, const tm_box_node *source, uint32_t from) {
    tm_box_node *child = children_of(source)[from];
    children_of(target)[to] = child;
    child->parent = target;
    child->slot = (uint8_t)to;
    memcpy(interfaces_of(target, to), interfaces_of(source, from), sizeof(uint64_t) * TM_BOX_WORDS);
    target->others = (uint16_t)((target->others & ~(1U << to)) | (uint32_t)(source->others >> from & 1) << to);
}

void tm_box_row_move(tm_box_node *target, uint32_t to, const tm_box_node *source, uint32_t from) {
    for (uint32_t column = 0; column < columns_of(target); column++) {
        column_of(target, column)[to] = column_of(source, column)[from];
    }
    if (target->level == 0) {
        move_box(target, to, source, from);
    } else {
        move_child(target, to, source, from);
    }
}

void tm_box_child_append(tm_box_node *inner, tm_box_node *child) {
    box_bounds bounds;
    tm_box_bounds(child, &bounds);
    tm_box_bounds_put(inner, inner->count, &bounds);
    children_of(inner)[inner->count] = child;
    child->parent = inner;
    child->slot = (uint8_t)inner->count++;
}
