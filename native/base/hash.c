/* hash.c - see hash.h. */
#include "base/hash.h"

/* Sixteen bytes a product; the last sixteen, which may overlap those before, with a secret of their own. */
uint64_t tm_hash_long(const uint8_t *bytes, size_t size, const tm_hash_key *key) {
    uint64_t hash = key->factor;
    for (size_t at = 0; at + 16 < size; at += 16) {
        hash = tm_fold(tm_load64(bytes + at) ^ key->low, tm_load64(bytes + at + 8) ^ hash);
    }
    const uint8_t *last = bytes + size - 16;
    hash = tm_fold(tm_load64(last) ^ key->high, tm_load64(last + 8) ^ hash);
    return tm_fold(hash ^ size, key->factor);
}

/* SplitMix64: every bit of the seed flips half of the bits of each word on average. */
static uint64_t next_word(uint64_t *state) {
    uint64_t word = *state += 0x9e3779b97f4a7c15U;
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9U;
    word = (word ^ word >> 27) * 0x94d049bb133111ebU;
    return word ^ word >> 31;
}

tm_hash_key tm_hash_key_of(uint64_t seed) {
    tm_hash_key key;
    key.low = next_word(&seed);
    key.high = next_word(&seed);
    key.factor = next_word(&seed) | 1;
    return key;
}
