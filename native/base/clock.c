/* clock.c - see clock.h. */
#define _POSIX_C_SOURCE 200809L
#include "base/clock.h"
#include "base/tested.h"

#include <time.h>

static uint64_t read_ns(clockid_t clock) {
#ifdef TM_TESTED
    if (tm_tested_ns > 0) {
        return ++tm_tested_ns;
    }
#endif
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t tm_clock_ns(void) {
    return read_ns(CLOCK_MONOTONIC);
}

uint64_t tm_clock_unix_ns(void) {
    return read_ns(CLOCK_REALTIME);
}

uint64_t tm_clock_thread_ns(void) {
    return read_ns(CLOCK_THREAD_CPUTIME_ID);
}
