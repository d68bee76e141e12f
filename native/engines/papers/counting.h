/* counting.h - what the two engines of the papers share: constraints counted per filter, filters gathered by interface.
 *
 * Law: a filter matches when as many of its plain constraints were found as it has, and none of its negated ones was
 * vetoed by its plain form. Vetoes are found first, so a count that is full is a match. Each constraint is found at
 * most once a message; filters of what has matched are
 * skipped (table/answer.h).
 *
 *     attribute -> name index -> constraint -> its filters -> seat {interface, required, counted} -> link
 */
#ifndef TM_COUNTING_H
#define TM_COUNTING_H

#include "base/arena.h"
#include "engines/papers/name_index.h"
#include "table/engine.h"

/* A filter as a match sees it. */
typedef struct tm_seat {
    uint32_t interface : 24;
    uint32_t required : 8; /* plain constraints */
    uint32_t state;        /* message << 8 | counted, or TM_SEAT_VETOED */
} tm_seat;

#define TM_SEAT_VETOED 0x80u /* more than any count can reach from or to */

/* One constraint of a filter, and where among the constraint's filters this one stands. */
typedef struct tm_reference {
    uint32_t constraint;
    uint32_t position;
} tm_reference;

typedef struct tm_filters {
    tm_seat *seats;       /* by handle, as the next two */
    uint32_t *references; /* blocks of the arena: an array of tm_reference each; 0: no filter */
    uint8_t *reference_counts;
    tm_arena arena; /* cold */
    uint32_t seat_capacity;
    uint32_t reference_capacity;
    uint32_t reference_count_capacity;
} tm_filters;

_Static_assert(sizeof(tm_reference) == sizeof(uint64_t), "a reference is a unit of the arena");

/* The constraints on one name: plain ones count, the plain forms of negated ones veto. Owned; NULL while empty. */
typedef struct tm_name_slot {
    tm_name_index *plain;
    tm_name_index *veto;
} tm_name_slot;

/* What an engine does when the first constraint on a name comes, and when the last one has gone. */
typedef struct tm_name_hooks {
    int (*added)(void *owner, uint32_t name);
    void (*removed)(void *owner, uint32_t name);
    void *owner;
} tm_name_hooks;

typedef struct tm_counting {
    tm_memory *memory;         /* borrowed */
    const tm_holders *holders; /* borrowed */
    tm_constraints constraints;
    tm_text_kind text;
    tm_name_hooks hooks;
    tm_name_slot *names; /* by id of constraints.names */
    uint32_t name_capacity;
    uint32_t negated; /* constraints that can veto */
    tm_filters filters;
    uint64_t live;       /* filters in here: an engine may keep others elsewhere */
    uint64_t referenced; /* constraints of these */
    uint32_t message;    /* number of the current one, 24 bits, never 0 */
} tm_counting;

_Static_assert(sizeof(tm_seat) == 8, "eight to a cache line");

int tm_counting_init(tm_counting *core, const tm_holders *holders, tm_text_kind text, tm_name_hooks hooks);
void tm_counting_free(tm_counting *core);

/* TM_NO_MEMORY: unchanged. */
int tm_counting_add(tm_counting *core, const tm_filter *filter, uint32_t interface, uint32_t handle);
/* The filter is there; whoever calls this releases its handle afterwards. */
void tm_counting_remove(tm_counting *core, uint32_t handle);

/* The references of a filter, until another one is added or removed. */
static inline tm_reference *tm_counting_references(const tm_counting *core, uint32_t handle) {
    return (tm_reference *)tm_arena_at(&core->filters.arena, core->filters.references[handle]);
}

/* The names that a live filter cannot match without: those of its plain constraints, each once. Returns how many. */
uint32_t tm_counting_names(const tm_counting *core, uint32_t handle, uint32_t names[TM_CONSTRAINTS_MAX]);

/* As engine.h has it; `text_bytes` is what a string takes in the text index. */
uint64_t tm_counting_used(const tm_counting *core, uint64_t text_bytes);
void tm_counting_stats(const tm_counting *core, tm_stats *stats);
int tm_counting_validate(const tm_counting *core, const char **reason);
/* The same where no filter is elsewhere. */
int tm_counting_validate_all(const tm_counting *core, const char **reason);

/* A message with its names already looked up (0: no filter mentions it). Borrowed. */
typedef struct tm_named_message {
    const tm_attribute *attributes;
    const uint32_t *names;
    size_t count;
} tm_named_message;

/* Interfaces that cannot match, as a bitset that covers every interface with filters; NULL: nobody has looked. */
typedef struct tm_excluded {
    const uint64_t *bits;
    uint32_t words;
} tm_excluded;

void tm_counting_match(tm_counting *core, const tm_named_message *message, tm_excluded excluded, tm_answer *answer);

#endif
