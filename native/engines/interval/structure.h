/* structure.h - the filters of one event type: an axis for each attribute, and a seat for each filter.
 *
 * Law: a filter sits on a seat, whose number is its id in all sets. Its parts say on which axes it has intervals, and
 * stand axis by axis. A removed filter leaves its edges in slices; until the last one it keeps its seat, and its handle
 * is no longer live. The order of the axes is that in which a match looks at them (order.c).
 */
#ifndef TM_INTERVAL_STRUCTURE_H
#define TM_INTERVAL_STRUCTURE_H

#include "engines/interval/axis.h"
#include "engines/interval/draft.h"
#include "engines/interval/tree.h"
#include "engines/papers/intern.h"

#define TM_AXES_MAX 32U     /* of a structure */
#define TM_EDGES_MAX 65536U /* of an axis */
#define TM_REACH_MAX 4096U  /* edges that a filter may reach across when it comes, on all its axes together */
#define TM_PLACE_BYTES_MAX                                                                                             \
    8388608U /* of the sets of those edges that it may have written, so that an addition takes milliseconds at most */

#define TM_SEAT_NONE UINT32_MAX

typedef struct tm_interval_seat {
    tm_part *parts;   /* owned; room for `room` of them */
    uint32_t handle;  /* of a free seat the next free one */
    uint32_t removed; /* of a removed filter the one that was removed before it, or TM_SEAT_NONE */
    uint16_t part_count;
    uint16_t room;
} tm_interval_seat;

/* How a match goes through a structure. */
typedef enum {
    TM_FORM_LISTS, /* the sets of all axes are intersected */
    TM_FORM_TREE,  /* PrimAS: what was found by intersecting is remembered, as a tree */
    TM_FORM_WHOLE, /* the same, and the tree is made ahead by settling */
} tm_interval_form;

typedef enum {
    TM_ORDER_ARRIVAL,  /* as the names came: `off` */
    TM_ORDER_FILTERS,  /* by how many filters an edge leaves */
    TM_ORDER_MESSAGES, /* by how many the last messages were left */
} tm_interval_order;

typedef struct tm_interval_ways {
    uint64_t tree_bytes_max; /* of the tree of one structure */
    uint32_t dense_from;
    tm_interval_form form;
    tm_interval_order order;
    bool by_type;
} tm_interval_ways;

typedef struct tm_structure {
    uint32_t type;       /* id of the type among those of the engine; 0: it is that of all other filters */
    uint32_t seat_count; /* seats ever used */
    uint32_t seat_capacity;
    uint32_t free;    /* a free seat, or TM_SEAT_NONE */
    uint32_t filters; /* that have a seat, those that are removed and not yet out included */
    uint32_t removed; /* the last one that was removed and is not out yet, or TM_SEAT_NONE */
    uint32_t changes; /* since axes were put in order */
    uint32_t used_words;
    uint32_t axis_count;
    bool is_pending;              /* in the engine's list of structures with filters that are on their way out */
    struct tm_structure *pending; /* the next one of these */
    uint64_t *used;               /* owned bits, by seat */
    tm_interval_seat *seats;      /* owned */
    tm_axis *axes[TM_AXES_MAX];   /* owned; in the order in which they are looked at */
    tm_interval_tree tree;        /* empty but with the forms that have one */
} tm_structure;

tm_structure *tm_structure_new(tm_interval_store *store, uint32_t type); /* NULL: there is no memory */
void tm_structure_free(tm_structure *structure, tm_interval_store *store, tm_intern *names);

/* Does the filter stay within the limits above? */
bool tm_structure_takes(const tm_structure *structure, const tm_interval_ways *ways, const tm_intern *names,
                        const tm_interval_draft *draft);
/* Put a filter that it takes on a seat. TM_NO_MEMORY: nothing that can be seen has changed. */
int tm_structure_add(tm_structure *structure, tm_interval_store *store, const tm_interval_ways *ways, tm_intern *names,
                     const tm_interval_draft *draft, uint32_t handle, uint32_t *seat);
/* The filter is on its way out. */
void tm_structure_remove(tm_structure *structure, uint32_t seat);
/* Take those that are on their way out from so many edges, which fall. The handle of one that is out; TM_SEAT_NONE: no
 * steps are left, or nothing is. */
uint32_t tm_structure_sweep(tm_structure *structure, tm_interval_store *store, const tm_interval_ways *ways,
                            tm_intern *names, uint64_t *steps);

static inline tm_density tm_structure_density(const tm_structure *structure, const tm_interval_ways *ways) {
    return (tm_density){ways->dense_from, structure->filters};
}

/* Put the axes in order; true: it has become another, and a tree that was made by the old one is worth nothing. */
bool tm_structure_order(tm_structure *structure, const tm_interval_ways *ways);
/* A filter has come or gone, and there is no tree: put the axes in order if these have been many. */
void tm_structure_note_change(tm_structure *structure, const tm_interval_ways *ways);

static inline uint32_t tm_structure_words(const tm_structure *structure) {
    return tm_bit_words(structure->seat_count);
}

#endif
