/* latency.h - how long messages took, from just before the send to when the last subscriber had them.
 */
#ifndef LATENCY_H
#define LATENCY_H

#include <stdint.h>

#include "buffer.h"

/* The most messages that may be under way while latency is measured; a power of two. */
#define LATENCY_WINDOW_MAX 65536

typedef struct latency {
    double sent_at[LATENCY_WINDOW_MAX]; /* by the lowest bits of the counter */
    buffer samples;                     /* of float, seconds */
} latency;

static inline void latency_sent(latency *l, uint64_t counter, double now) {
    l->sent_at[counter % LATENCY_WINDOW_MAX] = now;
}

/* Messages `first` to `last` have arrived everywhere. */
void latency_arrived(latency *l, uint64_t first, uint64_t last, double now);

/* Forget the samples: the warm-up is over. */
void latency_restart(latency *l);

size_t latency_count(const latency *l);

/* In seconds; 0 if there are no samples. Sorts the samples. */
double latency_quantile(latency *l, double share);

#endif
