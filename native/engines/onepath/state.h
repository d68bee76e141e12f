/* state.h - the parts of the engine `tamis` and how they refer to each other.
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
 *     boxes      ranges of several names, once there are many of the same: a tree (boxes.h)
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
#ifndef TM_ONEPATH_STATE_H
#define TM_ONEPATH_STATE_H

#include "base/arena.h"
#include "engines/boxes/families.h"
#include "engines/onepath/cost/sample.h"
#include "engines/onepath/covering/coverings.h"
#include "engines/onepath/paths/branches.h"
#include "engines/onepath/paths/ranges.h"
#include "engines/onepath/values/digest.h"
#include "engines/onepath/values/names.h"
#include "engines/onepath/values/patterns.h"
#include "engines/onepath/values/strings.h"
#include "model/grid.h"
#include "table/engine.h"

#define TAMIS_CELL_INTERFACES 256U /* interfaces below this may use cells: four words */
#define TAMIS_CELL_WORDS 4U

/* ---- where filters stand ---- */

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
    uint32_t place : 7;
    uint32_t in_order : 1; /* its numbers without a code have labels: see tamis_needs_order */
    uint32_t branch : 24; /* the branch that its bucket stands in, 0: none; of a filter under a pair, its entry's row */
} tamis_record;

_Static_assert(sizeof(tamis_record) == 16, "with its row in holders.h a filter takes twenty bytes");

/* A constraint no test can express, kept whole. */
typedef struct tamis_complex {
    tm_constraint constraint; /* operands owned: one block of `size` bytes; `integer` of a string in it is its id */
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
    bool follows;               /* boxes follow another behind a guard: none follows them */
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
    tamis_coverings coverings;
    uint32_t sweep;  /* the record whose covering is looked at again next */
    uint32_t ghosts; /* head of the list of ghosts, which are the handles kept, or TAMIS_NONE */

    uint64_t covered;
    uint64_t scanned;       /* filters in scans */
    uint64_t string_tests;  /* that may hold for a string; where there are none, no string is looked at */
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

static inline bool tamis_is_active(const tamis_record *record) {
    return record->place > TAMIS_COVERED;
}
/* How many filters a match can reach, without a look at every record: a router is asked between two messages. */
uint64_t tamis_count_active(const tm_engine *engine);
/* Must numbers without a code have labels in a filter of the interface that stands in this place? A box has its ends
 * itself, and whether a filter is covered is asked only where cells are used. */
static inline bool tamis_needs_order(const tm_engine *engine, uint32_t interface, unsigned place) {
    return place != TAMIS_IN_BOXES || tamis_uses_cells(engine, interface);
}
/* Head of the list of those that a filter covers, or TAMIS_NONE. */
static inline uint32_t tamis_covers_of(const tm_engine *engine, uint32_t handle) {
    return tamis_uses_cells(engine, tamis_interface_of(engine, handle))
               ? tamis_covering_at(&engine->coverings, handle)->covers
               : TAMIS_NONE;
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

/* ---- constants.c ---- */

/* Ask for the memory of the constants of tests that are about to be given back, and when that is there, for the memory
 * in which those that go will be looked up. */
void tamis_ask_constants(const tm_engine *engine, const tamis_tests *tests);
void tamis_ask_sets(const tm_engine *engine, const tamis_tests *tests);
/* And when that is there, for those that stand beside them and may move up. */
void tamis_ask_beside(const tm_engine *engine, const tamis_tests *tests);
/* The numbers without a code in the tests of a filter get labels if they have none; false: no memory, nothing changed.
 */
bool tamis_take_order(tm_engine *engine, uint32_t handle, const tamis_tests *tests);
/* They need none any more, if they have some. */
void tamis_drop_order(tm_engine *engine, uint32_t handle, const tamis_tests *tests);

/* ---- odds.c ---- */

#define TAMIS_NEVER 1e30
#define TAMIS_AS_GOOD 1.5 /* times the lowest odds: no reason to choose */

/* The chance that a message has the name. */
double tamis_odds_of_name(const tm_engine *engine, uint32_t name, unsigned kind);
/* Is there a bucket for the test? */
bool tamis_has_bucket(const tm_engine *engine, tamis_test test);
/* Does the key of each bucket that a filter stands in by the test say all that the test does? */
bool tamis_is_told_by_key(const tm_engine *engine, tamis_test test);
/* The chance that a message reaches the bucket of the test; TAMIS_NEVER where there is none. `opened`: is it? */
double tamis_odds_of_bucket(const tm_engine *engine, tamis_test test, bool *opened);
/* How many tests may be like this one, at most: as many as have its name and its text; 0 where that is not known. */
uint32_t tamis_users_of(const tm_engine *engine, tamis_test test);
/* Those odds, or more where the test was guessed to hold for `share` of the messages, and they do not say otherwise. */
double tamis_odds_at_least(const tm_engine *engine, tamis_test test, double odds, double share);
/* The same where `of` filters have `with` of them in the bucket, and it was guessed to be `guess` before. */
double tamis_odds_by_share(double guess, uint32_t with, uint32_t of);
/* What a filter costs behind an opened bucket which is reached with the first odds, where the best of its other tests
 * has the second. */
double tamis_odds_behind(double odds, double other);

/* ---- choose.c ---- */

/* The place for a filter; its tests are put in the order the place wants, [0] being the access test. */
tamis_place tamis_choose(const tm_engine *engine, uint32_t interface, tamis_tests *tests);
/* Those in [from, end), by how likely they fail: a name that is rare comes first, of names that are as rare a test that
 * few others make. */
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
/* The pins of a place: the keys it hangs on. Of a bucket in a branch it is the key of the one that all this is behind,
 * where a message begins. */
uint32_t tamis_keys_of_place(const tm_engine *engine, tamis_place place, const tamis_test tests[2], uint32_t names[2],
                             unsigned kinds[2]);
/* Bookkeeping of a key by which a match knows whether looking there can pay: a filter more (1) or less (UINT32_MAX). */
void tamis_key_count(tamis_key *key, tamis_place place, bool is_partner, tamis_test access, uint32_t by);
/* Set the bits by which a match knows that a probe may find the filter. */
void tamis_key_mark(const tm_engine *engine, tamis_key *key, tamis_test access);
/* Coarse bits of partners become finer ones: each stands for eight; false: no memory. */
bool tamis_key_refine(tm_engine *engine, tamis_key *key);

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
/* Ask for the memory of the opened buckets that a branch is behind: they will be counted in soon. */
void tamis_branches_ask(const tm_engine *engine, uint32_t branch);
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

/* ---- guard_rows.c ---- */

/* Where the first test fails, does the other, as far as that can be seen? */
bool tamis_guard_fails_with(const tm_engine *engine, tamis_test first, tamis_test other);
/* The last fork of a node is a new guard: it goes to its place in a row. */
void tamis_guards_line_up(const tm_engine *engine, tamis_node *node);
/* For validation: do those fail with each guard of which it says so? */
bool tamis_guards_are_in_rows(const tm_engine *engine, const tamis_node *node);

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

/* ---- engine_check.c ---- */

int tamis_validate(const tm_engine *engine, const char **reason);

/* ---- entries_check.c ---- */

/* Is every entry of a bucket or a list that of a filter which stands there, and every such filter in its buckets? */
int tamis_entries_validate(const tm_engine *engine, const char **reason);

/* ---- used.c ---- */

uint64_t tamis_used(const tm_engine *engine);

/* ---- match.c ---- */

void tamis_match(tm_engine *engine, const tm_attribute *attributes, size_t count, tm_answer *answer);

#endif
