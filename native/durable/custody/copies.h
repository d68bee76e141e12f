/* copies.h - durable subscriptions with copies at several homes, of which a message needs some (copies_min).
 *
 * Law: a set has the copies of one durable subscription that this router knows of: its own, and those that homes state.
 * A message that is to be held needs as many copies of each set as the set says, that of this router among them. Of
 * what is in no set, it needs each home.
 *
 *     tm_custody_copy, tm_durable_open ──> sets ──┐
 *     a match ──> homes and copies that want it ──┴──> claims of tm_held ──> custody/held.c
 */
#ifndef TM_DURABLE_CUSTODY_COPIES_H
#define TM_DURABLE_CUSTODY_COPIES_H

#include "base/idset.h"
#include "durable/tables/held.h"

#define COPIES_HOMES_MAX 3U /* homes of one durable subscription */
#define COPY_SET_NONE UINT32_MAX

typedef struct tm_copy_set {
    uint64_t copies;     /* the number that its copies share */
    uint32_t copies_min; /* which a message needs */
    uint32_t users;      /* copies; 0: the row is free */
    uint64_t stamp;      /* `stamp` of tm_durables when it was last collected; these are of the current message: */
    uint32_t homes[COPIES_HOMES_MAX]; /* slots; of a free row, the first is the next free one + 1 */
    uint32_t home_count;
    bool is_here; /* this router has stored it for its own copy */
} tm_copy_set;

/* A copy that a home states. */
typedef struct tm_stated_copy {
    uint32_t home;   /* slot */
    uint32_t number; /* of the durable subscription there; of a free row, the next free one + 1 */
    uint32_t set;    /* COPY_SET_NONE: the row is free */
} tm_stated_copy;

typedef struct tm_copies {
    tm_memory *memory; /* borrowed */
    tm_copy_set *sets; /* owned */
    uint32_t set_count;
    uint32_t set_capacity;
    uint32_t set_free;      /* + 1 */
    tm_idset by_copies;     /* of sets + 1 */
    tm_stated_copy *stated; /* owned */
    uint32_t stated_count;
    uint32_t stated_capacity;
    uint32_t stated_free; /* + 1 */
    tm_idset by_number;   /* of stated + 1 */
    uint32_t *wanted;     /* owned: sets that want the current message */
    uint32_t wanted_capacity;
    uint32_t wanted_count;
} tm_copies;

/* Return the set whose copies share this number; COPY_SET_NONE: there is none. */
uint32_t tm_copies_find(const tm_copies *all, uint64_t copies);
/* Add a copy to a set, which is made if there is none; all its copies have one `copies_min`. false: no memory. */
bool tm_copies_join(tm_copies *all, uint64_t copies, uint32_t copies_min);
void tm_copies_leave(tm_copies *all, uint64_t copies);
/* Return the set of a durable subscription at a home; COPY_SET_NONE: it is in none. */
uint32_t tm_copies_at(const tm_copies *all, uint32_t home, uint32_t number);
/* Note that a durable subscription at a home is a copy (0: is none), in place of what it was before. false: no memory;
 * it is none then. */
bool tm_copies_state(tm_copies *all, uint32_t home, uint32_t number, uint64_t copies, uint32_t copies_min);
/* A home states nothing any more. */
void tm_copies_close(tm_copies *all, uint32_t home);
void tm_copies_free(tm_copies *all);
bool tm_copies_are_sound(const tm_copies *all);

/* ---- the current message ---- */

/* Collect a copy here that wants it. */
void tm_copies_want_here(tm_copies *all, uint64_t copies, uint64_t stamp);
/* Note that a copy here does not have it. */
void tm_copies_lack_here(tm_copies *all, uint64_t copies);
/* Collect a copy at a home that wants it; false: the set has no room for the home. */
bool tm_copies_want(tm_copies *all, uint32_t set, uint32_t home, uint64_t stamp);

#endif
