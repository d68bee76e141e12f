/* selectivity.h - the interfaces that a message cannot match because it lacks a name, or a value of a type under it.
 *
 * Law: a name is a determinant of an interface when every filter of it has a plain constraint on the name (a negated
 * one holds without it); where determinants are typed, names stand for pairs of a name and a type (counting.h). The
 * selectivity table is the `rounds` names that are determinants of the most interfaces, each with the exact set of
 * those after every addition and removal. The names are chosen again only after half as many determinants have changed
 * as there are, so a change costs little on average.
 *
 * An interface of few filters is walked to find its determinants; for one of many, names are counted.
 */
#ifndef TM_SELECTIVITY_H
#define TM_SELECTIVITY_H

#include "engines/papers/counting.h"

#define TM_ROUNDS_MAX 256

/* How often a name occurs in the filters of an interface that has many. */
typedef struct tm_occurrence {
    uint32_t interface;
    tm_need name;
    uint32_t count; /* of a free one: the next free one */
} tm_occurrence;

/* A row of the table: the interfaces that a message without `name` cannot match. */
typedef struct tm_round {
    uint64_t *interfaces; /* owned bitset */
    uint32_t capacity;    /* words */
    tm_need name;
} tm_round;

typedef struct tm_selectivity {
    const tm_counting *core; /* borrowed */
    tm_memory *memory;       /* borrowed */
    uint32_t *first;         /* by interface: a filter of it, plus one; 0 for none */
    uint32_t *next;          /* by filter: another one of its interface, plus one; 0 for none */
    uint32_t *previous;
    uint32_t *determined;       /* by name: number of interfaces that it is a determinant of */
    uint32_t *row;              /* by name: its round, plus one; 0 for none */
    uint64_t *excluded;         /* scratch of a match: bitset over interfaces */
    uint32_t excluded_capacity; /* words */
    uint32_t first_capacity, next_capacity, previous_capacity, determined_capacity, row_capacity;
    tm_occurrence *occurrences; /* [0] unused */
    uint32_t occurrence_capacity, occurrence_count, occurrence_free;
    tm_idset occurrence_ids;
    tm_round *rounds; /* `wanted` of them, `count` in use, most selective first */
    bool typed;
    uint32_t wanted;
    uint32_t count;
    uint64_t total;   /* determinants of all interfaces */
    uint64_t changes; /* since the table was last sorted */
} tm_selectivity;

/* Initialise the table; `rounds` is at most TM_ROUNDS_MAX. TM_NO_MEMORY: the caller frees it. */
int tm_selectivity_init(tm_selectivity *table, const tm_counting *core, uint32_t rounds, bool typed);
void tm_selectivity_free(tm_selectivity *table);

/* Add `filter`, which the core has just added. TM_NO_MEMORY: unchanged. */
int tm_selectivity_add(tm_selectivity *table, uint32_t filter);

/* Remove `filter`, which the core is about to remove. */
void tm_selectivity_remove(tm_selectivity *table, uint32_t filter);

/* Return the interfaces that the message cannot match; valid until the next call. */
tm_excluded tm_selectivity_exclude(tm_selectivity *table, const tm_named_message *message);

/* Return the number of interfaces excluded for the last message. */
uint64_t tm_selectivity_excluded(const tm_selectivity *table);

int tm_selectivity_validate(const tm_selectivity *table, const char **reason);

#endif
