/* windows.c - see windows.h. */
#include "network/windows.h"

#include <string.h>

#include "base/bits.h"
#include "base/grow.h"
#include "base/hash.h"

void tm_windows_init(tm_windows *windows, tm_memory *memory, uint32_t width, uint32_t rows_max) {
    *windows = (tm_windows){.memory = memory,
                            .stride = (uint32_t)sizeof(tm_window) + width / 8,
                            .width = width,
                            .rows_max = rows_max > 0 ? rows_max : 1,
                            .newest = WINDOW_NONE,
                            .oldest = WINDOW_NONE};
}

void tm_windows_clear(tm_windows *windows) {
    TM_DELETE(windows->memory, TM_COLD, windows->rows, uint8_t, (size_t)windows->capacity * windows->stride);
    tm_idset_free(&windows->set, windows->memory, TM_COLD);
    tm_windows_init(windows, windows->memory, windows->width, windows->rows_max);
}

static inline tm_window *window_at(const tm_windows *windows, uint32_t row) {
    return (tm_window *)(void *)(windows->rows + (size_t)row * windows->stride);
}

/* ---- the set ---- */

static uint64_t hash_of(const void *owner, uint64_t id) {
    const tm_windows *windows = owner;
    return tm_hash_u64(window_at(windows, id - 1)->number, &windows->memory->key);
}

static uint32_t find(const tm_windows *windows, uint64_t number) {
    tm_idset_search at = tm_idset_start(&windows->set, tm_hash_u64(number, &windows->memory->key));
    for (uint32_t id; (id = tm_idset_next(&at)) != 0;) {
        if (window_at(windows, id - 1)->number == number) {
            return id - 1;
        }
    }
    return WINDOW_NONE;
}

static bool grow(tm_windows *windows) {
    uint32_t capacity = tm_next_capacity(windows->capacity, windows->stride);
    capacity = capacity < windows->rows_max ? capacity : windows->rows_max;
    uint8_t *rows = TM_RESIZE(windows->memory, TM_COLD, windows->rows, uint8_t,
                              (size_t)windows->capacity * windows->stride, (size_t)capacity * windows->stride);
    if (rows == NULL) {
        return false;
    }
    windows->rows = rows;
    windows->capacity = capacity;
    return true;
}

/* ---- order of use ---- */

static void unlink_row(tm_windows *windows, uint32_t row) {
    tm_window *window = window_at(windows, row);
    if (window->newer != WINDOW_NONE) {
        window_at(windows, window->newer)->older = window->older;
    } else {
        windows->newest = window->older;
    }
    if (window->older != WINDOW_NONE) {
        window_at(windows, window->older)->newer = window->newer;
    } else {
        windows->oldest = window->newer;
    }
}

static void link_newest(tm_windows *windows, uint32_t row) {
    window_at(windows, row)->newer = WINDOW_NONE;
    window_at(windows, row)->older = windows->newest;
    if (windows->newest != WINDOW_NONE) {
        window_at(windows, windows->newest)->newer = row;
    } else {
        windows->oldest = row;
    }
    windows->newest = row;
}

/* Return a row for a new source: a free one, or that of the source quiet longest; WINDOW_NONE: no memory. */
static uint32_t new_row(tm_windows *windows, uint64_t number) {
    if (tm_idset_reserve(&windows->set, windows->memory, TM_COLD, hash_of, windows) != TM_OK ||
        (windows->count == windows->capacity && windows->count < windows->rows_max && !grow(windows))) {
        return WINDOW_NONE;
    }
    uint32_t row = windows->count;
    if (row < windows->capacity) {
        windows->count++;
    } else {
        row = windows->oldest;
        unlink_row(windows, row);
        tm_idset_remove(&windows->set, hash_of(windows, row + 1), row + 1, hash_of, windows);
    }
    memset(window_at(windows, row), 0, windows->stride);
    window_at(windows, row)->number = number;
    tm_idset_insert(&windows->set, tm_hash_u64(number, &windows->memory->key), row + 1);
    link_newest(windows, row);
    return row;
}

/* ---- the window ---- */

/* Clear the bits of counters first..last, which stem from counters that left the window. Requires last - first < width.
 */
static void forget_places(tm_window *window, uint32_t width, uint64_t first, uint64_t last) {
    for (uint64_t counter = first; counter <= last;) {
        uint32_t at = (uint32_t)(counter % width);
        uint64_t left = last - counter + 1;
        if (at % 64 == 0 && left >= 64) {
            window->seen[at / 64] = 0;
            counter += 64;
        } else {
            tm_bit_clear(window->seen, at);
            counter++;
        }
    }
}

