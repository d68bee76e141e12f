/* tree.h - a tree of boxes that finds those that contain a point.
 *
 * A box is a range on each of k names, 1 <= k <= TM_BOX_NAMES_MAX; a missing bound is an infinity. A box is stored as a
 * point of 2k ends, and a node has the least and the greatest of each end below it:
 *
 *     x in [2, 5], y in [1, 9]  ->  lows (2, 1)  highs (5, 9)
 *
 *     a row can be skipped        where some least low is above the value, or some greatest high below it
 *     all below it holds          where every greatest low is at most the value, and every least high at least
 *
 * Law: bounds are exact, not only wide enough, after every change. All leaves have one depth: a full node is split into
 * halves along one of its ends, and a node that has lost most of its rows moves the others to a neighbour. So the tree
 * is never rebuilt, and a change costs one path. A removal needs no memory. A box is removed through its leaf, which
 * the owner receives whenever it changes.
 *
 * Numbers are floats here. An integer that is none lies between two; see tm_box_value. The ends of a *labelled* name
 * are constants of the owner instead, compared by the labels that the owner assigns (tm_box_label): labels may change
 * as long as they keep their order, and nodes need no update.
 */
#ifndef TM_BOX_TREE_H
#define TM_BOX_TREE_H

#include "base/memory.h"
#include "base/work.h"
#include "tm.h"

#define TM_BOX_NAMES_MAX 16U /* as many as a filter has constraints */
#define TM_BOX_WORDS 4U
#define TM_BOX_TRACKED (TM_BOX_WORDS * 64) /* interfaces below it are tracked in every node above their boxes */
#define TM_BOX_UNTRACKED 0xffffU

typedef struct tm_box_node tm_box_node;

typedef struct tm_box {
    double ends[2 * TM_BOX_NAMES_MAX]; /* of k names: k lows, then k highs; a strict bound is the float next to it */
    uint32_t id;                       /* distinct */
    uint32_t payload;                  /* for the owner */
    uint32_t strict;                   /* a bit for each end: its bound was strict */
    uint16_t track;                    /* the interface, or TM_BOX_UNTRACKED */
} tm_box;

/* Notify the owner that the box is now in this leaf. */
typedef void (*tm_box_moved)(void *owner, uint32_t id, tm_box_node *leaf);

/* The range of the values that an end has had, infinities apart, by which ends are compared. Each end has its own, as
 * the lows of boxes may be all over a name while their highs lie together, and are more selective. Only an estimate. */
typedef struct tm_box_scale {
    double least;
    double greatest;
    double weight; /* of a distance along the end: see tree_shape.c */
} tm_box_scale;

/* What a match reads comes first. */
typedef struct tm_boxes {
    tm_box_node *root; /* owned; NULL: no box */
    uint32_t names;
    uint32_t labelled; /* a bit for each end of a labelled name */
    const int64_t *const
        *labels;       /* borrowed: the owner's pointer to them, by constant; NULL where no name is labelled */
    tm_memory *memory; /* borrowed */
    tm_box_moved moved;
    void *owner;                               /* borrowed; of `moved` */
    uint32_t count;                            /* of boxes */
    uint32_t open;                             /* a bit for each end at which some box has no bound, or had none */
    tm_box_scale scales[2 * TM_BOX_NAMES_MAX]; /* by end */
} tm_boxes;

void tm_boxes_init(tm_boxes *tree, tm_memory *memory, uint32_t names, tm_box_moved moved, void *owner);
void tm_boxes_clear(tm_boxes *tree);

bool tm_boxes_insert(tm_boxes *tree, const tm_box *box); /* false if out of memory, then nothing changed */
void tm_boxes_remove(tm_box_node *leaf, uint32_t id);    /* the box must be there */
/* Prefetch a leaf, of which a box of about this many names is to be removed soon. */
void tm_boxes_ask(const tm_box_node *leaf, uint32_t names);
/* Then prefetch its parent's bounds of it. */
void tm_boxes_ask_bounds(const tm_box_node *leaf);
/* Return the tree of a leaf, borrowed. */
tm_boxes *tm_boxes_of(const tm_box_node *leaf);
/* Read a box of the leaf. */
void tm_boxes_at(const tm_box_node *leaf, uint32_t id, tm_box *box);
/* Write the ids of boxes, at most `room` of them. Returns their number. */
uint32_t tm_boxes_ids(const tm_boxes *tree, uint32_t *ids, uint32_t room);

/* ---- numbers ---- */

/* A value as the floats around it: equal ones, except for an integer that is no float. */
typedef struct tm_box_value {
    double below;
    double above;
} tm_box_value;

/* ---- ends of labelled names ---- */

#define TM_BOX_AT 0U    /* the end is at the constant, which is in the box */
#define TM_BOX_ABOVE 1U /* just above it: a low that is strict */
#define TM_BOX_BELOW 2U /* just below it: a high that is strict */

/* Return an end at a constant, as it is stored in a box: exact, as there are fewer than 2^32 constants. */
static inline double tm_box_constant(uint32_t constant, unsigned side) {
    return (double)((uint64_t)constant << 2 | side);
}
/* Return the label by which such an end, or a missing one, is compared. Labels of constants are even and below 2^61. */
static inline int64_t tm_box_label(const int64_t *labels, double end) {
    static const int64_t SIDES[3] = {[TM_BOX_AT] = 0, [TM_BOX_ABOVE] = 1, [TM_BOX_BELOW] = -1};
    if (end < 0 || end > (double)UINT64_MAX) {
        return end < 0 ? INT64_MIN : INT64_MAX;
    }
    uint64_t at = (uint64_t)end;
    return labels[at >> 2] + SIDES[at & 3];
}

/* ---- a match ---- */

#define TM_BOX_LINES_ASKED 6U /* of a leaf of one name: its ends and their payloads */

typedef struct tm_box_query tm_box_query;

/* Report `count` rows of a leaf that hold, a bit each; false ends the match. */
typedef bool (*tm_box_found)(tm_box_query *query, const uint32_t *ids, const uint32_t *payloads, uint32_t rows,
                             uint32_t count);

struct tm_box_query {
    tm_box_value values[TM_BOX_NAMES_MAX]; /* undefined for a labelled name */
    int64_t labels[TM_BOX_NAMES_MAX];      /* of a labelled name: the label of the value */
    uint64_t settled[TM_BOX_WORDS]; /* tracked interfaces that can add nothing to the answer; `found` may add some */
    tm_work work;
    tm_box_found found;
    void *owner; /* of `found` */
};

/* Prefetch the memory that a match reads first. */
static inline void tm_boxes_ask_root(const tm_boxes *tree) {
    const uint8_t *root = (const uint8_t *)tree->root;
    for (uint32_t line = 0; line < TM_BOX_LINES_ASKED; line++) {
        __builtin_prefetch(root + (size_t)line * 64);
    }
}

#endif
