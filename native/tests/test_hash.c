/* test_hash.c - an adversary who has read hash.h and does not know the key: families of names, strings and numbers that
 * an unkeyed hash, or one that leaves bytes out, puts into few buckets.
 *
 * Law: whatever the family and whatever the seed, keys spread over every part of the hash that a table looks at as
 * balls thrown at random do.
 */
#include <string.h>

#include "base/hash.h"
#include "support.h"

#define KEYS 4096U
#define BUCKETS 4096U
#define BUCKET_MAX 14U /* of 4,096 random balls in 4,096 buckets, one in 10^7 trials has one so full */
#define SEEDS 8U
#define LENGTH_MAX 1024U

/* Where tables look: low bits (open addressing), 32 bits (slots of names and strings), the bits of a segment and of a
 * place in it (buckets). */
static const unsigned SHIFTS[] = {0, 20, 32, 52};

typedef struct counts {
    uint32_t counts[4][BUCKETS];
    uint32_t low[KEYS]; /* 32 bits of each */
} counts;

static counts all;

static void note(uint32_t i, uint64_t hash) {
    for (unsigned part = 0; part < 4; part++) {
        all.counts[part][hash >> SHIFTS[part] & (BUCKETS - 1)]++;
    }
    all.low[i] = (uint32_t)hash;
}

static int by_value(const void *a, const void *b) {
    const uint32_t *x = a;
    const uint32_t *y = b;
    return (*x > *y) - (*x < *y);
}

static void check_spread(const char *family, uint32_t length, uint64_t seed) {
    for (unsigned part = 0; part < 4; part++) {
        for (uint32_t at = 0; at < BUCKETS; at++) {
            CHECK(all.counts[part][at] <= BUCKET_MAX, "%s, %u bytes, seed %llu: %u keys under bit %u", family, length,
                  (unsigned long long)seed, all.counts[part][at], SHIFTS[part]);
        }
    }
    qsort(all.low, KEYS, sizeof *all.low, by_value);
    uint32_t equal = 0;
    for (uint32_t i = 1; i < KEYS; i++) {
        equal += all.low[i] == all.low[i - 1];
    }
    CHECK(equal <= 2, "%s, %u bytes, seed %llu: %u pairs with equal hashes", family, length, (unsigned long long)seed,
          equal);
    memset(&all, 0, sizeof all);
}

/* ---- texts ---- */

#define OLD_K2 UINT64_C(0xe7037ed1a0b428db)
#define OLD_SIZE UINT64_C(0x8ebc6af09c88c6e3)

static void store64(uint8_t *at, uint64_t word) {
    memcpy(at, &word, sizeof word);
}

/* The same beginning and end, a number between them: sensors.00001234.celsius. */
static void middle(uint8_t *text, uint32_t length, uint32_t i) {
    char digits[9];
    snprintf(digits, sizeof digits, "%08u", i);
    memcpy(text + (length - 8) / 2, digits, 8);
}

/* The number is in the first bytes, or in the last ones: a factor of the last product stays what it is. */
static void first(uint8_t *text, uint32_t length, uint32_t i) {
    (void)length;
    store64(text, (uint64_t)i << 40 | 0x4141);
}
static void last(uint8_t *text, uint32_t length, uint32_t i) {
    store64(text + length - 8, (uint64_t)i << 3 | UINT64_C(0x41) << 56);
}

/* What made a factor zero, whatever the seed was; the number stands before it. */
static void zero_tail(uint8_t *text, uint32_t length, uint32_t i) {
    middle(text, length, i);
    store64(text + length - 8, OLD_K2 ^ length * OLD_SIZE);
}

/* Pairs of words that differ in one bit each: what cancels in a sum. */
static void two_bits(uint8_t *text, uint32_t length, uint32_t i) {
    text[i % 64 % length] ^= (uint8_t)(1U << (i / 64 % 8));
    text[length - 1 - i % 8] ^= (uint8_t)(1U << (i / 512));
}

/* Words swapped and repeated: i says which of two stands at each of twelve places. */
static void blocks(uint8_t *text, uint32_t length, uint32_t i) {
    for (uint32_t place = 0; place < 12; place++) {
        uint32_t at = place * 8;
        if (at + 8 <= length) {
            memcpy(text + at, i >> place & 1 ? "ABABABAB" : "BABABABA", 8);
        }
    }
    if (length < 12 * 8) { /* not all of the places are there */
        store64(text + length - 8, i);
    }
}

typedef struct family {
    const char *name;
    void (*make)(uint8_t *text, uint32_t length, uint32_t i); /* into `length` bytes of 'x', from 8 on */
} family;

static const family TEXTS[] = {{"middle", middle},       {"first", first},       {"last", last},
                               {"zero tail", zero_tail}, {"two bits", two_bits}, {"blocks", blocks}};

