/* tree.h - the parallel search tree of paper 002, as hubs and tests.
 *
 * Law: a filter is the path of its labels, one test for each of its names; it ends at the hub behind the last one. A
 * chain of *-branches is a hub: a filter without constraints on a name stays there and goes on with a later name, so
 * that there is no node to be eliminated. Only paths that lead to a filter exist.
 *
 *     paper    (a1) -*-> (a2) -*-> (a3) -5-> ...       a1 = 1, a2 = 2        test a1 -1-> hub -> test a2 -2-> hub: f
 *       |                  +---2-> ...                 a2 = 2         hub <
 *       +------1-> (a2) ...                            a3 = 5                test a2 -2-> hub: g
 *                                                                            test a3 -5-> hub: h
 *
 * A node's trits (trits.h) are the positions of all filters below it: of a test those of its hubs (the alternatives:
 * none of them need come true), of a hub those of its tests and of the filters that end there (in parallel: all are
 * followed).
 */
#ifndef TM_PST_TREE_H
#define TM_PST_TREE_H

#include "engines/papers/ordered.h"
#include "engines/pst/labels.h"
#include "engines/pst/trits.h"
#include "table/engine.h"

#define PST_ROOT 1U

/* The lists of hubs below a test. */
typedef enum { PST_LIST_EQUAL, PST_LIST_BOUNDED, PST_LIST_OTHER, PST_LISTS } pst_list;

typedef struct pst_hub {
    uint32_t test; /* above it; PST_NONE: the root, or a free row, whose `next` is the next free one */
    uint32_t label;
    uint32_t next; /* in a list of the test, as is `previous` */
    uint32_t previous;
    uint32_t first[2]; /* tests: [1] those that have `lacking`, [0] the others */
    uint32_t tests;    /* number of tests */
    uint32_t here;     /* handle of the first filter that ends here, plus one */
    uint32_t filters;  /* number of filters */
    pst_trits trits;
} pst_hub;

/* Bounds on numbers, each entry with its hub. */
typedef struct pst_bounds {
    tm_ordered low;
    tm_ordered high;
} pst_bounds;

typedef struct pst_test {
    uint32_t hub; /* above it; PST_NONE: a free row, whose `next` is the next free one */
    uint32_t name;
    uint32_t next; /* in its list of the hub, as is `previous` */
    uint32_t previous;
    uint32_t first[PST_LISTS];
    uint32_t hubs;      /* below it */
    uint32_t lacking;   /* of PST_LIST_OTHER: those whose label holds without the name */
    pst_bounds *bounds; /* owned; NULL: none */
    pst_trits trits;
} pst_test;

/* The place where a filter ends. */
typedef struct pst_seat {
    uint32_t hub;  /* PST_NONE: no filter */
    uint32_t next; /* handle plus one, as is `previous` */
    uint32_t previous;
} pst_seat;

typedef struct pst_tree {
    tm_memory *memory;         /* borrowed */
    const tm_holders *holders; /* borrowed */
    pst_labels labels;
    pst_hub *hubs;   /* owned; [0] unused, [1] the root */
    pst_test *tests; /* owned; [0] unused */
    pst_seat *seats; /* owned; by handle */
    uint32_t hub_capacity;
    uint32_t test_capacity;
    uint32_t seat_capacity;
    uint32_t seat_count; /* handles ever seated are below it */
    uint32_t hub_count;  /* rows ever used, as in test_count */
    uint32_t test_count;
    uint32_t free_hub;
    uint32_t free_test;
    uint32_t filters;
    tm_idset hub_ids;     /* by test and label */
    tm_idset test_ids;    /* by hub and name */
    pst_room room;        /* of trits */
    uint64_t bounded;     /* hubs behind a bound */
    uint64_t with_bounds; /* tests that have bounds */
    bool annotated;       /* nodes have trits */
} pst_tree;

int pst_tree_init(pst_tree *tree, tm_memory *memory, const tm_holders *holders, bool annotated);
void pst_tree_free(pst_tree *tree);

/* Add a filter behind these labels, of `count` different names, in this order. TM_NO_MEMORY: unchanged. */
int pst_tree_attach(pst_tree *tree, const uint32_t *labels, uint32_t count, uint32_t handle);
void pst_tree_detach(pst_tree *tree, uint32_t handle);
/* Move the filter to the end of these labels, which are its own in another order. Out of memory it stays. */
void pst_tree_move(pst_tree *tree, const uint32_t *labels, uint32_t count, uint32_t handle);
/* Write the labels of a filter, from the root on; returns their number. */
uint32_t pst_tree_path(const pst_tree *tree, uint32_t handle, uint32_t labels[TM_CONSTRAINTS_MAX]);
/* Free the room of all when no filter is left. */
void pst_tree_forget(pst_tree *tree);

/* Return the test or the hub; PST_NONE if there is none. */
uint32_t pst_tree_test(const pst_tree *tree, uint32_t hub, uint32_t name);
uint32_t pst_tree_hub(const pst_tree *tree, uint32_t test, uint32_t label);

/* Return the memory of the filters, as defined in engine.h. */
uint64_t pst_tree_used(const pst_tree *tree);
void pst_tree_probes(const pst_tree *tree, tm_probes *probes);
int pst_tree_validate(const pst_tree *tree, const char **reason);

#endif
