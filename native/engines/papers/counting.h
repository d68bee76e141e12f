/* counting.h - what the two engines of the papers share: constraints counted per filter, filters gathered by interface.
 *
 * Law: a filter matches when as many of its plain constraints were found as it has, and none of its negated ones was
 * vetoed by its plain form. Vetoes are found first, so a count that is full is a match. Each constraint is found at
 * most once a message; each link is reported once and its filters are skipped from then on.
 *
 *     attribute -> name index -> constraint -> its filters -> seat {interface, required, counted} -> link
 */
#ifndef TM_COUNTING_H
#define TM_COUNTING_H

#include "engines/papers/name_index.h"
#include "table/engine.h"

/* A filter as a match sees it. */
typedef struct tm_seat {
    uint32_t interface : 24;
    uint32_t required : 8; /* plain constraints */
    uint32_t state;        /* message << 8 | counted, or TM_SEAT_VETOED; of a free filter: the next free one */
} tm_seat;

#define TM_SEAT_VETOED 0x80u /* more than any count can reach from or to */

/* One constraint of a filter, and where among the constraint's filters this one stands. */
typedef struct tm_reference {
    uint32_t constraint;
    uint32_t position;
} tm_reference;

typedef struct tm_filters {
    tm_seat *seats;
    tm_reference **references; /* owned arrays, one for each filter; NULL for a free one */
    uint8_t *reference_counts;
    uint32_t seat_capacity;
    uint32_t reference_capacity;
    uint32_t reference_count_capacity;
    uint32_t count; /* ever used */
    uint32_t free;
    uint64_t live;
    uint64_t constraints; /* in all live ones, as they were given */
} tm_filters;

typedef struct tm_interfaces {
    uint32_t *filters;  /* how many each has */
    uint64_t *occupied; /* bitsets, one bit for each interface: has filters */
    uint64_t *clients;  /* is a client */
    uint64_t *ignored;  /* of one match: cannot match, or need not */
    uint32_t filter_capacity;
    uint32_t occupied_capacity; /* in words, as the next two */
    uint32_t client_capacity;
    uint32_t ignored_capacity;
    uint64_t in_use;
} tm_interfaces;

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
    tm_memory *memory; /* borrowed */
    tm_constraints constraints;
    tm_text_kind text;
    tm_name_hooks hooks;
    tm_name_slot *names; /* by id of constraints.names */
    uint32_t name_capacity;
    uint32_t negated; /* constraints that can veto */
    tm_filters filters;
    tm_interfaces interfaces;
    uint64_t *links_done; /* of one match with grouping: matched, or no candidate */
    uint32_t link_capacity;
    uint32_t message; /* number of the current one, 24 bits, never 0 */
} tm_counting;

_Static_assert(sizeof(tm_seat) == 8, "eight to a cache line");

int tm_counting_init(tm_counting *core, tm_memory *memory, tm_text_kind text, tm_name_hooks hooks);
void tm_counting_free(tm_counting *core);

int tm_counting_set_interface(tm_counting *core, uint32_t interface, int kind);
int tm_counting_add(tm_counting *core, const tm_filter *filter, uint32_t interface, uint32_t *handle);
int tm_counting_remove(tm_counting *core, uint32_t handle);

static inline bool tm_counting_is_live(const tm_counting *core, uint32_t handle) {
    return handle < core->filters.count && core->filters.references[handle] != NULL;
}

/* The names that a live filter cannot match without: those of its plain constraints, each once. Returns how many. */
uint32_t tm_counting_names(const tm_counting *core, uint32_t handle, uint32_t names[TM_CONSTRAINTS_MAX]);

/* As engine.h has it; `text_bytes` is what a string takes in the text index. */
uint64_t tm_counting_used(const tm_counting *core, uint64_t text_bytes);
void tm_counting_stats(const tm_counting *core, tm_stats *stats);
int tm_counting_validate(const tm_counting *core, const char **reason);

/* A message with its names already looked up (0: no filter mentions it). Borrowed. */
typedef struct tm_named_message {
    const tm_attribute *attributes;
    const uint32_t *names;
    size_t count;
} tm_named_message;

/* Adds the interfaces that cannot match to the bitset `ignored`. */
typedef void (*tm_exclude)(const void *owner, const tm_named_message *message, uint64_t *ignored);

/* Match; `exclude` may be NULL. */
int tm_counting_match(tm_counting *core, const tm_named_message *message, tm_exclude exclude, const void *owner,
                      const tm_query *query, tm_hits *hits);

#endif
