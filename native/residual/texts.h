/* texts.h - what a residual program asks about texts and makes of them.
 *
 * Law: that of protocol/residual/instructions.py. What is returned borrows from the arguments or from the arena.
 */
#ifndef TM_RESIDUAL_TEXTS_H
#define TM_RESIDUAL_TEXTS_H

#include "residual/value.h"

/* PREFIX, SUFFIX, CONTAINS, SAME_FOLDED of two texts. */
bool residual_has(residual_op op, residual_value text, residual_value part, bool is_folded);

/* true if the text is an address of IPv4 or IPv6 inside the network. */
bool residual_is_inside(residual_value text, residual_constant network);

/* LENGTH, UPPER, LOWER, TRIM of a text. */
residual_value residual_of_text(residual_op op, residual_value text, residual_arena *arena);

residual_value residual_concat(residual_value left, residual_value right, residual_arena *arena);
residual_value residual_substring(residual_value text, residual_value start, residual_value length);
/* LEFT and RIGHT. */
residual_value residual_side(residual_op op, residual_value text, residual_value length);

#endif
