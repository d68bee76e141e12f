/* sample.c - counts what sampled messages contain. Law: as in sample.h. */
#include "engines/onepath/cost/sample.h"

#define GUESS_MESSAGES 32.0 /* weight of a guess in messages */
#define CHANCE_SPREADS 3    /* a count is significant above this many chance counts plus CHANCE_LEAST */
#define CHANCE_LEAST 3U

void onepath_sample_begin(onepath_sample *sample) {
    sample->until = ONEPATH_SAMPLE_EVERY;
    if (sample->messages == ONEPATH_SAMPLE_MESSAGES) {
        for (uint32_t i = 0; i < 1U << ONEPATH_SAMPLE_BITS; i++) {
            sample->counts[i] /= 2;
        }
        sample->messages /= 2;
        sample->notes /= 2;
    }
    sample->messages++;
}

void onepath_sample_note(onepath_sample *sample, uint64_t key, const tm_hash_key *hash_key) {
    uint8_t *count = &sample->counts[onepath_sample_at(key, hash_key)];
    *count += *count < UINT8_MAX;
    sample->notes++;
}

double onepath_sample_selectivity(const onepath_sample *sample, uint64_t key, const tm_hash_key *hash_key,
                                  double guess) {
    uint32_t chance = sample->notes >> ONEPATH_SAMPLE_BITS;
    uint32_t count = sample->counts[onepath_sample_at(key, hash_key)];
    double seen = count > CHANCE_SPREADS * chance + CHANCE_LEAST ? count - chance : 0;
    return (guess * GUESS_MESSAGES + seen) / (GUESS_MESSAGES + sample->messages);
}
