/* engine.h - the parts of the engine `tamis` and how they refer to each other.
 *
 * A filter is compiled to *tests*: 8 bytes each, a name, an operator and a 32-bit operand. It is then reached in
 * exactly one way:
 *
 *     cells      one range on one attribute, of one of the first 256 interfaces, a link: per key, sorted break points
 *                and per elementary interval a bitset of satisfied interfaces. An attribute costs one search and one OR
 *     run        one bound on one attribute, of any other interface: sorted by bound, the satisfied ones are one span
 *     intervals  several bounds on one attribute, where cells are not used or full: by lower end, with the greatest
 *                upper end of every few
 *     bucket     one equality or pattern: found by hash of (name, operator, operand)
 *     branch     a bucket that is crowded is opened: what stood in it stands in buckets behind it, by a second test
 *     bucket     several tests: under the rarest equality or pattern, or else under its two rarest names; the next test
 *                stands beside it and rejects nearly all, the others stand in the filter's body
 *     boxes      ranges of two to eight names, once there are many of the same: a tree (boxes.h)
 *     scan       what has no index of its own (!=, exists): a list per name and kind
 *     always     only negated tests, or none
 *     covered    by a single-test filter of the same link: not reached at all until that one goes
 *
 * Numbers that fit have a code, which every path for small numbers compares directly. Ranges of the others (fractions,
 * integers beyond 30 bits) stand apart, under the key's `wide`: there a bound is the id of a constant with a label, as
 * those of strings are.
 *
 * Law: a table matches exactly, ghosts apart (removed coverers that still match, for links only, until what they
 * covered is back). A match reads only what is marked hot and changes nothing but scratch and memos.
 */
#ifndef TM_ONEPATH_ENGINE_H
#define TM_ONEPATH_ENGINE_H

#include "base/arena.h"
#include "engines/boxes/families.h"
#include "engines/onepath/branches.h"
#include "engines/onepath/digest.h"
#include "engines/onepath/names.h"
#include "engines/onepath/patterns.h"
#include "engines/onepath/sample.h"
#include "engines/onepath/strings.h"
#include "model/grid.h"
#include "table/engine.h"

#define TAMIS_CELL_INTERFACES 256U /* interfaces below this may use cells: four words */
#define TAMIS_CELL_WORDS 4U
#define TAMIS_TESTS_MAX (2 * TM_CONSTRAINTS_MAX) /* a between is two tests */
#define TAMIS_NONE UINT32_MAX

/* ---- tests ---- */

/* kind of value: index of tamis_name.keys */
#define TAMIS_BOOLEAN 0U
#define TAMIS_NUMBER 1U
#define TAMIS_STRING 2U
#define TAMIS_ANY 3U

/* Operators of a test. The operand of a number is its code (tamis_code_of_integer); of strings a constant's id. */
typedef enum {
    TAMIS_EXISTS,
    TAMIS_TRUE,    /* holds always: stands where there is no further test */
    TAMIS_COMPLEX, /* operand: index of a kept constraint, evaluated by tm_constraint_holds */
    TAMIS_WIDE_LT, /* operand: id of a number's key in `numbers` */
    TAMIS_WIDE_LE,
    TAMIS_WIDE_GT,
    TAMIS_WIDE_GE,
    TAMIS_BOOLEAN_EQ,
    TAMIS_NUMBER_EQ,
    TAMIS_NUMBER_NE,
    TAMIS_NUMBER_LE,
    TAMIS_NUMBER_GE,
    TAMIS_STRING_EQ,
    TAMIS_STRING_NE,
    TAMIS_STRING_LT,
    TAMIS_STRING_LE,
    TAMIS_STRING_GT,
    TAMIS_STRING_GE,
    TAMIS_PATTERN,
} tamis_op;

#define TAMIS_NEGATED 0x80U

typedef uint64_t tamis_test; /* name << 40 | op << 32 | operand; op with TAMIS_NEGATED where negated */

#define TAMIS_NO_TEST UINT64_MAX /* no name has so great an id */

static inline tamis_test tamis_test_of(uint32_t name, unsigned op, uint32_t operand) {
    return (uint64_t)name << 40 | (uint64_t)op << 32 | operand;
}
static inline uint32_t tamis_test_name(tamis_test test) {
    return (uint32_t)(test >> 40);
}
static inline unsigned tamis_test_op(tamis_test test) {
    return (unsigned)(test >> 32) & 0x7f;
}
static inline bool tamis_op_is_wide(unsigned op) {
    return op >= TAMIS_WIDE_LT && op <= TAMIS_WIDE_GE;
}
static inline bool tamis_test_negated(tamis_test test) {
    return test >> 39 & 1;
}
static inline uint32_t tamis_test_operand(tamis_test test) {
    return (uint32_t)test;
}