/* true if a counter of the window's epoch counts as seen */
static inline bool is_seen(const tm_window *window, uint32_t width, uint64_t counter) {
    return counter <= window->highest &&
           (window->highest - counter >= width || tm_bit_at(window->seen, (uint32_t)(counter % width)));
}

static inline bool note(tm_window *window, uint32_t width, uint64_t counter) {
    uint32_t place = (uint32_t)(counter % width);
    if (counter > window->highest) {
        if (counter - window->highest >= width) {
            memset(window->seen, 0, width / 8);
        } else {
            forget_places(window, width, window->highest + 1, counter - 1);
        }
        window->highest = counter;
        tm_bit_set(window->seen, place);
        return true;
    }
    if (is_seen(window, width, counter)) {
        return false;
    }
    tm_bit_set(window->seen, place);
    return true;
}

bool tm_windows_note(tm_windows *windows, uint64_t number, uint64_t epoch, uint64_t counter, uint32_t *row,
                     bool *fresh) {
    if (*row >= windows->count || window_at(windows, *row)->number != number) {
        *row = find(windows, number);
        *row = *row == WINDOW_NONE ? new_row(windows, number) : *row;
    }
    if (*row == WINDOW_NONE) {
        return false;
    }
    if (windows->newest != *row) {
        unlink_row(windows, *row);
        link_newest(windows, *row);
    }
    tm_window *window = window_at(windows, *row);
    if (epoch > window->epoch) {
        memset(window->seen, 0, windows->width / 8);
        window->epoch = epoch;
        window->highest = 0;
    }
    *fresh = epoch == window->epoch && note(window, windows->width, counter);
    return true;
}

int tm_windows_place(const tm_windows *windows, uint64_t number, uint64_t epoch, uint64_t counter, uint32_t row) {
    if (row >= windows->count || window_at(windows, row)->number != number) {
        row = find(windows, number);
        if (row == WINDOW_NONE) {
            return WINDOW_AHEAD;
        }
    }
    const tm_window *window = window_at(windows, row);
    if (epoch != window->epoch) {
        return epoch > window->epoch ? WINDOW_AHEAD : WINDOW_BEHIND;
    }
    if (counter > window->highest) {
        return counter - window->highest >= windows->width ? WINDOW_AHEAD : 0;
    }
    return window->highest - counter >= windows->width ? WINDOW_BEHIND : 0;
}

bool tm_windows_has_seen(const tm_windows *windows, uint64_t number, uint64_t epoch, uint64_t counter) {
    uint32_t row = find(windows, number);
    if (row == WINDOW_NONE) {
        return false;
    }
    const tm_window *window = window_at(windows, row);
    return epoch < window->epoch || (epoch == window->epoch && is_seen(window, windows->width, counter));
}

void tm_windows_set_leaper(tm_windows *windows, uint32_t row, uint64_t neighbour) {
    window_at(windows, row)->leaper = neighbour;
}

uint64_t tm_windows_leaper(const tm_windows *windows, uint64_t number) {
    uint32_t row = find(windows, number);
    return row != WINDOW_NONE ? window_at(windows, row)->leaper : 0;
}

static void empty(tm_windows *windows, uint32_t row) {
    window_at(windows, row)->epoch = 0;
    window_at(windows, row)->highest = 0;
    window_at(windows, row)->leaper = 0;
    memset(window_at(windows, row)->seen, 0, windows->width / 8);
}

void tm_windows_forget(tm_windows *windows, uint64_t number) {
    uint32_t row = find(windows, number);
    if (row != WINDOW_NONE) {
        empty(windows, row);
    }
}

void tm_windows_forget_above(tm_windows *windows, uint64_t number, uint64_t epoch) {
    uint32_t row = find(windows, number);
    if (row != WINDOW_NONE && window_at(windows, row)->epoch > epoch) {
        empty(windows, row);
    }
}

bool tm_windows_are_sound(const tm_windows *windows) {
    uint32_t linked = 0;
    for (uint32_t row = windows->newest; row != WINDOW_NONE; row = window_at(windows, row)->older) {
        if (++linked > windows->count || find(windows, window_at(windows, row)->number) != row) {
            return false;
        }
    }
    return linked == windows->count && linked == windows->set.count;
}
