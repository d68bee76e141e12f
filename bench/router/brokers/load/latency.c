/* latency.c - see latency.h. */
#include "latency.h"

#include <stdlib.h>

void latency_arrived(latency *l, uint64_t first, uint64_t last, double now) {
    for (uint64_t counter = first; counter <= last; counter++) {
        float sample = (float)(now - l->sent_at[counter % LATENCY_WINDOW_MAX]);
        put_bytes(&l->samples, &sample, sizeof sample);
    }
}

void latency_restart(latency *l) {
    l->samples.length = 0;
}

size_t latency_count(const latency *l) {
    return l->samples.length / sizeof(float);
}

static int compare(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

double latency_quantile(latency *l, double share) {
    size_t count = latency_count(l);
    if (count == 0) {
        return 0;
    }
    float *samples = (float *)l->samples.bytes;
    qsort(samples, count, sizeof *samples, compare);
    size_t at = (size_t)((double)count * share);
    return samples[at < count ? at : count - 1];
}
