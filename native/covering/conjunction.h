/* conjunction.h - the filter of the messages that satisfy two filters, name by name.
 *
 * Law: what is found is right. Of a name in both filters, the constraints of one have to follow from those of the
 * other; a pair that meets otherwise, as `n > 1` and `n < 5` do, is left to the caller.
 *
 *     filter   a > 3            rule   a > 1   b = 1      PART    a > 3   b = 1
 *     filter   a > 3   b = 1    rule   a > 1              WHOLE
 *     filter   a = 3            rule   a = 1   b = 1      NONE
 *     filter   a > 3            rule   a < 9              UNKNOWN
 */
#ifndef TM_CONJUNCTION_H
#define TM_CONJUNCTION_H

#include "model/filter.h"

/* A filter and its wire form, both borrowed. */
typedef struct tm_packed {
    const tm_filter *filter;
    const uint8_t *bytes;
    size_t size;
} tm_packed;

/* Return TM_LEFT_*: what `rule` leaves of `it`, for which a message is known. Of a PART the wire form is written at
 * `out`, which has room for TM_FILTER_BYTES_MAX bytes; `*size` is its length. */
uint8_t tm_conjunction(const tm_packed *it, const tm_packed *rule, uint8_t *out, size_t *size);

#endif