/* Small integers n have the even code 2n, values between two the odd one; values beyond are clamped, so that a constant
 * with a code is compared exactly with any number. */
#define TAMIS_CODED_MAX ((INT64_C(1) << 30) - 1)

static inline bool tamis_has_code(int64_t integer) {
    return integer >= -TAMIS_CODED_MAX && integer <= TAMIS_CODED_MAX;
}
static inline int32_t tamis_code_of_integer(int64_t integer) {
    return tamis_has_code(integer) ? (int32_t)(integer * 2) : integer < 0 ? INT32_MIN : INT32_MAX;
}
int32_t tamis_code_of_real(double real);

/* The constants of wide ranges are kept as strings are: sixteen bytes that sort as the numbers do. */
#define TAMIS_NUMBER_BYTES 16U

void tamis_number_bytes(bool is_real, int64_t integer, double real, uint8_t out[TAMIS_NUMBER_BYTES]);
/* The number that these are the bytes of: whether it is a real, as tm_number_of_key. */
bool tamis_number_of_bytes(const uint8_t bytes[TAMIS_NUMBER_BYTES], int64_t *integer, double *real);

typedef struct tamis_tests {
    uint32_t count;
    tamis_test tests[TAMIS_TESTS_MAX];
} tamis_tests;

/* ---- where filters stand ---- */

/* A filter as an access path holds it: 16 bytes, a quarter of a cache line. It matches iff `test` holds and all tests
 * of the body do. In the bucket of a pair both tests of the pair stand in the entry: see pair_entry.h. */
typedef struct tamis_entry {
    uint32_t interface; /* TAMIS_ENTRY_INTERFACE; the bits above it are 0 but under a pair */
    uint32_t rest;      /* TAMIS_LAST and the handle: there are no further tests; otherwise the body that has them */
    tamis_test test;
} tamis_entry;

#define TAMIS_ENTRY_INTERFACE 0xffffffU
#define TAMIS_LAST (1U << 31)

/* One filter of a single test. */
typedef struct tamis_single {
    uint32_t interface;
    uint32_t handle;
} tamis_single;

/* All tests but the access test, those that the branch implies and, in a bucket by value or of a pair, the one beside
 * it in the entry. */
typedef struct tamis_body {
    uint32_t handle;
    uint32_t count : 6;
    uint32_t note : 26; /* tamis_note_of the record */
    tamis_test tests[];
} tamis_body;

/* A row that cannot be told: of a filter with several entries, or of one far down in a list. */
#define TAMIS_ROW_UNKNOWN ((1U << 26) - 1)

_Static_assert(sizeof(tamis_body) == 8 && TAMIS_TESTS_MAX < 64, "the head of a body is one unit of an arena");

/* A range of one key, for cells: low and high are points (see cells.c), flags say which bound is missing. */
typedef struct tamis_span {
    uint16_t interface;
    uint8_t no_low;
    uint8_t no_high;
    uint32_t handle;
    int32_t low;
    int32_t high;
} tamis_span;

/* What cells are made of: cold. */
typedef struct tamis_spans {
    tamis_span *rows;     /* sorted by interface */
    uint32_t *references; /* by point: spans that end at it */
    uint32_t count;       /* of rows */
    uint32_t capacity;
    uint32_t point_capacity;
} tamis_spans;

/* See cells.c. A match reads `bits` and what finds a cell in it. */
typedef struct tamis_cells {
    uint64_t *bits; /* NULL: there never was a span */
    int32_t first;  /* of cells by code: the code of cell 1 */
    uint32_t width; /* of cells by code: how many; 0: cells are by point */
    int32_t *points;
    uint32_t count; /* of points */
    uint32_t words; /* of a cell */
    tamis_spans *spans;
} tamis_cells;

/* Both ends are bounds as those of runs are; one that is missing is TAMIS_NO_LOW or TAMIS_NO_HIGH of codes, and of
 * constants the other end with TAMIS_NO_END. */
typedef struct tamis_interval {
    int64_t low;
    int64_t high;
} tamis_interval;

#define TAMIS_NO_LOW INT64_MIN
#define TAMIS_NO_HIGH INT64_MAX
/* In place of a delta: below all constants as a lower end, above them as an upper one. */
#define TAMIS_NO_END 3U

