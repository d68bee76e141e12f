/* sample.h - counts how often each value and name occurs in a sample of messages.
 *
 * Law: one message in ONEPATH_SAMPLE_EVERY is counted, of those that get as far as their values. Counts are halved when
 * there are ONEPATH_SAMPLE_MESSAGES, so that they follow recent messages. Several keys share a count: only counts well
 * above the expected chance count are used, which is all that a choice of paths needs.
 */
#ifndef TM_ONEPATH_SAMPLE_H
#define TM_ONEPATH_SAMPLE_H

#include "base/hash.h"

#define ONEPATH_SAMPLE_EVERY 64U
#define ONEPATH_SAMPLE_MESSAGES 255U /* a count is a byte */
#define ONEPATH_SAMPLE_BITS 11U
#define ONEPATH_SAMPLE_PATTERNS_MAX 8U /* of a value */

typedef struct onepath_sample {
    uint32_t until; /* messages until the next counted one */
    uint32_t messages;
    uint32_t notes; /* the sum of all counts, without their saturation */
    uint8_t counts[1U << ONEPATH_SAMPLE_BITS];
} onepath_sample;

static inline uint32_t onepath_sample_at(uint64_t key, const tm_hash_key *hash_key) {
    return (uint32_t)(tm_hash_u64(key, hash_key) >> (64 - ONEPATH_SAMPLE_BITS));
}

/* Begin a counted message; halves the counts when they are full. */
void onepath_sample_begin(onepath_sample *sample);
/* Count a key of the present message. */
void onepath_sample_note(onepath_sample *sample, uint64_t key, const tm_hash_key *hash_key);
/* Return the probability that a message has the key; `guess` is the estimate before any message. */
double onepath_sample_selectivity(const onepath_sample *sample, uint64_t key, const tm_hash_key *hash_key,
                                  double guess);

#endif
