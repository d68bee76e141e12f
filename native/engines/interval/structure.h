/* structure.h - the filters of one event type: an axis for each attribute, and a seat for each filter.
 *
 * Law: a filter has a seat, whose number is its id in all sets. Its parts are its intervals, axis by axis. A removed
 * filter leaves its edges in slices; until the last one it keeps its seat, and its handle is no longer live. The order
 * of the axes is that in which a match reads them (order.c).
 */
#ifndef TM_INTERVAL_STRUCTURE_H
#define TM_INTERVAL_STRUCTURE_H

#include "engines/interval/axis.h"
#include "engines/interval/draft.h"
#include "engines/interval/tree.h"
#include "engines/papers/intern.h"

#define TM_AXES_MAX 32U     /* of a structure */
#define TM_EDGES_MAX 65536U /* of an axis */
#define TM_REACH_MAX 4096U  /* edges that a new filter may reach across, on all its axes together */
#define TM_PLACE_BYTES_MAX                                                                                             \
    8388608U /* bytes of the sets of those edges that an addition may write, so that it takes milliseconds at most */

#define TM_SEAT_NONE UINT32_MAX

typedef struct tm_interval_seat {
    tm_part *parts;   /* owned; room for `room` of them */
    uint32_t handle;  /* of a free seat, the next free one */
    uint32_t removed; /* of a removed filter, the one removed before it, or TM_SEAT_NONE */
    uint16_t part_count;
    uint16_t room;
} tm_interval_seat;

/* The form of a match of a structure. */
typedef enum {
    TM_FORM_LISTS, /* the sets of all axes are intersected */
    TM_FORM_TREE,  /* PrimAS: the intersections are cached as a tree */
    TM_FORM_WHOLE, /* a tree that is made ahead by settling */
} tm_interval_form;

typedef enum {
    TM_ORDER_ARRIVAL,  /* as the names were added: `off` */
    TM_ORDER_FILTERS,  /* by the number of filters that an edge leaves */
    TM_ORDER_MESSAGES, /* by the number of filters that recent messages left */
} tm_interval_order;

typedef struct tm_interval_ways {
    uint64_t tree_bytes_max; /* of the tree of one structure */
    uint32_t dense_from;
    tm_interval_form form;
    tm_interval_order order;
    bool by_type;
} tm_interval_ways;

typedef struct tm_structure {
    uint32_t type;       /* id of the type in the engine's `types`; 0: filters without a type */
    uint32_t seat_count; /* seats ever used */
    uint32_t seat_capacity;
    uint32_t free;    /* a free seat, or TM_SEAT_NONE */
    uint32_t filters; /* with a seat, including removed ones whose seat is not free yet */
    uint32_t removed; /* the last removed filter whose seat is not free yet, or TM_SEAT_NONE */
    uint32_t changes; /* since axes were ordered */
    uint32_t used_words;
    uint32_t axis_count;
    bool is_pending;              /* in the engine's list of structures with removed filters */
    struct tm_structure *pending; /* the next structure of that list */
    uint64_t *used;               /* owned bits, by seat */
    tm_interval_seat *seats;      /* owned */
    tm_axis *axes[TM_AXES_MAX];   /* owned; in the order of a match */
    tm_interval_tree tree;        /* empty except with the forms that have one */
} tm_structure;

tm_structure *tm_structure_new(tm_interval_store *store, uint32_t type); /* NULL if out of memory */
void tm_structure_free(tm_structure *structure, tm_interval_store *store, tm_intern *names);

/* true if the filter is within the limits above. */
bool tm_structure_takes(const tm_structure *structure, const tm_interval_ways *ways, const tm_intern *names,
                        const tm_interval_draft *draft);
/* Add a filter that tm_structure_takes accepts. TM_NO_MEMORY: the filters have not changed. */
int tm_structure_add(tm_structure *structure, tm_interval_store *store, const tm_interval_ways *ways, tm_intern *names,
                     const tm_interval_draft *draft, uint32_t handle, uint32_t *seat);
/* Mark the filter of a seat as removed. */
void tm_structure_remove(tm_structure *structure, uint32_t seat);
/* Remove the marked filters from at most `*steps` edges, and reduce `*steps`. Returns the handle of a filter that is
 * completely removed; TM_SEAT_NONE if no steps, or no such filters, are left. */
uint32_t tm_structure_sweep(tm_structure *structure, tm_interval_store *store, const tm_interval_ways *ways,
                            tm_intern *names, uint64_t *steps);

static inline tm_density tm_structure_density(const tm_structure *structure, const tm_interval_ways *ways) {
    return (tm_density){ways->dense_from, structure->filters};
}

/* Order the axes; true if the order has changed, which makes a tree of the old order useless. */
bool tm_structure_order(tm_structure *structure, const tm_interval_ways *ways);
/* Count an addition or a removal, and order the axes after many; there must be no tree. */
void tm_structure_note_change(tm_structure *structure, const tm_interval_ways *ways);

static inline uint32_t tm_structure_words(const tm_structure *structure) {
    return tm_bit_words(structure->seat_count);
}

#endif
