/* shape.h - a fast decoder for messages with the attribute names of the previous one, in the same order.
 *
 * Law: `count` names were valid and distinct together, so that equal bytes at their places need no second check. A
 * message of the shape decodes exactly like with tm_attributes_decode, except for the attributes that are left out:
 * those whose names occur in no filter of any table and are not kept. Which ones are left out changes only between two
 * messages.
 */
#ifndef TM_SHAPE_H
#define TM_SHAPE_H

#include <stdbool.h>

#include "base/words.h"
#include "model/layout.h"
#include "tm.h"

#define SHAPE_TABLES 5U           /* tables that a message may be matched against */
#define SHAPE_NO_TABLE UINT64_MAX /* instead of a table's memo of an unknown name: it has no filters */
#define SHAPE_BYTES_MAX 2048U     /* of all encoded names: longer ones give no shape */

typedef struct tm_shape_name {
    words text;      /* encoded in msgpack, with its length, zeroes behind it; ones if it has more than sixteen bytes */
    words mask;      /* of these bytes; zeroes if it has more, so that only a full comparison succeeds */
    uint16_t size;   /* of the encoded name */
    uint16_t length; /* of the name */
    uint16_t place;  /* in `spelled` */
    bool is_wanted;  /* true if its attribute is decoded */
} tm_shape_name;

typedef struct tm_shape {
    uint64_t version;               /* changes with the names and with the choice of wanted ones; never 0 */
    uint64_t unknown[SHAPE_TABLES]; /* memo that each table leaves for a name that occurs in none of its filters */
    uint32_t count;                 /* 0: there is no shape */
    uint32_t wanted_count;
    bool is_trimmed; /* true if unknown names are left out */
    uint8_t asked;   /* bit t: table t has looked up all names of this version, or as many as it needed */
    tm_shape_name names[TM_ATTRIBUTES_MAX];
    uint8_t spelled[SHAPE_BYTES_MAX];
    uint64_t memo[SHAPE_TABLES][TM_ATTRIBUTES_MAX]; /* for tm_query, by decoded attribute */
    tm_layout layout;
} tm_shape;

/* Decode a message of exactly `size` bytes; `out` gets the wanted attributes. If its names differ from the shape's,
 * they become the shape, with all of them wanted. Returns TM_OK, TM_MALFORMED or TM_TOO_MANY. TM_SHAPE_SLACK bytes
 * behind `size` must be readable; their contents do not matter. */
#define TM_SHAPE_SLACK 32
int tm_shape_decode(tm_shape *shape, const uint8_t *bytes, size_t size, tm_attribute *out, size_t *count);

/* Want all names again, because the names in a table have changed, and with them its memo of an unknown one. */
void tm_shape_want_all(tm_shape *shape, const uint64_t unknown[SHAPE_TABLES]);

static inline void tm_shape_note_asked(tm_shape *shape, unsigned table) {
    shape->asked |= (uint8_t)(1U << table);
}

/* Names that are decoded although no table has them: a bit for the hash of each. Another name may share a bit, and is
 * then decoded for nothing. */
#define SHAPE_KEPT_BITS 4096U
typedef struct tm_kept_names {
    uint64_t bits[SHAPE_KEPT_BITS / 64];
} tm_kept_names;

/* Keep a name; true: its bit was not set. */
bool tm_kept_names_add(tm_kept_names *kept, const tm_hash_key *key, const uint8_t *name, size_t length);

/* After a match: if all tables have looked up the names, leave out those that are unknown to all, but for those that
 * are kept (NULL: none is). */
void tm_shape_trim(tm_shape *shape, const tm_kept_names *kept, const tm_hash_key *key);

/* true if the shape has an attribute of that name, wanted or not */
bool tm_shape_spells(const tm_shape *shape, const uint8_t *name, uint32_t length);

/* Return the index of a name's attribute among the decoded ones, or SHAPE_NONE. */
#define SHAPE_NONE UINT32_MAX
uint32_t tm_shape_find(const tm_shape *shape, const uint8_t *name, uint32_t length);

#endif
