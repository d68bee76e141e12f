/* digest.h - what the table's string constants say about one value, remembered for the values that come back.
 *
 * Law: a digest is right for the versions it carries and recomputed when they moved on. The memory of digests is
 * bounded: sets of four, 64 bytes each; a value must come back to displace one that does (every hit of a digest makes
 * it survive three more misses), so a stream of values seen once does not wash out the hot ones. A value that is not
 * remembered is known by the marks of its set, eight bytes together: no digest is read for it. Values longer than
 * TM_INLINE_BYTES or with more patterns than fit are computed each time, into the caller's scratch.
 */
#ifndef TM_ONEPATH_DIGEST_H
#define TM_ONEPATH_DIGEST_H

#include "engines/onepath/values/patterns.h"
#include "engines/onepath/values/strings.h"

#define ONEPATH_DIGEST_PATTERNS 6
#define ONEPATH_DIGESTS_MAX 65536U /* 4 MiB: of a table whose constants take more than three times as much */

typedef struct onepath_digest {
    tm_head head;
    int64_t label; /* among the ordered constants */
    uint32_t length;
    uint32_t constant; /* id of the equal constant or TM_NO_STRING */
    uint32_t version;  /* mixes the versions of strings, order and patterns */
    uint32_t pattern_count;
    uint32_t patterns[ONEPATH_DIGEST_PATTERNS];
} onepath_digest;

_Static_assert(sizeof(onepath_digest) == 64, "one cache line");

typedef struct onepath_digests {
    tm_memory *memory;    /* borrowed */
    onepath_digest *sets; /* owned */
    uint64_t *marks;      /* owned: by set, sixteen bits for each digest of it: see digest.c */
    uint32_t capacity;    /* digests, a power of two */
} onepath_digests;

/* One value of the message at hand. */
typedef struct onepath_view {
    const uint32_t *patterns; /* in the caller's scratch; NULL where they did not fit */
    int64_t label;
    uint32_t pattern_count;
    uint32_t constant;
} onepath_view;

void onepath_digests_init(onepath_digests *digests, tm_memory *memory);
void onepath_digests_clear(onepath_digests *digests);

/* Room for about as many values as there are constants, within bounds; false: no memory, nothing changed. */
bool onepath_digests_reserve(onepath_digests *digests, uint32_t constants);

/* Look at a value. The ids of its patterns go to `scratch`, where they fit in `capacity`; `pattern_count` is right
 * either way. (Nothing points into the digests: another value of the same message may displace this one's.) */
void onepath_digests_view(onepath_digests *digests, const onepath_strings *strings, onepath_patterns *patterns,
                          const uint8_t *bytes, uint32_t length, uint32_t *scratch, size_t capacity, onepath_view *view,
                          tm_work *work);

#endif
