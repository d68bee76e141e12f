/* publishers.c - see publishers.h. */
#include "publishers.h"

#include <string.h>

#include "hash.h"

#define ROWS_MIN 8U

void tm_publishers_init(tm_publishers *publishers, tm_memory *memory, uint32_t rows_max) {
    *publishers = (tm_publishers){
        .memory = memory, .rows_max = rows_max > 0 ? rows_max : 1, .newest = PUBLISHER_NONE, .oldest = PUBLISHER_NONE};
}

void tm_publishers_clear(tm_publishers *publishers) {
    TM_DELETE(publishers->memory, TM_COLD, publishers->rows, tm_publisher, publishers->capacity);
    TM_DELETE(publishers->memory, TM_COLD, publishers->slots, uint32_t, publishers->slot_capacity);
    tm_publishers_init(publishers, publishers->memory, publishers->rows_max);
}

/* ---- the set ---------------------------------------------------------------------------------------------------- */

static uint32_t home_of(const tm_publishers *publishers, uint64_t origin) {
    return (uint32_t)tm_hash_u64(origin, 0) & (publishers->slot_capacity - 1);
}

static uint32_t find_slot(const tm_publishers *publishers, uint64_t origin) {
    uint32_t mask = publishers->slot_capacity - 1;
    uint32_t at = home_of(publishers, origin);
    while (publishers->slots[at] != PUBLISHER_NONE && publishers->rows[publishers->slots[at]].origin != origin) {
        at = (at + 1) & mask;
    }
    return at;
}

/* Linear probing without tombstones: what stands behind the hole moves up where its probe passes it. */
static void erase_slot(tm_publishers *publishers, uint32_t hole) {
    uint32_t mask = publishers->slot_capacity - 1;
    for (uint32_t at = (hole + 1) & mask; publishers->slots[at] != PUBLISHER_NONE; at = (at + 1) & mask) {
        uint32_t home = home_of(publishers, publishers->rows[publishers->slots[at]].origin);
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            publishers->slots[hole] = publishers->slots[at];
            hole = at;
        }
    }
    publishers->slots[hole] = PUBLISHER_NONE;
}

static bool grow(tm_publishers *publishers) {
    uint32_t capacity = publishers->capacity == 0 ? ROWS_MIN : publishers->capacity * 2;
    capacity = capacity < publishers->rows_max ? capacity : publishers->rows_max;
    uint32_t slot_capacity = publishers->slot_capacity == 0 ? 2 * ROWS_MIN : publishers->slot_capacity;
    while (slot_capacity < 2 * capacity) {
        slot_capacity *= 2;
    }
    uint32_t *slots = TM_NEW(publishers->memory, TM_COLD, uint32_t, slot_capacity);
    if (slots == NULL) {
        return false;
    }
    tm_publisher *rows =
        TM_RESIZE(publishers->memory, TM_COLD, publishers->rows, tm_publisher, publishers->capacity, capacity);
    if (rows == NULL) {
        TM_DELETE(publishers->memory, TM_COLD, slots, uint32_t, slot_capacity);
        return false;
    }
    TM_DELETE(publishers->memory, TM_COLD, publishers->slots, uint32_t, publishers->slot_capacity);
    memset(slots, 0xff, sizeof *slots * slot_capacity);
    publishers->rows = rows;
    publishers->slots = slots;
    publishers->capacity = capacity;
    publishers->slot_capacity = slot_capacity;
    for (uint32_t row = 0; row < publishers->count; row++) {
        slots[find_slot(publishers, rows[row].origin)] = row;
    }
    return true;
}

/* ---- order of use ----------------------------------------------------------------------------------------------- */

static void unlink_row(tm_publishers *publishers, uint32_t row) {
    tm_publisher *publisher = &publishers->rows[row];
    if (publisher->newer != PUBLISHER_NONE) {
        publishers->rows[publisher->newer].older = publisher->older;
    } else {
        publishers->newest = publisher->older;
    }
    if (publisher->older != PUBLISHER_NONE) {
        publishers->rows[publisher->older].newer = publisher->newer;
    } else {
        publishers->oldest = publisher->newer;
    }
}

static void link_newest(tm_publishers *publishers, uint32_t row) {
    publishers->rows[row].newer = PUBLISHER_NONE;
    publishers->rows[row].older = publishers->newest;
    if (publishers->newest != PUBLISHER_NONE) {
        publishers->rows[publishers->newest].newer = row;
    } else {
        publishers->oldest = row;
    }
    publishers->newest = row;
}

/* A row for a publisher that has none: a new one, or that of the one quiet longest. */
static uint32_t new_row(tm_publishers *publishers, uint64_t origin) {
    if (publishers->count == publishers->capacity && publishers->count < publishers->rows_max && !grow(publishers)) {
        return PUBLISHER_NONE;
    }
    uint32_t row = publishers->count;
    if (row < publishers->capacity) {
        publishers->count++;
    } else {
        row = publishers->oldest;
        unlink_row(publishers, row);
        erase_slot(publishers, find_slot(publishers, publishers->rows[row].origin));
    }
    publishers->slots[find_slot(publishers, origin)] = row;
    publishers->rows[row] = (tm_publisher){.origin = origin};
    link_newest(publishers, row);
    return row;
}

/* ---- the window ------------------------------------------------------------------------------------------------- */

static inline bool note(tm_publisher *publisher, uint64_t counter) {
    uint32_t place = (uint32_t)(counter % PUBLISHER_WINDOW);
    uint64_t bit = UINT64_C(1) << (place % 64);
    if (counter > publisher->highest) {
        uint64_t ahead = counter - publisher->highest;
        if (ahead >= PUBLISHER_WINDOW) {
            memset(publisher->seen, 0, sizeof publisher->seen);
        } else { /* places between the two belonged to counters that have left the window */
            for (uint64_t left = publisher->highest + 1; left < counter; left++) {
                uint32_t at = (uint32_t)(left % PUBLISHER_WINDOW);
                publisher->seen[at / 64] &= ~(UINT64_C(1) << (at % 64));
            }
        }
        publisher->highest = counter;
        publisher->seen[place / 64] |= bit;
        return true;
    }
    if (publisher->highest - counter >= PUBLISHER_WINDOW || (publisher->seen[place / 64] & bit)) {
        return false;
    }
    publisher->seen[place / 64] |= bit;
    return true;
}

bool tm_publishers_note(tm_publishers *publishers, uint64_t origin, uint64_t counter, uint32_t *row, bool *fresh) {
    if (*row >= publishers->count || publishers->rows[*row].origin != origin) {
        uint32_t slot = publishers->count == 0 ? 0 : find_slot(publishers, origin);
        *row = publishers->count == 0 ? PUBLISHER_NONE : publishers->slots[slot];
        *row = *row == PUBLISHER_NONE ? new_row(publishers, origin) : *row;
    }
    if (*row == PUBLISHER_NONE) {
        return false;
    }
    if (publishers->newest != *row) {
        unlink_row(publishers, *row);
        link_newest(publishers, *row);
    }
    *fresh = note(&publishers->rows[*row], counter);
    return true;
}

bool tm_publishers_are_sound(const tm_publishers *publishers) {
    uint32_t linked = 0;
    for (uint32_t row = publishers->newest; row != PUBLISHER_NONE; row = publishers->rows[row].older) {
        if (++linked > publishers->count ||
            publishers->slots[find_slot(publishers, publishers->rows[row].origin)] != row) {
            return false;
        }
    }
    return linked == publishers->count;
}
