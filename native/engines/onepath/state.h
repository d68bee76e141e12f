/* state.h - the parts of the engine `tamis` and how they refer to each other.
 *
 * A filter is compiled to *tests*: 8 bytes each, a name, an operator and a 32-bit operand. It is then reached by
 * exactly one access path:
 *
 *     cells      one range on one attribute, of one of the first 256 interfaces, a link: per key, sorted break points
 *                and per elementary interval a bitset of satisfied interfaces. An attribute costs one search and one OR
 *     run        one bound on one attribute, of any other interface: sorted by bound, the satisfied ones are one span
 *     intervals  several bounds on one attribute, where cells are not used or full: by lower end, with the greatest
 *                upper end of every few
 *     bucket     one equality or pattern: found by hash of (name, operator, operand)
 *     branch     a full bucket is opened: its filters move to buckets behind it, by a second test
 *     bucket     several tests: under the rarest equality or pattern, or else under its two rarest names; the next test
 *                is beside it and rejects nearly all messages, the others are in the filter's body
 *     boxes      ranges of several names, once many filters have them: a tree (boxes.h)
 *     scan       what has no index of its own (!=, exists): a list per name and kind
 *     always     only negated tests, or none
 *     covered    by a single-test filter of its link: not reached until that filter is removed
 *
 * A number that fits has a code, which every path for small numbers compares directly. Ranges of other numbers
 * (fractions, integers beyond 30 bits) are under the key's `wide`: there a bound is the id of a constant with a label,
 * as those of strings are.
 *
 * Law: a table matches exactly, except for tombstones (removed coverers that still match, for links only, until the
 * filters they covered are active again). A match reads only what is marked hot and changes nothing but scratch and
 * memos.
 */
#ifndef TM_ONEPATH_STATE_H
#define TM_ONEPATH_STATE_H

#include "base/arena.h"
#include "engines/boxes/families.h"
#include "engines/onepath/cost/sample.h"
#include "engines/onepath/covering/coverings.h"
#include "engines/onepath/paths/branches.h"
#include "engines/onepath/paths/cells.h"
#include "engines/onepath/paths/runs.h"
#include "engines/onepath/values/digest.h"
#include "engines/onepath/values/names.h"
#include "table/engine.h"

#define ONEPATH_CELL_INTERFACES 256U /* interfaces below this may use cells: four words */
#define ONEPATH_CELL_WORDS 4U

/* ---- where filters are ---- */

/* All access paths of one name and kind of value; the fields that every match reads come first. */
typedef struct onepath_key {
    onepath_cells cells;
    onepath_run *at_most; /* bounds of <=: a value satisfies those not below it; NULL until needed, as the others */
    onepath_run *at_least;
    onepath_run *intervals;
    struct onepath_key *wide; /* of numbers: cells, runs and intervals of constants without a code, and nothing else */
    uint64_t equal_bits;      /* onepath_operand_bit of every operand in use under an equality, stale ones included */
    uint64_t pattern_bits;    /* onepath_operand_bit of every pattern in use, stale ones included */
    uint64_t rows_squared;    /* the sum, over its values, of the square of the entries of their buckets */
    uint32_t equalities;      /* filters in buckets under an equality of this key */
    uint32_t patterns;        /* filters in buckets under a pattern */
    uint64_t partner_bits;    /* onepath_coarse_bit of every partner, stale ones included */
    uint64_t *partners;       /* finer bits, once there are many partners: ONEPATH_PARTNER_WORDS */
    uint32_t pairs;           /* filters in buckets of pairs of which this key is the rarer one */
    uint32_t pins;            /* filters in all places of this key */
    onepath_list scan;
} onepath_key;

/* ---- records ---- */

typedef enum {
    ONEPATH_FREE,
    ONEPATH_NONE_PLACE,
    ONEPATH_COVERED,
    ONEPATH_IN_CELLS,
    ONEPATH_IN_RUN,
    ONEPATH_IN_INTERVALS,
    ONEPATH_IN_BUCKET_SINGLE,
    ONEPATH_IN_BUCKET,
    ONEPATH_IN_NAMED, /* in a branch, under the name of the access test, which a match still evaluates */
    ONEPATH_IN_PAIR,
    ONEPATH_IN_SCAN,
    ONEPATH_IN_ALWAYS,
    ONEPATH_IN_BOXES,
} onepath_place;

