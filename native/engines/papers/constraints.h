/* constraints.h - every distinct constraint of a table once, with the filters that contain it.
 *
 * Law: equal constraints (name, operator, negated or not, operands) are one id as long as a filter has it. A pattern
 * may occur twice in a text and must be counted once, for which it has a `stamp`. Constraint 1 is TRUE: no name, always
 * satisfied; it gives filters without a positive constraint one to count.
 *
 *     held[id]  {filters: [f f f ...] or two of them in place, count, stamp}     read by a match
 *     keys[id]  {name, operator, operands}                                      read when tables change
 */
#ifndef TM_CONSTRAINTS_H
#define TM_CONSTRAINTS_H

#include "engines/papers/intern.h"
#include "model/filter.h"
#include "model/number.h"

#define TM_TRUE_CONSTRAINT 1
#define TM_IN_PLACE 2

/* A stored operand: numbers and booleans as their bits, strings as the id in `strings`. */
typedef struct tm_atom {
    uint64_t bits;
    uint32_t string;
    uint8_t kind;
} tm_atom;

typedef struct tm_held {
    union {
        uint32_t in_place[TM_IN_PLACE];
        uint32_t *list; /* owned, when count > TM_IN_PLACE; list[0] is its capacity, the filters follow */
    };
    uint32_t count; /* filters; of a free id: the next free one */
    uint32_t stamp; /* a `contains`: the last message it was found in */
} tm_held;

typedef struct tm_constraint_key {
    union {
        uint64_t bits;    /* one operand: its bits or string id */
        tm_atom *several; /* owned, when there are more */
    };
    uint32_t name;
    uint16_t operand_count;
    uint8_t op; /* with TM_OP_NEGATED */
    uint8_t kind;
} tm_constraint_key;

typedef struct tm_constraints {
    tm_memory *memory; /* borrowed */
    tm_intern names;
    tm_intern strings;
    tm_held *held;
    tm_constraint_key *keys;
    uint32_t held_capacity;
    uint32_t keys_capacity;
    uint32_t count; /* ids ever used, 0 and TRUE included */
    uint32_t free;
    tm_idset ids;
    uint64_t operands;                 /* of all constraints */
    tm_atom scratch[TM_IN_VALUES_MAX]; /* the operands of the constraint that is searched for */
} tm_constraints;

_Static_assert(sizeof(tm_held) == 16, "four to a cache line");
_Static_assert(sizeof(tm_constraint_key) == 16, "as small as a table of millions wants it");

int tm_constraints_init(tm_constraints *constraints, tm_memory *memory);
void tm_constraints_free(tm_constraints *constraints);

/* Find or make the id of `constraint`; `*made`: it was made. A made one has no filters yet: the caller adds one by
 * tm_constraints_attach or removes the constraint by tm_constraints_drop. TM_NO_MEMORY: nothing has changed. */
int tm_constraints_hold(tm_constraints *constraints, const tm_constraint *constraint, uint32_t *id, bool *made);
/* Remove a constraint without filters and release its names and strings. */
void tm_constraints_drop(tm_constraints *constraints, uint32_t id);

/* Add `filter` to a constraint; `*position` is its position. TM_NO_MEMORY: nothing has changed. */
int tm_constraints_attach(tm_constraints *constraints, uint32_t id, uint32_t filter, uint32_t *position);

/* Remove the filter at `position`; the last one moves there and is returned (the removed one, if it was last). */
uint32_t tm_constraints_detach(tm_constraints *constraints, uint32_t id, uint32_t position);

static inline const uint32_t *tm_held_filters(const tm_held *held) {
    return held->count > TM_IN_PLACE ? held->list + 1 : held->in_place;
}

/* true if the constraint is found in the message for the first time. */
static inline bool tm_held_first_time(tm_held *held, uint32_t message) {
    bool first = held->stamp != message;
    held->stamp = message;
    return first;
}

/* Return the operand `index` of a constraint. */
tm_atom tm_constraints_operand(const tm_constraints *constraints, uint32_t id, uint16_t index);

/* Return the key of a number or boolean operand. */
tm_number_key tm_atom_key(const tm_atom *atom);

/* Note one search for each constraint, name and string. */
void tm_constraints_probes(const tm_constraints *constraints, tm_probes *probes);

/* Check hashes, references of names and strings, and free ids: TM_OK, or TM_MISUSED and the reason. */
int tm_constraints_validate(const tm_constraints *constraints, const char **reason);

#endif
