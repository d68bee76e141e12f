/* counters.c - the counters of a message. Law: see counters.h. */
#include "engines/papers/counters.h"

#include <string.h>

#define CAPACITY_MIN 16U
#define CAPACITY_MAX (1U << 31)

bool tm_counters_reserve(tm_counters *counters, tm_memory *memory, uint32_t filters) {
    uint64_t wanted = (uint64_t)filters * 2;
    if (wanted <= counters->capacity) {
        return true;
    }
    uint64_t capacity = CAPACITY_MIN;
    uint32_t bits = 4;
    for (; capacity < wanted; capacity *= 2) {
        bits++;
    }
    if (capacity > CAPACITY_MAX) {
        return false;
    }
    tm_counter *entries = TM_NEW(memory, TM_HOT, tm_counter, capacity);
    if (entries == NULL) {
        return false;
    }
    tm_counters_free(counters, memory);
    *counters = (tm_counters){entries, (uint32_t)capacity, 32 - bits};
    return true;
}

void tm_counters_free(tm_counters *counters, tm_memory *memory) {
    TM_DELETE(memory, TM_HOT, counters->entries, tm_counter, counters->capacity);
    *counters = (tm_counters){0};
}

void tm_counters_forget(tm_counters *counters) {
    if (counters->capacity > 0) {
        memset(counters->entries, 0, sizeof *counters->entries * counters->capacity);
    }
}
