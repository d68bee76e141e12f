/* rows.h - the rows of filters in lists and buckets: entries, singles and bodies.
 *
 * Law: as in buckets.c. A single is a filter whose place implies its only test; an entry has one more test beside it,
 * and all further ones are in its body.
 */
#ifndef TM_ONEPATH_ROWS_H
#define TM_ONEPATH_ROWS_H

#include "base/arena.h"
#include "base/hash.h"
#include "engines/onepath/values/tests.h"

/* A filter in an access path: 16 bytes, a quarter of a cache line. It matches iff `test` holds and all tests of the
 * body do. In the bucket of a pair both tests of the pair are in the entry: see pair_entry.h. */
typedef struct onepath_entry {
    uint32_t interface; /* ONEPATH_ENTRY_INTERFACE; the bits above it are 0 except under a pair */
    uint32_t rest; /* ONEPATH_LAST and the handle if there are no further tests; otherwise the body that has them */
    onepath_test test;
} onepath_entry;

#define ONEPATH_ENTRY_INTERFACE 0xffffffU
#define ONEPATH_LAST (1U << 31)

/* One filter of a single test. */
typedef struct onepath_single {
    uint32_t interface;
    uint32_t handle;
} onepath_single;

/* All tests except the access test, those that the branch implies and, in a bucket by value or of a pair, the one
 * beside it in the entry. */
typedef struct onepath_body {
    uint32_t handle;
    uint32_t count : 6;
    uint32_t note : 26; /* onepath_note_of the record */
    onepath_test tests[];
} onepath_body;

/* A row that is not noted: of a filter with several entries, or far down in a list. */
#define ONEPATH_ROW_UNKNOWN ((1U << 26) - 1)

_Static_assert(sizeof(onepath_body) == 8 && ONEPATH_TESTS_MAX < 64, "the head of a body is one unit of an arena");

typedef struct onepath_list {
    onepath_entry *entries;
    uint32_t count;
    uint32_t capacity;
} onepath_list;

/* The first part of a key in the hash from (tag, name, operand) to filters. */
typedef enum {
    ONEPATH_BY_BOOLEAN = 1,
    ONEPATH_BY_NUMBER,
    ONEPATH_BY_STRING,
    ONEPATH_BY_WIDE, /* operand: hash of a number without a code; the test is evaluated */
    ONEPATH_BY_PATTERN,
    ONEPATH_BY_PAIR,
    ONEPATH_BY_NAME, /* in a branch only; operand: name and kind */
} onepath_tag;

#define ONEPATH_IN_BRANCH 0x40U /* a flag of the tag: the key has a branch instead of the name */

/* A bucket, or a part of one: further slots with its key follow where a slot cannot count all rows. Its block holds the
 * entries from the front and the singles from the back. An opened bucket has one more slot without rows, whose block is
 * the onepath_node. */
typedef struct onepath_slot {
    uint64_t key; /* 0: empty */
    uint32_t block;
    uint32_t entry_count : 12;
    uint32_t single_count : 12;
    uint32_t is_opened : 1;
    uint32_t is_shared : 1; /* the bucket has, or had, other slots */
    uint32_t size_class : 6;
} onepath_slot;

_Static_assert(sizeof(onepath_slot) == 16, "four slots a cache line");

typedef struct onepath_segment {
    uint8_t *tags; /* a byte of each slot's hash, 0 if empty; then the first ONEPATH_TAG_GROUP again */
    onepath_slot *slots;
    uint32_t count;
    uint32_t capacity;
} onepath_segment;

#define ONEPATH_SEGMENTS 64U

typedef struct onepath_buckets {
    tm_memory *memory; /* borrowed */
    tm_hash_key key;
    tm_arena arena;                             /* of entries and singles */
    uint32_t slot_count;                        /* in all segments */
    uint32_t opened_count;                      /* of the slots, those of opened buckets */
    onepath_segment segments[ONEPATH_SEGMENTS]; /* each grows on its own: no long stall */
} onepath_buckets;

#endif