typedef struct __attribute__((packed, aligned(4))) onepath_record {
    onepath_test access; /* the test it is reached by; while covered, the first of all tests */
    uint32_t body;       /* in the hot or cold arena; 0: none; of an entry without a body, ONEPATH_LAST and its note */
    uint32_t place : 7;
    uint32_t in_order : 1; /* its numbers without a code have labels: see onepath_needs_order */
    uint32_t branch : 24;  /* the branch of its bucket, 0: none; of a filter under a pair, its entry's row */
} onepath_record;

_Static_assert(sizeof(onepath_record) == 16, "with its row in holders.h a filter takes twenty bytes");

/* A place that a filter has, or is to have. Its tests are the access test, further tests that a match evaluates, and
 * those that the branch implies. */
typedef struct onepath_stand {
    onepath_place place;
    uint32_t branch;
    uint32_t implied; /* the last tests, which the branch implies */
} onepath_stand;

typedef enum {
    ONEPATH_GATHER,  /* the filter has moved to a bucket: filters there that are of its family may become boxes */
    ONEPATH_SCATTER, /* the filter is a box of a small family: its boxes may go back to buckets */
} onepath_task;

#define ONEPATH_WORK_MAX 128U

/* The tasks that remain before an addition or a removal is over: see placing/work.h. */
typedef struct onepath_work {
    uint32_t count;
    struct {
        onepath_task task;
        uint32_t handle;
    } items[ONEPATH_WORK_MAX];
} onepath_work;

/* A constraint that no test can express, stored whole. */
typedef struct onepath_complex {
    tm_constraint constraint; /* operands owned: one block of `size` bytes; `integer` of a string in it is its id */
    size_t size;
} onepath_complex;

struct tm_engine {
    tm_memory *memory;   /* borrowed */
    tm_holders *holders; /* borrowed */
    onepath_names names;
    onepath_strings strings;
    onepath_strings numbers; /* bounds of wide ranges: onepath_number_bytes */
    onepath_patterns patterns;
    onepath_digests digests;
    onepath_buckets buckets;
    onepath_branches branches;
    onepath_sample sample;   /* what recent messages contain */
    tm_arena bodies;         /* hot */
    tm_arena covered_bodies; /* cold */
    onepath_list always;
    tm_families families;       /* of boxes */
    bool scatters;              /* filters leave a family: none joins one */
    uint64_t full_pair;         /* the key of a pair that filters leave; 0 between changes */
    uint32_t full_pair_filters; /* filters that it had */

    onepath_complex *complexes;
    uint32_t complex_count;
    uint32_t complex_capacity;
    uint32_t complex_free;
    uint32_t complex_live;
    uint64_t complex_bytes; /* of their operands, as charged */
    uint32_t key_count;     /* wide parts included */

    onepath_record *records; /* by handle */
    uint32_t record_capacity;
    onepath_coverings coverings;
    uint32_t sweep;      /* the record that the next sweep checks for a coverer */
    uint32_t tombstones; /* first of the list of tombstones, whose handles are still in use, or ONEPATH_NONE */

    uint64_t covered;
    uint64_t scanned;       /* filters in scans */
    uint64_t string_tests;  /* tests that may hold for a string; if there are none, a match skips strings */
    uint64_t listed;        /* active filters of interfaces outside the cells' range, or clients */
    uint32_t shared_listed; /* of the interfaces outside the cells' range, those with more than one filter */
    uint32_t pair_filters;
    uint64_t cell_members[ONEPATH_CELL_WORDS]; /* interfaces in the cells' range with a filter */
    uint32_t cell_words;                       /* words of cell_members that ever had a bit */

    /* scratch of a match; sized by add, so that a match allocates nothing */
    uint64_t *state; /* by name: 0, or its value in the message (state_of in matching.h) */
    uint32_t state_capacity;
    uint32_t *pattern_scratch; /* onepath_message_patterns for all values, then room for every pattern of the table */
    uint32_t pattern_scratch_capacity;
    uint32_t *opened; /* nodes of opened buckets that a message has reached: room for all of them */
    uint32_t opened_capacity;

    onepath_work work; /* empty between changes */
};

#endif
