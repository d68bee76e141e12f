/* text_index.h - the interface of an index of the strings of one attribute, and its two implementations.
 *
 * Law: an index reports each constraint that a text satisfies, once. It never allocates while matching.
 */
#ifndef TM_TEXT_INDEX_H
#define TM_TEXT_INDEX_H

#include "engines/papers/constraints.h"
#include "engines/papers/found.h"

typedef struct tm_text_index tm_text_index; /* each implementation has its own struct */

typedef struct tm_text_class {
    /* `shared` is what the indexes of one table share; borrowed. NULL if out of memory. */
    tm_text_index *(*create)(tm_constraints *constraints, void *shared);
    void (*destroy)(tm_text_index *index); /* NULL is allowed */
    /* Index `constraint`, of operator `op` (not negated), under the interned `string`. TM_NO_MEMORY: unchanged. */
    int (*add)(tm_text_index *index, uint8_t op, uint32_t string, uint32_t constraint);
    void (*remove)(tm_text_index *index, uint8_t op, uint32_t string, uint32_t constraint);
    void (*match)(const tm_text_index *index, const uint8_t *text, uint32_t length, tm_found *found);
    uint64_t (*count)(const tm_text_index *index); /* pairs of operand and constraint */
    int (*validate)(const tm_text_index *index, const char **reason);
} tm_text_class;

/* Sorted sets, which paper 000 uses for every type (engine_counting.c). */
extern const tm_text_class tm_text_sets;

/* The extended ternary search trie of paper 004 (engine_sff.c). */
extern const tm_text_class tm_text_trie;

#endif