/* Bits by which a match knows that a chunk has no row of an interface that is open: interface i is bit i % 1,024, so of
 * as many interfaces it is exact, and of more it may err on the safe side. */
#define TAMIS_FOLD_BITS 1024U
#define TAMIS_FOLD_WORDS (TAMIS_FOLD_BITS / 64)

static inline void tamis_fold_set(uint64_t *fold, uint32_t interface) {
    fold[interface / 64 % TAMIS_FOLD_WORDS] |= UINT64_C(1) << (interface % 64);
}

/* Filters sorted by bound, in chunks. */
typedef struct tamis_chunk {
    uint16_t count;
    uint16_t capacity;
    uint32_t stale; /* rows removed since `present` was computed */
    int64_t *bounds;
    int64_t *highs; /* NULL, or of intervals the other end */
    int64_t *tops;  /* the same: of each TAMIS_TOP_ROWS rows the greatest upper end, or one equal to it */
    int64_t top;    /* of intervals: the greatest of all */
    uint32_t *interfaces;
    uint32_t *handles;
    uint64_t *present; /* owned: the fold of its interfaces, and of some that were; NULL until the chunk is large */
} tamis_chunk;

#define TAMIS_TOP_ROWS 16U   /* looked at together: two cache lines of upper ends */
#define TAMIS_TOP_CHUNKS 32U /* passed over together */

typedef struct tamis_run {
    tamis_chunk *chunks;
    int64_t *tops; /* NULL, or of intervals the greatest upper end of each TAMIS_TOP_CHUNKS chunks */
    uint32_t count;
    uint32_t capacity;
    uint32_t top_capacity;
} tamis_run;

static inline uint32_t tamis_top_of_row(uint32_t row) {
    return row / TAMIS_TOP_ROWS;
}
static inline uint32_t tamis_top_of_chunk(uint32_t chunk) {
    return chunk / TAMIS_TOP_CHUNKS;
}

typedef struct tamis_list {
    tamis_entry *entries;
    uint32_t count;
    uint32_t capacity;
} tamis_list;

/* All that hangs on one name and kind; what every match looks at comes first. */
typedef struct tamis_key {
    tamis_cells cells;
    tamis_run *at_most; /* NULL until needed, as the others; bounds of <=: a value satisfies those not below it */
    tamis_run *at_least;
    tamis_run *intervals;
    struct tamis_key *wide; /* of numbers: cells, runs and intervals of constants without a code, and nothing else */
    uint64_t equal_bits;    /* tamis_operand_bit of every operand in use under an equality, stale ones included */
    uint64_t pattern_bits;  /* the same of patterns */
    uint32_t equalities;    /* filters in buckets under an equality of this key */
    uint32_t patterns;      /* in buckets under a pattern */
    uint64_t partner_bits;  /* tamis_coarse_bit of every partner, stale ones included */
    uint64_t *partners;     /* finer bits, once there are many: TAMIS_PARTNER_WORDS */
    uint32_t pairs;         /* in buckets under this key, the rarer one, and a partner */
    uint32_t pins;          /* filters placed in any way */
    tamis_list scan;
} tamis_key;

/* Hash from (tag, name, operand) to the filters under it. */
typedef enum {
    TAMIS_BY_BOOLEAN = 1,
    TAMIS_BY_NUMBER,
    TAMIS_BY_STRING,
    TAMIS_BY_WIDE, /* operand: hash of a number without a code; the test decides */
    TAMIS_BY_PATTERN,
    TAMIS_BY_PAIR,
    TAMIS_BY_NAME, /* in a branch only; operand: name and kind */
} tamis_tag;

#define TAMIS_IN_BRANCH 0x40U /* a flag of the tag: a branch stands in the place of the name */

/* A bucket, or a part of one: further slots with the same key follow where rows pass what a slot can count. Its block
 * holds the entries from the front and the singles from the back. A bucket that is opened has a slot more, without
 * rows: its block is the tamis_node. */
typedef struct tamis_slot {
    uint64_t key; /* 0: empty */
    uint32_t block;
    uint32_t entry_count : 12;
    uint32_t single_count : 12;
    uint32_t is_opened : 1;
    uint32_t is_shared : 1; /* the bucket has, or had, other slots */
    uint32_t size_class : 6;
} tamis_slot;

_Static_assert(sizeof(tamis_slot) == 16, "four slots a cache line");

