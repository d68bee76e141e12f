/* shape.h - messages with the names of the one before: nearly all have them, in the same order.
 *
 * Law: `count` names were valid and distinct together, so the same bytes at their places need no second look. What a
 * message of the shape is taken for is what tm_attributes_decode would take it for, the attributes left out apart:
 * those whose names no filter of any table speaks of. What is left out changes between two messages only.
 */
#ifndef TM_SHAPE_H
#define TM_SHAPE_H

#include <stdbool.h>

#include "base/words.h"
#include "tm.h"

#define SHAPE_TABLES 5U           /* that a message may be matched against */
#define SHAPE_NO_TABLE UINT64_MAX /* in the place of what a table remembers of an unknown name: it has no filters */
#define SHAPE_BYTES_MAX 2048U     /* of all names as they are spelled: longer ones make no shape */

typedef struct tm_shape_name {
    words text;    /* as it is spelled in msgpack, length and all, zeroes behind it; of more than sixteen bytes, ones */
    words mask;    /* of these bytes; zeroes then, so that nothing is taken for it without a look at all of it */
    uint16_t size; /* of all of it */
    uint16_t place; /* in `spelled` */
    bool is_wanted; /* its attribute is handed on */
} tm_shape_name;

typedef struct tm_shape {
    uint64_t version;               /* changes with the names and with what is left out; never 0 */
    uint64_t unknown[SHAPE_TABLES]; /* what each table remembers of a name that none of its filters speaks of */
    uint32_t count;                 /* 0: nothing is known */
    uint32_t wanted_count;
    bool is_trimmed; /* those not worth it are left out */
    uint8_t asked;   /* bit t: table t has looked up all names of this version, or as many as it needed */
    tm_shape_name names[TM_ATTRIBUTES_MAX];
    uint8_t spelled[SHAPE_BYTES_MAX];
    uint64_t memo[SHAPE_TABLES][TM_ATTRIBUTES_MAX]; /* for tm_query, by attribute handed on */
} tm_shape;

/* Decode a message of exactly `size` bytes, of which `out` gets the wanted attributes. Where its names are others than
 * those of the shape, the shape then has them, and all are wanted. TM_OK, TM_MALFORMED or TM_TOO_MANY. Whatever they
 * are, TM_SHAPE_SLACK bytes behind `size` are there to be read. */
#define TM_SHAPE_SLACK 32
int tm_shape_decode(tm_shape *shape, const uint8_t *bytes, size_t size, tm_attribute *out, size_t *count);

/* A table's names have changed, and with them what it remembers of an unknown one. */
void tm_shape_want_all(tm_shape *shape, const uint64_t unknown[SHAPE_TABLES]);

static inline void tm_shape_note_asked(tm_shape *shape, unsigned table) {
    shape->asked |= (uint8_t)(1U << table);
}

/* The message has been matched: where all tables have been asked, leave out from now on what is unknown to all. */
void tm_shape_trim(tm_shape *shape);

/* Is there an attribute of that name, whether or not it is handed on? */
bool tm_shape_spells(const tm_shape *shape, const uint8_t *name, uint32_t length);

/* Where a name's attribute stands among those handed on, or SHAPE_NONE. */
#define SHAPE_NONE UINT32_MAX
uint32_t tm_shape_find(const tm_shape *shape, const uint8_t *name, uint32_t length);

#endif
