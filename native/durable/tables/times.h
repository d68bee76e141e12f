/* times.h - which number the log had reached at a time, for times of today to the second, and coarser before.
 *
 *     level 0: a mark for each of the last 16 seconds; level 1: for each 16 s of the last 256 s; ...
 *
 * Law: a mark is the first of its second (its 16 s, ...), so a number that is looked up was reached at the time that is
 * asked for or earlier, never later. The memory is fixed, and a note or a look takes constant time.
 */
#ifndef TM_KEEPS_TIMES_H
#define TM_KEEPS_TIMES_H

#include <stdint.h>

#define MARK_LEVELS 6U /* the last one reaches back for half a year */
#define MARK_PLACES 16U

typedef struct tm_time_mark {
    uint64_t ms; /* Unix time; 0: there is none */
    uint64_t n;
} tm_time_mark;

typedef struct tm_times {
    tm_time_mark marks[MARK_LEVELS][MARK_PLACES];
} tm_times;

/* At `ms` the log had reached `n`. */
void tm_times_note(tm_times *times, uint64_t ms, uint64_t n);
/* A number that the log had reached at `ms`, the latest that is known; 0: none is. */
uint64_t tm_times_at(const tm_times *times, uint64_t ms);

#endif