static bool fits(const family *texts, uint32_t length) {
    return length >= (texts->make == zero_tail ? 25U : texts->make == two_bits ? 96U : 8U);
}

static void try_texts(uint64_t seed) {
    static const uint32_t LENGTHS[] = {8,  11, 16, 17, 18,  23,  24,  25,  31,  32,
                                       33, 48, 49, 64, 125, 160, 255, 256, 300, LENGTH_MAX};
    tm_hash_key key = tm_hash_key_of(seed);
    uint8_t text[LENGTH_MAX];
    for (unsigned f = 0; f < sizeof TEXTS / sizeof *TEXTS; f++) {
        for (unsigned l = 0; l < sizeof LENGTHS / sizeof *LENGTHS; l++) {
            if (!fits(&TEXTS[f], LENGTHS[l])) {
                continue;
            }
            for (uint32_t i = 0; i < KEYS; i++) {
                memset(text, 'x', LENGTHS[l]);
                TEXTS[f].make(text, LENGTHS[l], i);
                note(i, tm_hash_text(text, LENGTHS[l], &key));
            }
            check_spread(TEXTS[f].name, LENGTHS[l], seed);
        }
    }
}

/* One letter, of every length. */
static void try_lengths(uint64_t seed) {
    static uint8_t text[KEYS + 1];
    tm_hash_key key = tm_hash_key_of(seed);
    for (int dead_letter = 0; dead_letter <= 'a'; dead_letter += 'a') {
        memset(text, dead_letter, sizeof text);
        for (uint32_t i = 0; i < KEYS; i++) {
            note(i, tm_hash_text(text, i, &key));
        }
        check_spread("lengths", (uint32_t)dead_letter, seed);
    }
}

/* ---- numbers ---- */

static uint64_t inverse_of(uint64_t odd) {
    uint64_t inverse = odd;
    for (int i = 0; i < 6; i++) {
        inverse *= 2 - odd * inverse;
    }
    return inverse;
}

/* What the hash of numbers was before it had a key, undone: numbers whose last 32 bits under it are what is wanted. */
static uint64_t undone(uint64_t hash) {
    hash ^= hash >> 32;
    hash *= inverse_of(UINT64_C(0xd6e8feb86659fd93));
    hash ^= hash >> 32;
    return hash * inverse_of(UINT64_C(0x9e3779b97f4a7c15));
}

static uint64_t number_of(unsigned kind, uint32_t i) {
    double real = (double)i + 0.5;
    uint64_t bits;
    memcpy(&bits, &real, sizeof bits);
    switch (kind) {
    case 0:
        return i;
    case 1:
        return (uint64_t)i << 32;
    case 2:
        return (uint64_t)i << 52;
    case 3:
        return i * UINT64_C(0x9e3779b97f4a7c15);
    case 4:
        return undone((uint64_t)i << 32 | 0x2a);
    default:
        return bits;
    }
}

static void try_numbers(uint64_t seed) {
    tm_hash_key key = tm_hash_key_of(seed);
    for (unsigned kind = 0; kind < 6; kind++) {
        for (uint32_t i = 0; i < KEYS; i++) {
            note(i, tm_hash_u64(number_of(kind, i), &key));
        }
        check_spread("numbers", kind, seed);
        for (uint32_t i = 0; i < KEYS; i++) { /* a grid of pairs */
            note(i, tm_hash_words(number_of(kind, i / 64), number_of(kind, i % 64), 0, &key));
        }
        check_spread("pairs", kind, seed);
    }
}

/* ---- what equal means ---- */

static void check_equal(void) {
    tm_hash_key key = tm_hash_key_of(1);
    tm_hash_key other = tm_hash_key_of(2);
    uint8_t text[64];
    memset(text, 'a', sizeof text);
    for (size_t size = 0; size <= sizeof text; size++) {
        guarded copy = guard(text, size);
        uint64_t hash = tm_hash_text(copy.bytes, size, &key);
        CHECK(hash == tm_hash_text(text, size, &key), "%zu bytes elsewhere", size);
        CHECK(hash != tm_hash_text(text, size, &other), "%zu bytes under another key", size);
        for (size_t at = 0; at < size; at++) {
            text[at] = 'b';
            CHECK(hash != tm_hash_text(text, size, &key), "byte %zu of %zu counts", at, size);
            text[at] = 'a';
        }
        unguard(&copy);
    }
}

int main(void) {
    check_equal();
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        uint64_t drawn = seed * UINT64_C(0x0123456789abcdef); /* 0 among them: a table without a seed */
        try_texts(drawn);
        try_lengths(drawn);
        try_numbers(drawn);
    }
    return 0;
}