typedef struct tamis_segment {
    uint8_t
        *tags; /* a byte of each slot's hash, 0 where it is empty; then the first ones again, TAMIS_TAG_GROUP of them */
    tamis_slot *slots;
    uint32_t count;
    uint32_t capacity;
} tamis_segment;

#define TAMIS_SEGMENTS 64U

typedef struct tamis_buckets {
    tm_memory *memory; /* borrowed */
    tm_hash_key key;
    tm_arena arena;                         /* of entries and singles */
    uint32_t slot_count;                    /* in all segments */
    uint32_t opened_count;                  /* of the slots, those of opened buckets */
    tamis_segment segments[TAMIS_SEGMENTS]; /* each grows on its own: no long stall */
} tamis_buckets;

/* ---- records ---- */

typedef enum {
    TAMIS_FREE,
    TAMIS_NONE_PLACE,
    TAMIS_COVERED,
    TAMIS_IN_CELLS,
    TAMIS_IN_RUN,
    TAMIS_IN_INTERVALS,
    TAMIS_IN_BUCKET_SINGLE,
    TAMIS_IN_BUCKET,
    TAMIS_IN_NAMED, /* in a branch, under the name of the access test, which is still to be made */
    TAMIS_IN_PAIR,
    TAMIS_IN_SCAN,
    TAMIS_IN_ALWAYS,
    TAMIS_IN_BOXES,
} tamis_place;

typedef struct __attribute__((packed, aligned(4))) tamis_record {
    tamis_test access; /* the test it is reached by; the first of all while covered */
    uint32_t body;     /* in the arena of its heat; 0: none; of an entry without one, TAMIS_LAST and its note */
    uint32_t place : 8;
    uint32_t branch : 24; /* the branch that its bucket stands in, 0: none; of a filter under a pair, its entry's row */
} tamis_record;

_Static_assert(sizeof(tamis_record) == 16, "with its row in holders.h a filter takes twenty bytes");

/* What covers a filter and what it covers. Only filters of interfaces that use cells have one (tamis_uses_cells): what
 * stands at the other handles means nothing. */
typedef struct tamis_covering {
    uint32_t coverer; /* while covered: by which filter */
    uint32_t covers;  /* head of the list of those it covers, or TAMIS_NONE */
    uint32_t next;    /* in the coverer's list */
    uint32_t previous;
    uint32_t ghost_next; /* of a ghost: the next one */
} tamis_covering;

/* A constraint no test can express, kept whole. */
typedef struct tamis_complex {
    tm_constraint constraint; /* operands owned: one block of `size` bytes */
    size_t size;
} tamis_complex;

struct tm_engine {
    tm_memory *memory;   /* borrowed */
    tm_holders *holders; /* borrowed */
    tamis_names names;
    tamis_strings strings;
    tamis_strings numbers; /* bounds of wide ranges: tamis_number_bytes */
    tamis_patterns patterns;
    tamis_digests digests;
    tamis_buckets buckets;
    tamis_branches branches;
    tamis_sample sample;     /* what messages bring */
    tm_arena bodies;         /* hot */
    tm_arena covered_bodies; /* cold */
    tamis_list always;
    tm_families families;       /* of boxes */
    const tm_family *shrunken;  /* a family that is about to go back to buckets; NULL between changes */
    bool scatters;              /* filters leave a family: none joins one */
    uint64_t full_pair;         /* the key of a pair that filters leave; 0 between changes */
    uint32_t full_pair_filters; /* as many as it had */

    tamis_complex *complexes;
    uint32_t complex_count;
    uint32_t complex_capacity;
    uint32_t complex_free;
    uint32_t complex_live;
    uint64_t complex_bytes; /* of their operands, as they are counted */
    uint32_t key_count;     /* the wide parts are keys too */

    tamis_record *records; /* by handle */
    uint32_t record_capacity;
    tamis_covering *coverings; /* owned; by handle, up to the last one of an interface that uses cells */
    uint32_t covering_capacity;
    uint32_t sweep;  /* the record whose covering is looked at again next */
    uint32_t ghosts; /* head of the list of ghosts, which are the handles kept, or TAMIS_NONE */

    uint64_t covered;
    uint64_t scanned;       /* filters in scans */
    uint64_t listed;        /* active filters of interfaces outside the cells' range, or clients */
    uint32_t shared_listed; /* of those interfaces, how many have more than one filter */
    uint32_t pair_filters;
    uint64_t cell_members[TAMIS_CELL_WORDS]; /* interfaces in the cells' range with a filter */
    uint32_t cell_words;                     /* of these, as many as ever had one */

