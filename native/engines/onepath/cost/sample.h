/* sample.h - what messages bring: of a few of them, how often each value and name was there.
 *
 * Law: one message in ONEPATH_SAMPLE_EVERY is counted, of those that get as far as their values. Counts are halved when
 * there are ONEPATH_SAMPLE_MESSAGES, so they follow what messages are like now. Several keys share a count: only what
 * stands out of what chance puts there is believed, which is all that a choice of paths needs to know.
 */
#ifndef TM_ONEPATH_SAMPLE_H
#define TM_ONEPATH_SAMPLE_H

#include "base/hash.h"

#define ONEPATH_SAMPLE_EVERY 64U
#define ONEPATH_SAMPLE_MESSAGES 255U /* a count is a byte */
#define ONEPATH_SAMPLE_BITS 11U
#define ONEPATH_SAMPLE_PATTERNS_MAX 8U /* of a value */

typedef struct onepath_sample {
    uint32_t until; /* messages until the next one that is counted */
    uint32_t messages;
    uint32_t notes; /* the sum of all counts, before they stop at a byte's end */
    uint8_t counts[1U << ONEPATH_SAMPLE_BITS];
} onepath_sample;

static inline uint32_t onepath_sample_at(uint64_t key, const tm_hash_key *hash_key) {
    return (uint32_t)(tm_hash_u64(key, hash_key) >> (64 - ONEPATH_SAMPLE_BITS));
}

/* A message more. */
void onepath_sample_begin(onepath_sample *sample);
void onepath_sample_note(onepath_sample *sample, uint64_t key, const tm_hash_key *hash_key);
/* The chance that a message brings the key, guessed to be `guess` before any was seen. */
double onepath_sample_selectivity(const onepath_sample *sample, uint64_t key, const tm_hash_key *hash_key,
                                  double guess);

#endif
