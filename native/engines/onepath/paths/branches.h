/* branches.h - what is behind a bucket that is opened.
 *
 * Law: a bucket that would hold more than ONEPATH_FULL_BUCKET_MAX filters is opened: it gets a node, a short list of
 * forks, and its filters move to buckets behind it, which a second test finds. A fork goes by the value of one more
 * name, by the patterns in it, by the other names of a message, or by a test that holds; it has a branch, a number that
 * is in the keys of the buckets behind it where other keys have a name. Those buckets may be opened in turn.
 *
 *     class = "alert"      opened; holds filters that have nothing else to go by
 *      |
 *      +-- branch 7, plant by value      (7, "north")      60 filters
 *      |                                 (7, "south")      opened
 *      |                                  +-- branch 9, line by value ...
 *      +-- branch 8, by name             (8, pressure)     3 filters
 *
 * A branch exists as long as a filter is behind it. A message that reaches an opened bucket makes one probe for each
 * fork by value; a node has no more than ONEPATH_FORKS_MAX of them.
 */
#ifndef TM_ONEPATH_BRANCHES_H
#define TM_ONEPATH_BRANCHES_H

#include "base/memory.h"

#define ONEPATH_BRANCHES_MAX (1U << 24) /* a branch has 24 bits in a record and in a key */
#define ONEPATH_FORKS_MAX 16U           /* by value or pattern; one by name may be added, and guards */
#define ONEPATH_GUARDS_MAX 1024U        /* of a node: an addition compares with each of them */
#define ONEPATH_BEHIND_MAX 255U         /* eight bits; a longer row costs one more test for each 255 guards */
#define ONEPATH_DEPTH_MAX 16U           /* branches behind one another: as many as a filter has constraints */

typedef enum {
    ONEPATH_FORK_VALUE,
    ONEPATH_FORK_PATTERN,
    ONEPATH_FORK_NAME,
    ONEPATH_FORK_TEST, /* by a test that all filters behind it have, a guard: see guards.c */
} onepath_fork_by;

typedef struct onepath_branch {
    uint64_t parent; /* the key of the opened bucket; 0: a free row, then `filters` is the next free one */
    uint32_t what;   /* onepath_fork_what */
    uint32_t filters;
    uint64_t guard; /* of a fork by test; ONEPATH_NO_TEST of any other */
    uint64_t other; /* of a guard that is a bound: the weakest on the other side, see guards.c */
} onepath_branch;

/* A branch in the form that a match reads. */
typedef struct onepath_fork {
    uint32_t branch : 24;
    uint32_t behind : 8; /* of a guard: the next forks that fail where it fails, see guard_rows.c */
    uint32_t what;
    uint64_t
        bits; /* onepath_operand_bit of every operand in use behind it, stale ones included; of a guard, its test */
    uint64_t other; /* of a guard: as in the branch */
} onepath_fork;

typedef struct onepath_node {
    uint16_t count;
    uint16_t guards;  /* of the forks */
    uint32_t filters; /* behind all forks */
    onepath_fork forks[];
} onepath_node;

_Static_assert(ONEPATH_FORKS_MAX + 1 + ONEPATH_GUARDS_MAX <= UINT16_MAX, "a node counts its forks in sixteen bits");

typedef struct onepath_branches {
    tm_memory *memory;    /* borrowed */
    onepath_branch *rows; /* [0] unused */
    uint32_t count;       /* high-water mark */
    uint32_t capacity;
    uint32_t free; /* 0: none */
    uint32_t live;
} onepath_branches;

/* A fork by name has neither name nor kind, a fork by test has the kind. Names are ids: 24 bits. */
static inline uint32_t onepath_fork_what(uint32_t name, unsigned kind, onepath_fork_by by) {
    return by == ONEPATH_FORK_NAME ? (uint32_t)by << 4 : name << 8 | (uint32_t)by << 4 | kind;
}
static inline uint32_t onepath_fork_name(uint32_t what) {
    return what >> 8;
}
static inline unsigned onepath_fork_kind(uint32_t what) {
    return what & 0xf;
}
static inline onepath_fork_by onepath_fork_goes_by(uint32_t what) {
    return (onepath_fork_by)(what >> 4 & 0xf);
}

void onepath_branches_init(onepath_branches *branches, tm_memory *memory);
void onepath_branches_clear(onepath_branches *branches);
/* Return a branch without filters; 0 if out of memory, or there are too many. */
uint32_t onepath_branches_take(onepath_branches *branches, uint64_t parent, uint32_t what, uint64_t guard);
void onepath_branches_give(onepath_branches *branches, uint32_t branch);

#endif
