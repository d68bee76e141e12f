/* waits.c - see waits.h. */
#include "durable/tables/waits.h"

#include <string.h>

#include "base/grow.h"

bool tm_waits_reserve(tm_waits *waits) {
    if (tm_waits_count(waits) >= waits->rows_max) {
        return false;
    }
    if (waits->end < waits->capacity) {
        return true;
    }
    if (waits->first > waits->capacity / 2) {
        memmove(waits->rows, waits->rows + waits->first, tm_waits_count(waits) * sizeof *waits->rows);
        waits->end -= waits->first;
        waits->first = 0;
        return true;
    }
    return tm_grow(waits->memory, TM_COLD, &waits->rows, sizeof *waits->rows, &waits->capacity, waits->end + 1);
}

void tm_waits_add(tm_waits *waits, const tm_wait *wait) {
    waits->rows[waits->end++] = *wait;
}

bool tm_waits_join(tm_waits *waits, const tm_wait *wait) {
    tm_wait *last = waits->first < waits->end ? &waits->rows[waits->end - 1] : NULL;
    if (last == NULL || last->kind != WAIT_CONFIRMATION || last->connection != wait->connection ||
        last->origin != wait->origin || last->since_us != wait->since_us || last->stored != wait->stored ||
        last->n + last->count != wait->n || last->number + last->count != wait->number) {
        return false;
    }
    last->count++;
    return true;
}

bool tm_waits_take(tm_waits *waits, uint64_t n, tm_wait *out) {
    tm_wait *row = waits->first < waits->end ? &waits->rows[waits->first] : NULL;
    if (row == NULL || row->n > n) {
        return false;
    }
    *out = *row;
    if (n - row->n < row->count - 1U) { /* part of the run is not on disk yet */
        out->count = (uint32_t)(n - row->n) + 1;
        row->n += out->count;
        row->number += out->count;
        row->count -= out->count;
        return true;
    }
    waits->first++;
    if (waits->first == waits->end) {
        waits->first = waits->end = 0;
    }
    return true;
}

void tm_waits_clear(tm_waits *waits) {
    for (uint32_t at = waits->first; at < waits->end; at++) {
        TM_DELETE(waits->memory, TM_COLD, waits->rows[at].frame, uint8_t, waits->rows[at].frame_size);
    }
    TM_DELETE(waits->memory, TM_COLD, waits->rows, tm_wait, waits->capacity);
    *waits = (tm_waits){.memory = waits->memory, .rows_max = waits->rows_max};
}

bool tm_waits_are_sound(const tm_waits *waits) {
    for (uint32_t at = waits->first + 1; at < waits->end; at++) {
        if (waits->rows[at].n < waits->rows[at - 1].n + waits->rows[at - 1].count - 1) {
            return false;
        }
    }
    return waits->first <= waits->end && waits->end <= waits->capacity;
}
