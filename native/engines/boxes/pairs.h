/* pairs.h - comparisons of two floats at a time, which every machine has, and their results as bits.
 *
 * Law: a verdict has all bits of a row set or none. Compilers for x86 make a branch or a move for each row where
 * generic vectors are joined, so intrinsics are used there.
 */
#ifndef TM_BOX_PAIRS_H
#define TM_BOX_PAIRS_H

#include <stdint.h>

#ifdef __SSE2__
#include <emmintrin.h>

typedef __m128d tm_pair;
typedef __m128d tm_verdict;

static inline tm_pair tm_pair_at(const double *at) {
    return _mm_loadu_pd(at);
}
static inline tm_pair tm_pair_both(double value) {
    return _mm_set1_pd(value);
}
static inline tm_verdict tm_pair_at_most(tm_pair a, tm_pair b) {
    return _mm_cmple_pd(a, b);
}
static inline tm_verdict tm_verdict_and(tm_verdict a, tm_verdict b) {
    return _mm_and_pd(a, b);
}
/* Return a bit for each row of two pairs. */
static inline uint32_t tm_verdict_bits(tm_verdict first, tm_verdict second) {
    __m128i four = _mm_packs_epi32(_mm_castpd_si128(first), _mm_castpd_si128(second));
    return (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(four));
}

#else

typedef double tm_pair __attribute__((vector_size(16)));
typedef int64_t tm_verdict __attribute__((vector_size(16)));

static inline tm_pair tm_pair_at(const double *at) {
    return (tm_pair){at[0], at[1]};
}
static inline tm_pair tm_pair_both(double value) {
    return (tm_pair){value, value};
}
static inline tm_verdict tm_pair_at_most(tm_pair a, tm_pair b) {
    return (tm_verdict)(a <= b);
}
static inline tm_verdict tm_verdict_and(tm_verdict a, tm_verdict b) {
    return a & b;
}
static inline uint32_t tm_verdict_bits(tm_verdict first, tm_verdict second) {
    return (uint32_t)((first[0] & 1) | (first[1] & 2) | (second[0] & 4) | (second[1] & 8));
}

#endif

/* Return the verdict whether the lows of two rows are at most `above` and their highs at least `below`. */
static inline tm_verdict tm_pair_is_around(const double *lows, const double *highs, tm_pair below, tm_pair above) {
    return tm_verdict_and(tm_pair_at_most(tm_pair_at(lows), above), tm_pair_at_most(below, tm_pair_at(highs)));
}

#endif
