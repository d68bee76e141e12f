/* order_index.h - the numbers, or the strings, that filters compare one attribute with.
 *
 * Law: one sorted set for each shape of constraint, in which those that a value v satisfies are adjacent, strict and
 * non-strict ones side by side because of their tags:
 *
 *     equal     = and in          v's own entries
 *     unequal   !=                all except those
 *     less      <, <=             everything after a place:   ... (v, <) | (v, <=) (w, <) (w, <=) ...
 *     greater   >, >=             everything before a place:  ... (u, >) (v, >=) | (v, >) (w, >=) ...
 *     between   by width          see between_index.h
 */
#ifndef TM_ORDER_INDEX_H
#define TM_ORDER_INDEX_H

#include "engines/papers/between_index.h"

typedef struct tm_order_index {
    tm_ordered equal;
    tm_ordered unequal;
    tm_ordered less;
    tm_ordered greater;
    tm_between_index between;
} tm_order_index;

/* Index the constraint of operator `op` (not negated) under `operand`; a `between` under both its bounds at once.
 * TM_NO_MEMORY: unchanged. */
int tm_order_add(tm_order_index *index, const tm_constraints *constraints, uint8_t op, const tm_atom *operand,
                 uint32_t constraint);
void tm_order_remove(tm_order_index *index, const tm_constraints *constraints, uint8_t op, const tm_atom *operand,
                     uint32_t constraint);
void tm_order_free(tm_order_index *index, tm_memory *memory);

/* Report every constraint that `value` satisfies. `strings` has the interned operands, NULL for an index of numbers,
 * here and below. */
void tm_order_match(const tm_order_index *index, const tm_constraints *constraints, const tm_intern *strings,
                    const tm_probe *value, tm_found *found);

/* Return the probe for an operand, number or interned string. */
tm_probe tm_probe_operand(const tm_intern *strings, const tm_atom *operand);

uint64_t tm_order_count(const tm_order_index *index);
int tm_order_validate(const tm_order_index *index, const tm_intern *strings, const char **reason);

#endif
