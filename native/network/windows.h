/* windows.h - the counters of messages in transit that were seen, by source.
 *
 * Law: for each remembered source the last `width` counters below its highest, of its highest epoch, are known exactly;
 * older counters and epochs count as seen. A newer epoch begins a new window. At the bound the source that has been
 * quiet longest is forgotten.
 */
#ifndef TM_WINDOWS_H
#define TM_WINDOWS_H

#include "base/idset.h"

#define WINDOW_NONE UINT32_MAX
#define WINDOW_IN_TRANSIT 65536U

typedef struct tm_window {
    uint64_t number; /* of the source */
    uint64_t epoch;  /* 0 for sources without epochs */
    uint64_t highest;
    uint64_t leaper; /* neighbour over which the counter last leapt ahead; 0: none */
    uint32_t newer;  /* linked in order of use */
    uint32_t older;
    uint64_t seen[]; /* by counter modulo the width */
} tm_window;

typedef struct tm_windows {
    tm_memory *memory; /* borrowed */
    uint8_t *rows;     /* owned; `stride` bytes each */
    uint32_t stride;
    uint32_t width; /* counters; a multiple of 64 */
    uint32_t count;
    uint32_t capacity;
    uint32_t rows_max;
    uint32_t newest;
    uint32_t oldest;
    tm_idset set; /* of rows + 1, by number */
} tm_windows;

void tm_windows_init(tm_windows *windows, tm_memory *memory, uint32_t width, uint32_t rows_max);
void tm_windows_clear(tm_windows *windows);

/* Record a message; `*row` caches the row of its source and is updated. false: no memory, and nothing is recorded.
 * `*fresh`: it was not seen before. */
bool tm_windows_note(tm_windows *windows, uint64_t number, uint64_t epoch, uint64_t counter, uint32_t *row,
                     bool *fresh);
/* Return the position of a message relative to its source's window: far ahead (or the source is unknown), far behind,
 * or 0: near. `row` is the cache of tm_windows_note, which avoids a search for most messages. */
#define WINDOW_AHEAD 1
#define WINDOW_BEHIND (-1)
/* true if the row of the hint shows that the message is near; false: unknown */
static inline bool tm_windows_is_near(const tm_windows *windows, uint64_t number, uint64_t epoch, uint64_t counter,
                                      uint32_t row) {
    if (row >= windows->count) {
        return false;
    }
    const tm_window *window = (const tm_window *)(const void *)(windows->rows + (size_t)row * windows->stride);
    uint64_t apart = counter > window->highest ? counter - window->highest : window->highest - counter;
    return window->number == number && window->epoch == epoch && apart < windows->width;
}
int tm_windows_place(const tm_windows *windows, uint64_t number, uint64_t epoch, uint64_t counter, uint32_t row);
/* true if the message was seen, or counts as seen */
bool tm_windows_has_seen(const tm_windows *windows, uint64_t number, uint64_t epoch, uint64_t counter);
/* Record that the counter of the source in `row` leapt ahead over `neighbour`. */
void tm_windows_set_leaper(tm_windows *windows, uint32_t row, uint64_t neighbour);
/* Return the neighbour over which the counter of a source last leapt ahead; 0: none. */
uint64_t tm_windows_leaper(const tm_windows *windows, uint64_t number);
/* Reset the window of a source, so that its next message is fresh. */
void tm_windows_forget(tm_windows *windows, uint64_t number);
/* Reset the window of a source if its epoch is above `epoch`. */
void tm_windows_forget_above(tm_windows *windows, uint64_t number, uint64_t epoch);
bool tm_windows_are_sound(const tm_windows *windows);

#endif
