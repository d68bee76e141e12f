/* times.h - which number the log had reached at a time, to the second for the last 16 s, coarser before.
 *
 *     level 0: a mark for each of the last 16 seconds; level 1: for each 16 s of the last 256 s; and so on
 *
 * Law: a mark is the first number of its period, so the log had reached a returned number at the given time or earlier,
 * never later. The memory is fixed, and both functions take constant time.
 */
#ifndef TM_DURABLES_TIMES_H
#define TM_DURABLES_TIMES_H

#include <stdint.h>

#define MARK_LEVELS 6U /* the last level reaches back half a year */
#define MARK_PLACES 16U

typedef struct tm_time_mark {
    uint64_t ms; /* Unix time; 0: no mark */
    uint64_t n;
} tm_time_mark;

typedef struct tm_times {
    tm_time_mark marks[MARK_LEVELS][MARK_PLACES];
} tm_times;

/* Record that the log had reached `n` at `ms`. */
void tm_times_note(tm_times *times, uint64_t ms, uint64_t n);
/* Return the latest known number that the log had reached at `ms`; 0: none is known. */
uint64_t tm_times_at(const tm_times *times, uint64_t ms);

#endif
