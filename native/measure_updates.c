/* measure_updates.c - how long one add and one removal take, timed where no call from Python is between them. */
#define _POSIX_C_SOURCE 200809L

#include <time.h>

#include "tm.h"

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

/* Since `start`, kept within what 32 bits hold (4.3 s). */
static uint32_t elapsed_ns(uint64_t start) {
    uint64_t elapsed = now_ns() - start;
    return elapsed < UINT32_MAX ? (uint32_t)elapsed : UINT32_MAX;
}

int tm_table_measure_add(tm_table *table, const uint8_t *bytes, const uint64_t *offsets, const uint32_t *interfaces,
                         size_t count, uint32_t *handles, uint32_t *nanoseconds) {
    for (size_t i = 0; i < count; i++) {
        uint64_t start = now_ns();
        int result =
            tm_table_add(table, bytes + offsets[i], (size_t)(offsets[i + 1] - offsets[i]), interfaces[i], &handles[i]);
        nanoseconds[i] = elapsed_ns(start);
        if (result != TM_OK) {
            return result;
        }
    }
    return TM_OK;
}

int tm_table_measure_remove(tm_table *table, const uint32_t *handles, size_t count, uint32_t *nanoseconds) {
    for (size_t i = 0; i < count; i++) {
        uint64_t start = now_ns();
        int result = tm_table_remove(table, handles[i]);
        nanoseconds[i] = elapsed_ns(start);
        if (result != TM_OK) {
            return result;
        }
    }
    return TM_OK;
}
