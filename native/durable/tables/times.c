/* times.c - see times.h. */
#include "durable/tables/times.h"

void tm_times_note(tm_times *times, uint64_t ms, uint64_t n) {
    uint64_t period_ms = 1000;
    for (unsigned level = 0; level < MARK_LEVELS; level++) {
        uint64_t period = ms / period_ms;
        tm_time_mark *mark = &times->marks[level][period % MARK_PLACES];
        if (mark->ms != 0 && mark->ms / period_ms == period) {
            return; /* the periods of higher levels began with this one or before */
        }
        *mark = (tm_time_mark){ms, n};
        period_ms *= MARK_PLACES;
    }
}

uint64_t tm_times_at(const tm_times *times, uint64_t ms) {
    tm_time_mark found = {0};
    for (unsigned level = 0; level < MARK_LEVELS; level++) {
        for (unsigned place = 0; place < MARK_PLACES; place++) {
            const tm_time_mark *mark = &times->marks[level][place];
            if (mark->ms <= ms && mark->ms > found.ms) {
                found = *mark;
            }
        }
    }
    return found.n;
}
