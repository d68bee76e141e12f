/* counting.h - the core of the engines of the papers: constraints counted per filter, filters gathered by interface.
 *
 * Law: a filter matches when as many of its plain constraints were found as it has, and none of its negated ones was
 * vetoed by its plain form. Vetoes are found first, so a count that is full is a match. Each constraint is found at
 * most once a message. The treatment of filters of interfaces that have matched, and the storage of counts, are options
 * (tm_counting_ways), which change no answer.
 *
 *     attribute -> name index -> constraint -> its filters -> seat {interface, required, counted} -> link
 */
#ifndef TM_COUNTING_H
#define TM_COUNTING_H

#include "base/arena.h"
#include "engines/papers/counter_tree.h"
#include "engines/papers/counters.h"
#include "engines/papers/name_index.h"
#include "table/engine.h"

/* When a match tests whether the interface of a filter has matched, or is excluded: the short circuit of the papers. */
typedef enum {
    TM_CIRCUIT_OFF,     /* for its answer only: everything found is counted */
    TM_CIRCUIT_AT_FULL, /* where a count is full; the match ends with the last interface */
    TM_CIRCUIT_EACH,    /* before each count, as in the papers; the match ends with the last interface */
} tm_circuit;

/* The storage of the counts of a match. */
typedef enum {
    TM_COUNTERS_FLAT, /* beside the filter's interface */
    TM_COUNTERS_HASH, /* in a map with those of the message only, as the papers print it: a hash */
    TM_COUNTERS_TREE, /* in such a map: a search tree */
} tm_counter_kind;

typedef struct tm_counting_ways {
    tm_circuit circuit;
    tm_counter_kind counters;
} tm_counting_ways;

/* These options in the table of an engine. */
#define TM_CIRCUIT_OPTION                                                                                              \
    {.name = "circuit",                                                                                                \
     .about =                                                                                                          \
         "When a match checks whether the interface of a filter has matched: never, at a full count, or each time.",   \
     .values = "off at-full each",                                                                                     \
     .most = TM_CIRCUIT_EACH,                                                                                          \
     .standard = TM_CIRCUIT_AT_FULL}
#define TM_COUNTERS_OPTION                                                                                             \
    {.name = "counters",                                                                                               \
     .about = "Where counts are stored: in an array of all filters, or in a hash or search tree of those reached.",    \
     .values = "flat hash tree",                                                                                       \
     .most = TM_COUNTERS_TREE,                                                                                         \
     .standard = TM_COUNTERS_FLAT}

/* The part of a filter that a match reads. */
typedef struct tm_seat {
    uint32_t interface : 24;
    uint32_t required : 8; /* plain constraints */
    uint32_t state;        /* message << 8 | counted, or TM_COUNT_VETOED */
} tm_seat;

/* One constraint of a filter, and the position of the filter in the list of the constraint. */
typedef struct tm_reference {
    uint32_t constraint;
    uint32_t position;
} tm_reference;

typedef struct tm_filters {
    tm_seat *seats;       /* by handle, as are the next two */
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

/* Calls to an engine when the first constraint on a name was added, and when the last one was removed. */
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
    uint64_t live;       /* filters in this core: an engine may have others elsewhere */
    uint64_t referenced; /* constraints of these */
    tm_counting_ways ways;
    tm_counters counters; /* with TM_COUNTERS_HASH: room for the counts of all filters */
    tm_counter_tree tree; /* with TM_COUNTERS_TREE: room for the counts of all filters */
    uint32_t message;     /* number of the current one, 24 bits, never 0 */
    uint64_t updates;     /* of counters, in all matches */
    uint64_t skipped;     /* counts that were skipped */
} tm_counting;

_Static_assert(sizeof(tm_seat) == 8, "eight to a cache line");

int tm_counting_init(tm_counting *core, const tm_holders *holders, tm_text_kind text, tm_name_hooks hooks,
                     tm_counting_ways ways);
void tm_counting_free(tm_counting *core);

/* Add a filter. TM_NO_MEMORY: unchanged. */
int tm_counting_add(tm_counting *core, const tm_filter *filter, uint32_t interface, uint32_t handle);
/* Remove a filter, which must be there; the caller releases its handle afterwards. */
void tm_counting_remove(tm_counting *core, uint32_t handle);

/* Return the references of a filter, valid until another one is added or removed. */
static inline tm_reference *tm_counting_references(const tm_counting *core, uint32_t handle) {
    return (tm_reference *)tm_arena_at(&core->filters.arena, core->filters.references[handle]);
}

/* A requirement of a filter on messages: a name, or a name and a type: name * TM_TYPES + type. */
typedef uint32_t tm_need;

#define TM_TYPES 4U
#define TM_TYPE_ANY 0U

/* Return the type of a value of this kind; all numbers have one type. */
static inline uint32_t tm_type_of(uint8_t kind) {
    return kind == TM_KIND_BOOLEAN ? 1 : kind == TM_KIND_STRING ? 2 : 3;
}

/* Write the needs of a live filter: for each of its plain constraints the name and, if `typed`, the type of the value,
 * each once. Returns their number. */
uint32_t tm_counting_needs(const tm_counting *core, uint32_t handle, bool typed, tm_need needs[TM_CONSTRAINTS_MAX]);

/* Return the memory of the filters, as defined in engine.h; `text_bytes` is the memory of a string in the text
 * index. */
uint64_t tm_counting_used(const tm_counting *core, uint64_t text_bytes);
void tm_counting_stats(const tm_counting *core, tm_stats *stats);

/* A message whose names are already looked up (0: no filter has it). Borrowed. */
typedef struct tm_named_message {
    const tm_attribute *attributes;
    const uint32_t *names;
    size_t count;
} tm_named_message;

/* Interfaces that cannot match, as a bitset over every interface with filters; NULL: unknown. */
typedef struct tm_excluded {
    const uint64_t *bits;
    uint32_t words;
} tm_excluded;

#endif