    /* scratch of a match; sized by add, so that a match allocates nothing */
    uint64_t *state; /* by name: 0, or what the message says (see match.c) */
    uint32_t state_capacity;
    uint32_t *pattern_scratch; /* tamis_message_patterns for all values, then room for every pattern of the table */
    uint32_t pattern_scratch_capacity;
    uint32_t *opened; /* nodes of opened buckets that a message has come to: room for all of them */
    uint32_t opened_capacity;
};

/* What the values of a message may contain together without being searched again: where there are many patterns, as
 * many, since a long value that contains many is what a second pass would cost most for. */
#define TAMIS_MESSAGE_PATTERNS_MIN 1024U
#define TAMIS_MANY_PATTERNS (4 * TAMIS_MESSAGE_PATTERNS_MIN)

static inline uint32_t tamis_message_patterns(const tm_engine *engine) {
    return engine->pattern_scratch_capacity - engine->patterns.count;
}

static inline bool tamis_uses_cells(const tm_engine *engine, uint32_t interface) {
    return interface < TAMIS_CELL_INTERFACES && !tm_holders_is_client(engine->holders, interface);
}

static inline uint32_t tamis_interface_of(const tm_engine *engine, uint32_t handle) {
    return tm_holders_interface(engine->holders, handle);
}
/* Removed, while others are still covered by it. */
static inline bool tamis_is_ghost(const tm_engine *engine, uint32_t handle) {
    return !tm_holders_is_live(engine->holders, handle);
}

static inline tamis_body *tamis_body_at(const tm_engine *engine, uint32_t body) {
    return (tamis_body *)tm_arena_at(&engine->bodies, body);
}

/* ---- compile.c: filters to tests ---- */

/* Compile and take references on names, constants and patterns. TM_OK or TM_NO_MEMORY with nothing taken. */
int tamis_compile(tm_engine *engine, const tm_filter *filter, tamis_tests *out);
/* Give back what the test refers to. */
void tamis_release_test(tm_engine *engine, tamis_test test);
/* The kind of value a test is about: TAMIS_BOOLEAN ... TAMIS_ANY. */
unsigned tamis_kind_of(const tm_engine *engine, tamis_test test);

/* ---- cells.c ---- */

/* `strings` is NULL for codes, here and below (tamis_order_of). A point is a code, or a constant's id * 4 + delta (0:
 * at it, 1: just above, 2: just below). */
bool tamis_span_of(tamis_test test, tamis_span *span); /* is the test a range? */
bool tamis_span_intersect(tamis_span *span, tamis_span other,
                          const tamis_strings *strings); /* false: nothing is left */
bool tamis_span_covers(tamis_span a, tamis_span b, const tamis_strings *strings);
bool tamis_span_holds(tamis_span span, int64_t value, const tamis_strings *strings);
bool tamis_cells_add(tm_memory *memory, tamis_cells *cells, tamis_span span, const tamis_strings *strings);
void tamis_cells_remove(tm_memory *memory, tamis_cells *cells, tamis_span span, const tamis_strings *strings);
void tamis_cells_clear(tm_memory *memory, tamis_cells *cells);
/* The spans of one interface: [first, end). */
void tamis_cells_spans(const tamis_cells *cells, uint32_t interface, uint32_t *first, uint32_t *end);
static inline bool tamis_cells_exist(const tamis_cells *cells) {
    return cells->bits != NULL;
}
/* The cell of a label, where cells exist, and of a code. */
const uint64_t *tamis_cells_of_label(const tamis_cells *cells, int64_t label, const tamis_strings *strings);
const uint64_t *tamis_cells_search(const tamis_cells *cells, int32_t code);
static inline const uint64_t *tamis_cells_of_code(const tamis_cells *cells, int32_t code) {
    if (cells->width == 0) {
        return tamis_cells_search(cells, code);
    }
    int64_t at = (int64_t)code - cells->first + 1;
    at = at < 0 ? 0 : at;
    return cells->bits + (at < cells->width ? (uint32_t)at : cells->width - 1) * (size_t)cells->words;
}
int tamis_cells_validate(const tamis_cells *cells, const tamis_strings *strings, const char **reason);

/* ---- runs.c ---- */

/* Bounds are codes, or constant's id * 4 + delta as above; of a run that has intervals, their lower ends. */
bool tamis_run_add(tm_memory *memory, tamis_run *run, int64_t bound, tamis_single single, const tamis_strings *strings);
void tamis_run_remove(tm_memory *memory, tamis_run *run, int64_t bound, tamis_single single,
                      const tamis_strings *strings);
