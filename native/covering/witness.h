/* witness.h - a message that satisfies a filter.
 *
 * Law: every constraint of the filter was evaluated on it. Every filter that covers this one matches its witness, so a
 * table that has those filters finds them with one message.
 */
#ifndef TM_WITNESS_H
#define TM_WITNESS_H

#include "model/filter.h"

/* Room for the longest text that is tried: a start, all required parts, and an end. */
#define WITNESS_TEXT_BYTES (TM_OPERAND_BYTES_MAX + (TM_CONSTRAINTS_MAX + 1U) * (TM_PATTERN_BYTES_MAX + 1U))

/* Large: reuse it as scratch. `attributes` borrow from the filter and from `texts`. A name that may be absent is
 * absent. */
typedef struct tm_witness {
    size_t count;
    tm_attribute attributes[TM_CONSTRAINTS_MAX];
    uint8_t texts[TM_CONSTRAINTS_MAX][WITNESS_TEXT_BYTES];
} tm_witness;

/* Find a witness; false if none was found, though there may be one. */
bool tm_witness_find(const tm_filter *filter, tm_witness *out);

/* true if there is a witness; false if none was found, though there may be one */
bool tm_witness_exists(const tm_filter *filter, tm_witness *scratch);

#endif
