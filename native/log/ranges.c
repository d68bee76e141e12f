/* ranges.c - see ranges.h. */
#include "log/ranges.h"

#include <string.h>

#include "base/grow.h"

/* Return the index of the first range that ends at `number` or later. */
static uint32_t find(const tm_ranges *set, uint64_t number) {
    uint32_t low = 0;
    uint32_t high = set->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (set->spans[middle].last < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool has_room(tm_ranges *set, tm_memory *memory) {
    return tm_grow(memory, TM_COLD, &set->spans, sizeof *set->spans, &set->capacity, set->count + 1);
}

/* Replace the ranges in [from, to) by `put` ranges. */
static void splice(tm_ranges *set, uint32_t from, uint32_t to, const tm_span *spans, uint32_t put) {
    memmove(set->spans + from + put, set->spans + to, (set->count - to) * sizeof *set->spans);
    memcpy(set->spans + from, spans, put * sizeof *spans);
    set->count = set->count - (to - from) + put;
}

bool tm_ranges_add(tm_ranges *set, tm_memory *memory, uint64_t first, uint64_t last) {
    if (!has_room(set, memory)) {
        return false;
    }
    uint32_t from = find(set, first > 0 ? first - 1 : 0);
    uint32_t to = from;
    tm_span joined = {first, last};
    while (to < set->count && (last == UINT64_MAX || set->spans[to].first <= last + 1)) {
        joined.first = set->spans[to].first < joined.first ? set->spans[to].first : joined.first;
        joined.last = set->spans[to].last > joined.last ? set->spans[to].last : joined.last;
        to++;
    }
    splice(set, from, to, &joined, 1);
    return true;
}

bool tm_ranges_cut(tm_ranges *set, tm_memory *memory, uint64_t first, uint64_t last) {
    if (!has_room(set, memory)) {
        return false;
    }
    uint32_t from = find(set, first);
    uint32_t to = from;
    tm_span left[2];
    uint32_t put = 0;
    while (to < set->count && set->spans[to].first <= last) {
        if (set->spans[to].first < first) {
            left[put++] = (tm_span){set->spans[to].first, first - 1};
        }
        if (set->spans[to].last > last) {
            left[put++] = (tm_span){last + 1, set->spans[to].last};
        }
        to++;
    }
    if (to > from) {
        splice(set, from, to, left, put);
    }
    return true;
}

bool tm_ranges_has(const tm_ranges *set, uint64_t number) {
    uint32_t place = find(set, number);
    return place < set->count && set->spans[place].first <= number;
}

void tm_ranges_free(tm_ranges *set, tm_memory *memory) {
    TM_DELETE(memory, TM_COLD, set->spans, tm_span, set->capacity);
    *set = (tm_ranges){0};
}
