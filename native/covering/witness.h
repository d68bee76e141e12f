/* witness.h - a message that satisfies a filter.
 *
 * Law: every constraint of the filter was evaluated on it. Whatever covers the filter matches its witness, so a matcher
 * that has the others finds them by one message.
 */
#ifndef TM_WITNESS_H
#define TM_WITNESS_H

#include "model/filter.h"

/* Of the longest text that is tried: what a string starts with, all that it has to have, and what it ends with. */
#define WITNESS_TEXT_BYTES (TM_OPERAND_BYTES_MAX + (TM_CONSTRAINTS_MAX + 1U) * (TM_PATTERN_BYTES_MAX + 1U))

/* Large: kept as scratch. `attributes` borrow from the filter and from `texts`. A name that may be absent is. */
typedef struct tm_witness {
    size_t count;
    tm_attribute attributes[TM_CONSTRAINTS_MAX];
    uint8_t texts[TM_CONSTRAINTS_MAX][WITNESS_TEXT_BYTES];
} tm_witness;

/* false: none was found; there may be one all the same. */
bool tm_witness_find(const tm_filter *filter, tm_witness *out);

#endif
