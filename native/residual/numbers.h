/* numbers.h - comparisons, arithmetic and casts of a residual program.
 *
 * Law: that of protocol/residual/instructions.py; values are passed by copy and what is returned borrows like value.h.
 */
#ifndef TM_RESIDUAL_NUMBERS_H
#define TM_RESIDUAL_NUMBERS_H

#include "residual/value.h"

/* Compare two values that are not unknown. `mixed`: RESIDUAL_MIXED_UNKNOWN, RESIDUAL_NUMBERS_ONLY. */
residual_value residual_compare(residual_op op, residual_value left, residual_value right, uint32_t mixed);

/* Add, subtract, multiply, divide; what are no two numbers give unknown. */
residual_value residual_calculate(residual_op op, residual_value left, residual_value right, residual_arithmetic kind);
residual_value residual_negative(residual_value value, residual_arithmetic kind);

/* Cast a value that is not unknown. */
residual_value residual_cast_to(residual_cast to, residual_value value, residual_arena *arena);

#endif
