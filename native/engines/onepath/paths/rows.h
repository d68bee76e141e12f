/* rows.h - what stands for a filter where a message reaches it: entries, singles and bodies, in lists and in buckets.
 *
 * Law: as in buckets.c. A single is a filter of one test, which its place says; an entry has one more test beside it,
 * and all further ones are in its body.
 */
#ifndef TM_ONEPATH_ROWS_H
#define TM_ONEPATH_ROWS_H

#include "base/arena.h"
#include "base/hash.h"
#include "engines/onepath/values/tests.h"

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

typedef struct tamis_list {
    tamis_entry *entries;
    uint32_t count;
    uint32_t capacity;
} tamis_list;

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

#endif