/* A run has either intervals, sorted by their lower ends and removed as bounds are, or singles. */
bool tamis_run_add_interval(tm_memory *memory, tamis_run *run, tamis_interval interval, tamis_single single,
                            const tamis_strings *strings);
void tamis_run_clear(tm_memory *memory, tamis_run *run);
/* The first (chunk, index) whose bound is not below the value; `above`: whose bound is above it. */
void tamis_run_find(const tamis_run *run, int64_t value, bool above, const tamis_strings *strings, uint32_t *chunk,
                    uint32_t *index);
int tamis_run_validate(const tamis_run *run, const tamis_strings *strings, const char **reason);

/* ---- intervals.c ---- */

/* Is the test one bound of a positive range? */
bool tamis_is_bound(tamis_test test);
/* What all the tests, which are bounds of one key, leave. */
tamis_interval tamis_interval_of(const tm_engine *engine, const tamis_tests *tests);
/* Compute what the chunk says of upper ends anew, from this row on, and what the run says of the chunk; with `behind`
 * of all chunks behind it, too. A run without intervals is left as it is. */
void tamis_top_rows(tamis_chunk *chunk, uint32_t row, const tamis_strings *strings);
void tamis_top_chunks(tamis_run *run, uint32_t chunk, bool behind, const tamis_strings *strings);
int tamis_tops_validate(const tamis_run *run, const tamis_strings *strings, const char **reason);

/* A bound in the order of values, as a lower and as an upper end. Labels are below 2^61, and the distance to an end
 * that is missing is more than that of any two. */
#define TAMIS_FAR (INT64_C(1) << 62)

static inline int64_t tamis_low_key(int64_t bound, const tamis_strings *strings) {
    static const int64_t DELTA[4] = {0, 1, -1, -TAMIS_FAR};
    return strings == NULL ? bound : strings->labels[bound >> 2] + DELTA[bound & 3];
}
static inline int64_t tamis_high_key(int64_t bound, const tamis_strings *strings) {
    static const int64_t DELTA[4] = {0, 1, -1, TAMIS_FAR};
    return strings == NULL ? bound : strings->labels[bound >> 2] + DELTA[bound & 3];
}

/* ---- odds.c ---- */

#define TAMIS_NEVER 1e30
#define TAMIS_AS_GOOD 1.5 /* times the lowest odds: no reason to choose */

/* The chance that a message has the name. */
double tamis_odds_of_name(const tm_engine *engine, uint32_t name, unsigned kind);
/* Is there a bucket for the test? */
bool tamis_has_bucket(const tm_engine *engine, tamis_test test);
/* The chance that a message reaches the bucket of the test; TAMIS_NEVER where there is none. `opened`: is it? */
double tamis_odds_of_bucket(const tm_engine *engine, tamis_test test, bool *opened);
/* The same where `of` filters have `with` of them in the bucket, and it was guessed to be `guess` before. */
double tamis_odds_by_share(double guess, uint32_t with, uint32_t of);
/* What a filter costs behind an opened bucket which is reached with the first odds, where the best of its other tests
 * has the second. */
double tamis_odds_behind(double odds, double other);

/* ---- choose.c ---- */

/* The place for a filter; its tests are put in the order the place wants, [0] being the access test. */
tamis_place tamis_choose(const tm_engine *engine, uint32_t interface, tamis_tests *tests);
/* Those in [from, end), by how likely they fail: a name that is rare comes first. */
void tamis_order_tests(const tm_engine *engine, tamis_tests *tests, uint32_t from, uint32_t end);
static inline void tamis_swap_tests(tamis_tests *tests, uint32_t a, uint32_t b) {
    tamis_test kept = tests->tests[a];
    tests->tests[a] = tests->tests[b];
    tests->tests[b] = kept;
}
/* The combined range of tests that are all positive ranges of one key; false: they are not, or nothing is in it. */
bool tamis_only_span(const tm_engine *engine, const tamis_tests *tests, tamis_span *span);

/* ---- keys.c ---- */

/* The key, made if need be; NULL: no memory. */
tamis_key *tamis_key_use(tm_engine *engine, uint32_t name, unsigned kind);
/* The part of it for the cells and runs of the test (tamis_range_key), made if need be; NULL: no memory. */
tamis_key *tamis_key_use_range(tm_engine *engine, tamis_key *key, tamis_test test);
/* Free it where nothing is pinned to it. */
void tamis_key_drop(tm_engine *engine, uint32_t name, unsigned kind);
void tamis_key_clear(tm_memory *memory, tamis_key *key);
void tamis_key_drop_cells(tm_memory *memory, tamis_key *key); /* there may be none */

