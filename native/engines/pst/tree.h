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
 * There is one such tree, and below it in memory one for each key of a space (factor.h), each with a root of its own. A
 * filter has a seat in the whole tree and one at each key that it allows.
 *
 * A node's trits are two sets of positions (trits.h). `some`, not No: all filters below it. `sure`, Yes: those of which
 * a filter matches every message that comes here; only trees of keys have them. Of a hub they are those of its tests
 * and of the filters that end there (in parallel: all are followed). Of a test (the alternatives: one of them comes
 * true at most) `some` are those of its hubs; `sure` are those that all its hubs have, if each value that the name may
 * have leads to one of them.
 */
#ifndef TM_PST_TREE_H
#define TM_PST_TREE_H

#include "engines/papers/ordered.h"
#include "engines/pst/factor.h"
#include "engines/pst/trits.h"
#include "table/engine.h"

/* The lists of hubs below a test. */
typedef enum { PST_LIST_EQUAL, PST_LIST_BOUNDED, PST_LIST_OTHER, PST_LISTS } pst_list;

typedef struct pst_hub {
    uint32_t test; /* above it; PST_NONE: a root, or a free row, whose `next` is the next free one */
    uint32_t label;
    uint32_t next; /* in a list of the test, as is `previous` */
    uint32_t previous;
    uint32_t first[2]; /* tests: [1] those that have `lacking`, [0] the others */
    uint32_t tests;    /* number of tests */
    uint32_t here;     /* seat of the first filter that ends here */
    uint32_t filters;  /* number of filters */
    pst_trits some;
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
    uint32_t values;    /* that its name may have here; 0: any, or none */
    pst_bounds *bounds; /* owned; NULL: none */
    pst_trits some;
} pst_test;

/* A place where a filter ends. */
typedef struct pst_seat {
    uint32_t hub; /* PST_NONE: a free row, whose `next` is the next free one */
    uint32_t handle;
    uint32_t next; /* at the hub, as is `previous` */
    uint32_t previous;
    uint32_t other; /* the next seat of its filter */
} pst_seat;

typedef struct pst_tree {
    tm_memory *memory;         /* borrowed */
    const tm_holders *holders; /* borrowed */
    pst_labels labels;
    pst_hub *hubs;         /* owned; [0] unused, [1] the root */
    pst_test *tests;       /* owned; [0] unused */
    pst_seat *seats;       /* owned; [0] unused */
    pst_trits *sure_hubs;  /* owned; by hub; NULL: there are no keys, as in `sure_tests` */
    pst_trits *sure_tests; /* owned; by test */
    uint32_t *seated;      /* owned; by handle: the seat in the whole tree; PST_NONE: no filter */
    pst_factor factor;
    uint32_t hub_capacity;
    uint32_t test_capacity;
    uint32_t seat_capacity;
    uint32_t seated_capacity;
    uint32_t sure_hub_capacity;
    uint32_t sure_test_capacity;
    uint32_t handles;   /* ever seated are below it */
    uint32_t hub_count; /* rows ever used, as in test_count and seat_count */
    uint32_t test_count;
    uint32_t seat_count;
    uint32_t free_hub;
    uint32_t free_test;
    uint32_t free_seat;
    uint32_t filters;
    uint32_t taken_seats;
    tm_idset hub_ids;     /* by test and label */
    tm_idset test_ids;    /* by hub and name */
    pst_room room;        /* of trits */
    uint64_t bounded;     /* hubs behind a bound */
    uint64_t with_bounds; /* tests that have bounds */
    bool annotated;       /* nodes have trits */
} pst_tree;

/* Make an empty tree; `factored`: the names of a space that are factored, at most. */
int pst_tree_init(pst_tree *tree, tm_memory *memory, const tm_holders *holders, bool annotated, uint32_t factored);
void pst_tree_free(pst_tree *tree);
/* Add a space to a tree without filters. TM_NO_MEMORY: unchanged. */
int pst_tree_add_space(pst_tree *tree, const tm_filter *space);
/* Free the room of all when no filter is left. */
void pst_tree_forget(pst_tree *tree);

/* Find or make the hub behind these labels, of `count` different names, in this order, with room for the position on
 * the path. TM_NO_MEMORY: unchanged. */
int pst_tree_reach(pst_tree *tree, uint32_t root, const uint32_t *labels, uint32_t count, uint32_t position,
                   uint32_t *hub);
/* Remove hubs and tests that lead to no filter, from the hub up. */
void pst_tree_prune(pst_tree *tree, uint32_t hub);

static inline bool pst_is_root(const pst_tree *tree, uint32_t hub) {
    return tree->hubs[hub].test == PST_NONE;
}

/* Return the number of roots, which are the hubs from PST_ROOT on. */
static inline uint32_t pst_roots(const pst_tree *tree) {
    return 1 + tree->factor.keys;
}

/* Return the root above a hub. */
static inline uint32_t pst_root_of(const pst_tree *tree, uint32_t hub) {
    while (!pst_is_root(tree, hub)) {
        hub = tree->tests[tree->hubs[hub].test].hub;
    }
    return hub;
}

/* Return the test or the hub; PST_NONE if there is none. */
uint32_t pst_tree_test(const pst_tree *tree, uint32_t hub, uint32_t name);
uint32_t pst_tree_hub(const pst_tree *tree, uint32_t test, uint32_t label);

/* Return the memory of the filters, as defined in engine.h. */
uint64_t pst_tree_used(const pst_tree *tree);
void pst_tree_probes(const pst_tree *tree, tm_probes *probes);
int pst_tree_validate(const pst_tree *tree, const char **reason);

#endif
