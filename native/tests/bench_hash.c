/* bench_hash.c - what the candidates of docs/decisions/0008 cost: nanoseconds for one hash of so many bytes.
 *
 *     gcc -O3 -std=c11 -I.. bench_hash.c ../base/hash.c -o build/bench_hash && build/bench_hash [LENGTH CANDIDATE]
 *
 * With arguments only that one runs, a million times: for callgrind.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"

#define ROUNDS 1000000
#define TEXTS 64
#define TEXT_BYTES 1040

static uint8_t texts[TEXTS][TEXT_BYTES];

/* ---- what there was: the head, eight bytes a product, one secret ---- */

static inline uint64_t old_mix(uint64_t a, uint64_t b) {
    return tm_fold(a ^ UINT64_C(0x9e3779b97f4a7c15), b ^ UINT64_C(0xe7037ed1a0b428db));
}

static __attribute__((noinline)) uint64_t old(const uint8_t *bytes, size_t size, const tm_hash_key *key) {
    tm_head head = tm_head_of(bytes, size);
    uint64_t hash = old_mix(head.low ^ key->low, head.high ^ (size * UINT64_C(0x8ebc6af09c88c6e3)));
    for (size_t at = 8; at + 8 < size; at += 8) {
        hash = old_mix(hash ^ tm_load64(bytes + at), UINT64_C(0x589965cc75374cc3));
    }
    return hash;
}

/* ---- what there is ---- */

static __attribute__((noinline)) uint64_t keyed(const uint8_t *bytes, size_t size, const tm_hash_key *key) {
    return tm_hash_text(bytes, size, key);
}

/* ---- SipHash-1-3 ---- */

static inline uint64_t rotated(uint64_t word, unsigned bits) {
    return word << bits | word >> (64 - bits);
}

typedef struct sip {
    uint64_t v[4];
} sip;

static inline void sip_round(sip *s) {
    s->v[0] += s->v[1];
    s->v[1] = rotated(s->v[1], 13) ^ s->v[0];
    s->v[0] = rotated(s->v[0], 32);
    s->v[2] += s->v[3];
    s->v[3] = rotated(s->v[3], 16) ^ s->v[2];
    s->v[0] += s->v[3];
    s->v[3] = rotated(s->v[3], 21) ^ s->v[0];
    s->v[2] += s->v[1];
    s->v[1] = rotated(s->v[1], 17) ^ s->v[2];
    s->v[2] = rotated(s->v[2], 32);
}

static inline void sip_word(sip *s, uint64_t word) {
    s->v[3] ^= word;
    sip_round(s);
    s->v[0] ^= word;
}

static __attribute__((noinline)) uint64_t siphash(const uint8_t *bytes, size_t size, const tm_hash_key *key) {
    sip s = {{key->low ^ UINT64_C(0x736f6d6570736575), key->high ^ UINT64_C(0x646f72616e646f6d),
              key->low ^ UINT64_C(0x6c7967656e657261), key->high ^ UINT64_C(0x7465646279746573)}};
    size_t at = 0;
    for (; at + 8 <= size; at += 8) {
        sip_word(&s, tm_load64(bytes + at));
    }
    uint64_t last = (uint64_t)size << 56;
    for (unsigned i = 0; at + i < size; i++) {
        last |= (uint64_t)bytes[at + i] << 8 * i;
    }
    sip_word(&s, last);
    s.v[2] ^= 0xff;
    sip_round(&s);
    sip_round(&s);
    sip_round(&s);
    return s.v[0] ^ s.v[1] ^ s.v[2] ^ s.v[3];
}

/* ---- the clock ---- */

typedef uint64_t (*candidate)(const uint8_t *bytes, size_t size, const tm_hash_key *key);

static uint64_t run(candidate hash, size_t size, const tm_hash_key *key) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        sum += hash(texts[(sum ^ i) % TEXTS], size, key); /* one after the other, as a lookup waits for its hash */
    }
    return sum;
}

static double best_ns(candidate hash, size_t size, const tm_hash_key *key) {
    double best = 1e9;
    for (int pass = 0; pass < 5; pass++) {
        clock_t start = clock();
        volatile uint64_t sum = run(hash, size, key);
        (void)sum;
        double ns = (double)(clock() - start) / CLOCKS_PER_SEC * 1e9 / ROUNDS;
        best = ns < best ? ns : best;
    }
    return best;
}

int main(int argc, char **argv) {
    static const candidate CANDIDATES[] = {old, keyed, siphash};
    static const size_t LENGTHS[] = {4, 10, 16, 24, 64, 256, 1024};
    tm_hash_key key = tm_hash_key_of((uint64_t)time(NULL));
    for (size_t i = 0; i < sizeof texts; i++) {
        texts[i / TEXT_BYTES][i % TEXT_BYTES] = (uint8_t)(i * 37 + i / 256);
    }
    if (argc == 3) {
        return run(CANDIDATES[atoi(argv[2])], (size_t)atoi(argv[1]), &key) == 0;
    }
    printf("| bytes | old | this | SipHash-1-3 |\n|---|---:|---:|---:|\n");
    for (size_t l = 0; l < sizeof LENGTHS / sizeof *LENGTHS; l++) {
        printf("| %zu |", LENGTHS[l]);
        for (unsigned c = 0; c < 3; c++) {
            printf(" %.1f |", best_ns(CANDIDATES[c], LENGTHS[l], &key));
        }
        printf("\n");
    }
    return 0;
}