/* ---- descend.c: the way into opened buckets ---- */

/* Where a filter stands, or is to stand: its tests are the access test, those that are made, and those that the branch
 * implies. */
typedef struct tamis_stand {
    tamis_place place;
    uint32_t branch;
    uint32_t implied; /* how many tests at the end the branch implies */
} tamis_stand;

/* From a bucket, on into what is behind it as long as it is opened and the filter has a test to go by. Branches are
 * made if need be; false: no memory, nothing changed but the order of tests. */
bool tamis_descend(tm_engine *engine, tamis_tests *tests, tamis_stand *stand);
/* Could the filter stand further on, were its bucket opened? */
bool tamis_can_descend(const tm_engine *engine, const tamis_tests *tests, const tamis_stand *stand);
/* A filter more (1), none (0) or one less (UINT32_MAX) in a branch and those around it, up to `until`; those without a
 * filter go. */
void tamis_branches_count(tm_engine *engine, uint32_t branch, uint32_t until, uint32_t by);
/* May a filter that stands here stand behind one more branch? */
bool tamis_may_go_on(const tm_engine *engine, const tamis_stand *stand);
/* Append the tests that the branch implies. */
void tamis_branch_tests(const tm_engine *engine, uint32_t branch, tamis_tests *out);
/* The test of the bucket in no branch that all this is behind. */
tamis_test tamis_branch_root(const tm_engine *engine, uint32_t branch);

/* ---- guards.c: tests that many filters of a bucket make ---- */

/* Does every message that satisfies the test satisfy the guard, as far as that can be seen? */
bool tamis_guard_holds_for(const tm_engine *engine, tamis_test guard, tamis_test test);
/* The strictest guard of a node that the test implies; NULL: there is none. */
const tamis_fork *tamis_guard_of(const tm_engine *engine, const tamis_node *node, tamis_test test);
/* The guard that what stands here is right behind; TAMIS_NO_TEST: there is none. */
tamis_test tamis_guard_before(const tm_engine *engine, const tamis_stand *stand);
/* A filter has come to this bucket, which is opened and crowded: those that share a test with it go behind a guard, if
 * there are some. false: nothing has moved. */
bool tamis_guards_make(tm_engine *engine, uint32_t handle, uint64_t key);
/* The bucket is crowded, and may be behind a guard of bounds: those that are stricter go behind one of their own beside
 * it. false: nothing has moved. */
bool tamis_guards_split(tm_engine *engine, uint32_t handle, uint64_t key);
/* A filter that makes these tests has come behind the branch: the guards around it say so. */
void tamis_guards_widen(tm_engine *engine, uint32_t branch, const tamis_tests *tests);
/* Nothing is behind the guard any more. */
void tamis_guards_release(tm_engine *engine, const tamis_branch *branch);
int tamis_guards_validate(const tm_engine *engine, const char **reason);

/* ---- crowd.c: opening buckets ---- */

/* So many under a pair, and those may leave it that have a bucket, which can be opened. */
#define TAMIS_PAIR_MAX 16U
/* More entries than this in a bucket, and those which can stand further on do so. */
#define TAMIS_CROWD_MAX 64U

/* Open the buckets that the record has filled up; false: no memory, the record still stands where it stood. */
bool tamis_relieve(tm_engine *engine, uint32_t handle);
/* That nothing is crowded. */
int tamis_crowds_validate(const tm_engine *engine, const char **reason);

/* ---- place.c: putting a filter where it is reached ---- */

/* The keys of the buckets under an access test; how many, at most TM_IN_VALUES_MAX. */
uint32_t tamis_bucket_keys(const tm_engine *engine, tamis_place place, uint32_t branch, tamis_test access,
                           uint64_t *keys);
/* Move a record behind the bucket it stands in, if that is opened and it can; false: no memory, nothing changed. */
bool tamis_move_on(tm_engine *engine, uint32_t handle);
/* Move a record from behind a guard behind another one of the same node, which it implies; false as above. */
bool tamis_move_beside(tm_engine *engine, uint32_t handle, uint32_t branch);
/* An active filter stands where it is chosen to stand now, or becomes a box; false: no memory, it stands where it
 * stood. */
bool tamis_move_anew(tm_engine *engine, uint32_t handle, bool to_boxes);
/* Where an active record stands. */
tamis_stand tamis_stand_of(const tm_engine *engine, uint32_t handle);

