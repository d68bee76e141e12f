/* folded_names.h - the names of attributes that filters of the index have conditions on without regard to case.
 *
 * A subscription with a residual program may come with filters for the index, whose conditions on `name~` are about the
 * text of the attribute `name`, folded. They take the place of its other filters, which are wider.
 *
 * Law: a name is here as long as such a filter of a subscription has it.
 */
#ifndef TM_SWITCH_FOLDED_NAMES_H
#define TM_SWITCH_FOLDED_NAMES_H

#include "base/idset.h"

#define FOLDED_MARK '~' /* at the end of the name that a folded text has. Equal to protocol/residual/cases.py */
#define FOLDED_NONE 0U

typedef struct tm_folded_name {
    uint8_t *marked; /* owned: the name with the mark; NULL: the row is free */
    uint32_t length; /* with the mark */
    uint32_t uses;   /* conditions on it */
    uint32_t next_free;
} tm_folded_name;

typedef struct tm_folded_names {
    tm_memory *memory;    /* borrowed */
    tm_folded_name *rows; /* owned; number n is row n - 1 */
    uint32_t count;
    uint32_t capacity;
    uint32_t free; /* first free row + 1; 0: none */
    uint32_t live;
    uint64_t version; /* changes with the names */
    tm_idset set;     /* of numbers, by name without the mark */
} tm_folded_names;

void tm_folded_names_init(tm_folded_names *names, tm_memory *memory);
void tm_folded_names_clear(tm_folded_names *names);

/* Note the names that a packed filter, which is well-formed, has conditions on; returns TM_OK, or TM_NO_MEMORY with
 * nothing noted. */
int tm_folded_names_add(tm_folded_names *names, const uint8_t *filter, uint32_t size);
void tm_folded_names_remove(tm_folded_names *names, const uint8_t *filter, uint32_t size);

/* Return the number of an attribute's name, without the mark, or FOLDED_NONE. */
uint32_t tm_folded_names_find(const tm_folded_names *names, const uint8_t *name, uint32_t length);

static inline const tm_folded_name *tm_folded_names_at(const tm_folded_names *names, uint32_t number) {
    return &names->rows[number - 1];
}

#endif
