/* numbers.h - comparisons, arithmetic and casts of a residual program.
 *
 * Law: that of protocol/residual/instructions.py; values are passed by copy and what is returned borrows like value.h.
 */
#ifndef TM_RESIDUAL_NUMBERS_H
#define TM_RESIDUAL_NUMBERS_H

#include "residual/value.h"

/* Return whether a comparison holds for this order: less, equal or greater than 0. */
static inline bool residual_holds(residual_op op, int order) {
    static const uint8_t ORDERS[] = {/* a bit for each order in which it holds */
                                     [RESIDUAL_EQ] = 2, [RESIDUAL_NE] = 5, [RESIDUAL_LT] = 1,
                                     [RESIDUAL_LE] = 3, [RESIDUAL_GT] = 4, [RESIDUAL_GE] = 6};
    unsigned place = order < 0 ? 0 : order == 0 ? 1 : 2;
    return (ORDERS[op] >> place & 1) != 0;
}

/* Compare two values that are not unknown. `mixed`: RESIDUAL_MIXED_UNKNOWN, RESIDUAL_NUMBERS_ONLY. */
residual_value residual_compare(residual_op op, residual_value left, residual_value right, uint32_t mixed);

/* Add, subtract, multiply, divide; what are no two numbers give unknown. */
residual_value residual_calculate(residual_op op, residual_value left, residual_value right, residual_arithmetic kind);
residual_value residual_negative(residual_value value, residual_arithmetic kind);

/* Cast a value that is not unknown. */
residual_value residual_cast_to(residual_cast to, residual_value value, residual_arena *arena);

#endif