/* Is the place's body out of a match's sight? */
static inline bool tamis_is_cold(unsigned place) {
    return place == TAMIS_COVERED || place == TAMIS_IN_CELLS || place == TAMIS_IN_INTERVALS;
}

/* The name and kind of a test, as a pair's filter keeps those of its second one: 26 bits. */
static inline uint32_t tamis_partner_of(const tm_engine *engine, tamis_test test) {
    return tamis_test_name(test) << 2 | tamis_kind_of(engine, test);
}
/* What the entry of a record says in `rest`; no other entry does. */
static inline uint32_t tamis_rest_of(const tm_engine *engine, uint32_t handle) {
    uint32_t body = engine->records[handle].body;
    return body & TAMIS_LAST ? TAMIS_LAST | handle : body;
}
/* Of a filter with an entry: under a pair, tamis_partner_of its second test; elsewhere its row, as below. */
static inline uint32_t tamis_note_of(const tm_engine *engine, const tamis_record *record) {
    return record->body & TAMIS_LAST ? record->body & ~TAMIS_LAST : tamis_body_at(engine, record->body)->note;
}
/* The row of its entry in its slot or list; TAMIS_ROW_UNKNOWN: it has to be searched for. */
static inline uint32_t tamis_row_of(const tm_engine *engine, const tamis_record *record) {
    return record->place == TAMIS_IN_PAIR ? record->branch : tamis_note_of(engine, record);
}
/* The branch that the bucket of a record stands in; 0: none. */
static inline uint32_t tamis_branch_of(const tamis_record *record) {
    return record->place == TAMIS_IN_PAIR ? 0 : record->branch;
}
/* All tests of a record, access first. */
void tamis_tests_of_record(const tm_engine *engine, uint32_t handle, tamis_tests *out);
/* Make a record reachable; its tests are reordered. false: no memory, nothing changed. What the record said of an
 * earlier place is overwritten, not freed. */
bool tamis_activate(tm_engine *engine, uint32_t handle, tamis_tests *tests);
/* The same in this place, which the tests are in order for. */
bool tamis_activate_in(tm_engine *engine, uint32_t handle, tamis_place place, const tamis_tests *tests);
/* Take an active record out of its place, its body too; the tests' references stay. Never fails. */
void tamis_deactivate(tm_engine *engine, uint32_t handle);
/* The filter whose entry in a bucket this is, and its tests: without the search that a record's take. */
uint32_t tamis_handle_of_entry(const tm_engine *engine, const tamis_entry *entry);
void tamis_tests_of_entry(const tm_engine *engine, const tamis_entry *entry, tamis_tests *out);
/* The key of the bucket that a filter under a pair stands in. */
uint64_t tamis_pair_key_of_record(const tm_engine *engine, uint32_t handle);
/* Put the tests of a record into its cold form; false: no memory, nothing changed. */
bool tamis_set_aside(tm_engine *engine, uint32_t handle, const tamis_tests *tests);
void tamis_free_body(tm_engine *engine, uint32_t handle);
/* Where the constants of a range stand in order; NULL: they are codes. */
static inline const tamis_strings *tamis_order_of(const tm_engine *engine, tamis_test test) {
    unsigned op = tamis_test_op(test);
    return op >= TAMIS_STRING_EQ ? &engine->strings : tamis_op_is_wide(op) ? &engine->numbers : NULL;
}
/* The part of a test's key that has its cells and runs. */
static inline tamis_key *tamis_range_key(tamis_key *key, tamis_test test) {
    return tamis_op_is_wide(tamis_test_op(test)) ? key->wide : key;
}
/* The part of a hash key for a number without a code. */
uint32_t tamis_wide_operand(const tm_hash_key *key, bool is_real, int64_t integer, double real);

/* ---- cover.c ---- */

/* An active filter of the interface, on one attribute, no ghost and not `except`, that covers these tests; or
 * TAMIS_NONE. */
uint32_t tamis_find_coverer(tm_engine *engine, uint32_t interface, const tamis_tests *tests, uint32_t except);

/* ---- entries_check.c ---- */

/* Is every entry of a bucket or a list that of a filter which stands there, and every such filter in its buckets? */
int tamis_entries_validate(const tm_engine *engine, const char **reason);

/* ---- used.c ---- */

uint64_t tamis_used(const tm_engine *engine);

/* ---- match.c ---- */

void tamis_match(tm_engine *engine, const tm_attribute *attributes, size_t count, tm_answer *answer);

#endif
