/* joint.h - delayed branching: hubs that are followed together, as one state of a graph that messages build.
 *
 * Law: a state is a list of hubs, and the name that comes next among those that they have still to test. A
 * message takes it to other states by the value that it has of that name: what waits is still there, what was entered
 * has joined. So the *-branch waits while a value is followed, and what neither leads to costs nothing. A state has at
 * most `width` hubs; more are several states. Only hubs of few tests, all of them equalities of names that are still to
 * come, join; the others are followed alone. States are remembered in one block of PST_JOINT_BYTES, which is given with
 * the engine, and all are forgotten with any change of the tree. Where the block is full they are made again each time.
 * A state counts as one step, whether it is remembered or made.
 */
#ifndef TM_PST_JOINT_H
#define TM_PST_JOINT_H

#include "engines/pst/tree.h"

#define PST_WIDTH_MAX 32U       /* hubs of a state */
#define PST_JOINT_TESTS_MAX 64U /* tests of a hub that joins */
#define PST_JOINT_BYTES 8388608U

typedef struct pst_state {
    uint32_t hubs[PST_WIDTH_MAX];
    uint32_t count;
    uint32_t next; /* name that is tested; all tests of the hubs that are still to come are of it, or behind it */
} pst_state;

/* What waits is one state, or two. */
#define PST_PARTS 2U

/* Where a message goes from a state: the hubs that it enters, those of them that are followed alone, and what waits. */
typedef struct pst_step {
    uint32_t entered[PST_WIDTH_MAX];
    uint32_t count;
    uint32_t alone;                              /* bits over `entered` */
    uint32_t waiting[PST_PARTS * PST_WIDTH_MAX]; /* hubs with tests to come, entered ones first */
    uint32_t waiting_count;
    uint32_t next[PST_PARTS]; /* names that come next, of the states of `width` of them each */
} pst_step;

typedef struct pst_joint {
    tm_memory *memory; /* borrowed */
    uint32_t width;    /* 0: nothing joins */
    uint32_t version;  /* of the tree, as slots remember it */
    uint32_t used;     /* words behind the slots */
    uint32_t *words;   /* owned; NULL: nothing joins */
    uint64_t *slots;   /* owned: version and place in `words` */
} pst_joint;

int pst_joint_init(pst_joint *joint, tm_memory *memory, uint32_t width);
void pst_joint_free(pst_joint *joint);
/* The tree has changed. */
void pst_joint_forget(pst_joint *joint);

/* The state of one hub, before its first test; false: it does not join. */
bool pst_joint_begin(pst_joint *joint, const pst_tree *tree, uint32_t hub, pst_state *state);
/* From a state with a value (a label; PST_NONE: none that any filter has). */
void pst_joint_step(pst_joint *joint, const pst_tree *tree, const pst_state *state, uint32_t value, pst_step *step);
/* The state behind a step of that part; false: there is none. */
bool pst_joint_next(const pst_joint *joint, const pst_step *step, uint32_t part, pst_state *state);

#endif
