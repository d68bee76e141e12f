/* joint.h - delayed branching: hubs that are followed together, as one state of a graph that messages build.
 *
 * Law: a state is a list of hubs, and the next name among those that they still have to test. A message leads to other
 * states by its value of that name: waiting hubs stay in the state, entered hubs join it. So the *-branch waits while a
 * value is followed, and hubs that neither leads to cost nothing. A state has at most `width` hubs; more are several
 * states. Only hubs of few tests join, all of them equalities of later names; the others are followed alone. States are
 * cached in one block of PST_JOINT_BYTES, which is allocated with the engine, and all are dropped with any change of
 * the tree. When the block is full, states are made again each time. A state counts as one step, cached or not.
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
    uint32_t next; /* name that is tested; all remaining tests of the hubs are of it, or of later names */
} pst_state;

/* The waiting hubs are one state, or two. */
#define PST_PARTS 2U

/* The result of a step: the hubs that it enters, those of them that are followed alone, and the waiting hubs. */
typedef struct pst_step {
    uint32_t entered[PST_WIDTH_MAX];
    uint32_t count;
    uint32_t alone;                              /* bits over `entered` */
    uint32_t waiting[PST_PARTS * PST_WIDTH_MAX]; /* hubs with tests to come, entered ones first */
    uint32_t waiting_count;
    uint32_t next[PST_PARTS]; /* next names, of the states of `width` hubs each */
} pst_step;

typedef struct pst_joint {
    tm_memory *memory; /* borrowed */
    uint32_t width;    /* 0: no hubs join */
    uint32_t version;  /* of the tree, as stored in slots */
    uint32_t used;     /* words in use */
    uint32_t *words;   /* owned; NULL: no hubs join */
    uint64_t *slots;   /* owned: version and place in `words` */
} pst_joint;

int pst_joint_init(pst_joint *joint, tm_memory *memory, uint32_t width);
void pst_joint_free(pst_joint *joint);
/* Drop all cached states after a change of the tree. */
void pst_joint_forget(pst_joint *joint);

/* Make the state of one hub, before its first test; false if it does not join. */
bool pst_joint_begin(pst_joint *joint, const pst_tree *tree, uint32_t hub, pst_state *state);
/* Make the step from a state by a value (a label; PST_NONE: a value that no filter has). */
void pst_joint_step(pst_joint *joint, const pst_tree *tree, const pst_state *state, uint32_t value, pst_step *step);
/* Return the state after a step of that part; false if there is none. */
bool pst_joint_next(const pst_joint *joint, const pst_step *step, uint32_t part, pst_state *state);

#endif
