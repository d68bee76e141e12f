/* order_index.h - the numbers, or the strings, that filters compare one attribute with.
 *
 * Law: one sorted set for each shape of constraint, in which those that a value v satisfies stand together, strict and
 * non-strict ones side by side thanks to their tags:
 *
 *     equal     = and in          v's own entries
 *     unequal   !=                all but those
 *     less      <, <=             everything behind a place:  ... (v, <) | (v, <=) (w, <) (w, <=) ...
 *     greater   >, >=             everything before a place:  ... (u, >) (v, >=) | (v, >) (w, >=) ...
 *     between   by lower bound    everything up to v, each asked for its upper bound: the one set that is searched
 */
#ifndef TM_ORDER_INDEX_H
#define TM_ORDER_INDEX_H

#include "ordered.h"

typedef struct tm_order_index {
    tm_ordered equal;
    tm_ordered unequal;
    tm_ordered less;
    tm_ordered greater;
    tm_ordered between;
} tm_order_index;

/* Index a constraint of operator `op` (not negated) under `operand`. `strings` is where the operand's string is
 * interned, NULL for an index of numbers, here and below. TM_NO_MEMORY: unchanged. */
int tm_order_add(tm_order_index *index, tm_memory *memory, const tm_intern *strings, uint8_t op, const tm_atom *operand,
                 uint32_t constraint);
void tm_order_remove(tm_order_index *index, tm_memory *memory, const tm_intern *strings, uint8_t op,
                     const tm_atom *operand, uint32_t constraint);
void tm_order_free(tm_order_index *index, tm_memory *memory);

/* Hand on every constraint that `value` satisfies. */
void tm_order_match(const tm_order_index *index, const tm_constraints *constraints, const tm_intern *strings,
                    const tm_probe *value, tm_found *found);

/* The probe for an operand, number or interned string. */
tm_probe tm_probe_operand(const tm_intern *strings, const tm_atom *operand);

/* Is `value` at most the upper bound of the `between` constraint `id`? */
bool tm_between_reaches(const tm_constraints *constraints, uint32_t id, const tm_probe *value);

uint64_t tm_order_count(const tm_order_index *index);
int tm_order_validate(const tm_order_index *index, const tm_intern *strings, const char **reason);

#endif
