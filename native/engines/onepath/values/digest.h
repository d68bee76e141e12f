/* digest.h - the constant, label and patterns of a value, cached for values that recur.
 *
 * Law: a digest is valid for the versions it carries and recomputed when they have changed. The memory of digests is
 * bounded: sets of four, 64 bytes each; a value must recur to displace one that does (every hit of a digest lets it
 * survive three more misses), so a stream of values that occur once does not displace the frequent ones. A value
 * without a digest is recognised by the marks of its set, eight bytes together: no digest is read for it. Values longer
 * than TM_INLINE_BYTES or with more patterns than fit are computed each time, into the caller's scratch.
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
    uint64_t *marks;      /* owned: by set, sixteen bits for each digest in it (digest.c) */
    uint32_t capacity;    /* digests, a power of two */
} onepath_digests;

/* The digest of one value of the present message. */
typedef struct onepath_view {
    const uint32_t *patterns; /* in the caller's scratch; NULL where they did not fit */
    int64_t label;
    uint32_t pattern_count;
    uint32_t constant;
} onepath_view;

void onepath_digests_init(onepath_digests *digests, tm_memory *memory);
void onepath_digests_clear(onepath_digests *digests);

/* Reserve digests for about as many values as there are constants, within bounds; false if out of memory, then nothing
 * changed. */
bool onepath_digests_reserve(onepath_digests *digests, uint32_t constants);

/* Compute the view of a value, or copy it from its digest. The ids of its patterns go to `scratch`, if `capacity` is
 * enough for them; `pattern_count` is right either way. (The view has no pointer into the digests: another value of the
 * message may displace this one's.) */
void onepath_digests_view(onepath_digests *digests, const onepath_strings *strings, onepath_patterns *patterns,
                          const uint8_t *bytes, uint32_t length, uint32_t *scratch, size_t capacity, onepath_view *view,
                          tm_work *work);

#endif
