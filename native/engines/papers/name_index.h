/* name_index.h - every constraint on one attribute name: a switch on the type of the value, then an index of that type.
 *
 * Law: a constraint is in the index of the kind of each of its operands (`in` may have several), `exists` in none.
 * Plain and negated constraints never share an index: a match of a negated constraint's plain form is a veto.
 */
#ifndef TM_NAME_INDEX_H
#define TM_NAME_INDEX_H

#include "engines/papers/order_index.h"
#include "engines/papers/text_index.h"

typedef struct tm_name_index {
    uint32_t exists;      /* the constraint, or 0 */
    uint32_t constraints; /* number of constraints */
    tm_order_index booleans;
    tm_order_index numbers;
    tm_text_index *strings; /* owned; NULL until it has one */
} tm_name_index;

/* The string index of a table. */
typedef struct tm_text_kind {
    const tm_text_class *class;
    void *shared; /* borrowed */
} tm_text_kind;

/* Index the constraint `id`. TM_NO_MEMORY: unchanged. */
int tm_name_index_add(tm_name_index *index, tm_constraints *constraints, tm_text_kind kind, uint32_t id);
void tm_name_index_remove(tm_name_index *index, tm_constraints *constraints, tm_text_kind kind, uint32_t id);
void tm_name_index_free(tm_name_index *index, tm_memory *memory, tm_text_kind kind);

/* Report every constraint whose plain form the attribute satisfies. */
void tm_name_index_match(const tm_name_index *index, const tm_constraints *constraints, tm_text_kind kind,
                         const tm_attribute *attribute, tm_found *found);

/* TM_OK, or TM_MISUSED and the reason. `*operands` is the number of operands in the index, `exists` counted as one. */
int tm_name_index_validate(const tm_name_index *index, tm_text_kind kind, uint64_t *operands, const char **reason);

#endif
