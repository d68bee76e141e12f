/* shape.h - the names of the message before: those of the next one are nearly always the same, in the same order.
 *
 * Law: `count` names were valid and distinct together; a name at its place again needs no second look, and what was
 * remembered of it (memo) is still about it. Only short names take part.
 */
#ifndef TM_SHAPE_H
#define TM_SHAPE_H

#include "hash.h"
#include "tm.h"

typedef struct tm_shape {
    uint32_t count;                  /* 0: nothing is known */
    uint8_t tags[TM_ATTRIBUTES_MAX]; /* first byte of the name as msgpack; 0: a long one, never the same */
    uint64_t low[TM_ATTRIBUTES_MAX]; /* its bytes, sixteen at most, zeroes behind them */
    uint64_t high[TM_ATTRIBUTES_MAX];
    uint64_t memo[TM_ATTRIBUTES_MAX]; /* for tm_query; cleared where a name changes */
} tm_shape;

/* As tm_attributes_decode, with the names compared with those of `shape`, which then has the new ones. Whatever they
 * are, TM_SHAPE_SLACK bytes behind `size` are there to be read. */
#define TM_SHAPE_SLACK 16
int tm_attributes_decode_like(tm_shape *shape, const uint8_t *bytes, size_t size, tm_attribute *out, size_t *count,
                              size_t *used);

#endif
