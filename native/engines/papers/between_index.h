/* between_index.h - the `between` constraints of one attribute, numbers or strings, by width and then by lower bound.
 *
 * Law: a constraint of a width reaches no further than that width above its lower bound (grid.h), so that of each width
 * only the lower bounds that close below a value are read, and their bounds compared exactly. No width is empty.
 */
#ifndef TM_BETWEEN_INDEX_H
#define TM_BETWEEN_INDEX_H

#include "engines/papers/ordered.h"

typedef struct tm_between_width {
    tm_ordered set; /* places of lower bounds */
    uint32_t bits;
} tm_between_width;

typedef struct tm_between_index {
    tm_between_width *widths; /* owned; by bits */
    uint32_t count;
    uint32_t capacity;
} tm_between_index;

/* Index the constraint `id`. TM_NO_MEMORY: unchanged. */
int tm_between_add(tm_between_index *index, const tm_constraints *constraints, uint32_t id);
void tm_between_remove(tm_between_index *index, const tm_constraints *constraints, uint32_t id);
void tm_between_free(tm_between_index *index, tm_memory *memory);

/* Report every constraint that `value` satisfies. */
void tm_between_match(const tm_between_index *index, const tm_constraints *constraints, const tm_probe *value,
                      tm_found *found);

/* true if `value` is at most the upper bound of the constraint. */
bool tm_between_reaches(const tm_constraints *constraints, uint32_t id, const tm_probe *value);

uint64_t tm_between_count(const tm_between_index *index);
int tm_between_validate(const tm_between_index *index, const char **reason);

#endif
