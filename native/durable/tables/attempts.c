/* attempts.c - see attempts.h. */
#include "durable/tables/attempts.h"

#include "base/grow.h"

void tm_attempts_init(tm_attempts *attempts, tm_memory *memory) {
    *attempts = (tm_attempts){.memory = memory, .free = ATTEMPT_NONE};
}

void tm_heap_free(tm_heap *heap, tm_memory *memory) {
    TM_DELETE(memory, TM_COLD, heap->attempts, uint32_t, heap->capacity);
    *heap = (tm_heap){0};
}

void tm_attempts_clear(tm_attempts *attempts) {
    for (uint32_t id = 0; id < attempts->count; id++) {
        TM_DELETE(attempts->memory, TM_COLD, attempts->rows[id].reason, uint8_t, attempts->rows[id].reason_size);
    }
    TM_DELETE(attempts->memory, TM_COLD, attempts->rows, tm_attempt, attempts->capacity);
    tm_heap_free(&attempts->due, attempts->memory);
    tm_attempts_init(attempts, attempts->memory);
}

static bool reserve(tm_memory *memory, tm_heap *heap, uint32_t wanted) {
    return wanted <= heap->capacity ||
           tm_grow(memory, TM_COLD, &heap->attempts, sizeof *heap->attempts, &heap->capacity, wanted);
}

uint32_t tm_attempts_begin(tm_attempts *attempts, tm_heap *ready, uint32_t kept) {
    if (!reserve(attempts->memory, &attempts->due, attempts->live + 1) || !reserve(attempts->memory, ready, kept + 1)) {
        return ATTEMPT_NONE;
    }
    uint32_t id = attempts->free;
    if (id != ATTEMPT_NONE) {
        attempts->free = attempts->rows[id].next;
    } else if (attempts->count < attempts->capacity ||
               tm_grow(attempts->memory, TM_COLD, &attempts->rows, sizeof *attempts->rows, &attempts->capacity,
                       attempts->count + 1)) {
        id = attempts->count++;
    } else {
        return ATTEMPT_NONE;
    }
    attempts->rows[id] =
        (tm_attempt){.holder = ATTEMPT_NONE, .next = ATTEMPT_NONE, .previous = ATTEMPT_NONE, .state = ATTEMPT_OUT};
    attempts->live++;
    return id;
}

void tm_attempts_end(tm_attempts *attempts, uint32_t id) {
    tm_attempt *row = &attempts->rows[id];
    TM_DELETE(attempts->memory, TM_COLD, row->reason, uint8_t, row->reason_size);
    *row = (tm_attempt){.next = attempts->free};
    attempts->free = id;
    attempts->live--;
}

/* ---- heaps ---- */

static void place(tm_attempts *attempts, tm_heap *heap, uint32_t at, uint32_t id) {
    heap->attempts[at] = id;
    attempts->rows[id].heap_at = at;
}

static void sift(tm_attempts *attempts, tm_heap *heap, uint32_t at, uint32_t id) {
    uint64_t key = attempts->rows[id].key;
    while (at > 0 && attempts->rows[heap->attempts[(at - 1) / 2]].key > key) {
        place(attempts, heap, at, heap->attempts[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (uint32_t child = 2 * at + 1; child < heap->count; child = 2 * at + 1) {
        if (child + 1 < heap->count &&
            attempts->rows[heap->attempts[child + 1]].key < attempts->rows[heap->attempts[child]].key) {
            child++;
        }
        if (attempts->rows[heap->attempts[child]].key >= key) {
            break;
        }
        place(attempts, heap, at, heap->attempts[child]);
        at = child;
    }
    place(attempts, heap, at, id);
}

void tm_heap_put(tm_attempts *attempts, tm_heap *heap, uint32_t id, uint64_t key) {
    attempts->rows[id].key = key;
    heap->count++;
    sift(attempts, heap, heap->count - 1, id);
}

void tm_heap_take(tm_attempts *attempts, tm_heap *heap, uint32_t id) {
    uint32_t at = attempts->rows[id].heap_at;
    uint32_t last = heap->attempts[--heap->count];
    if (last != id) {
        sift(attempts, heap, at, last);
    }
}

bool tm_heap_is_sound(const tm_attempts *attempts, const tm_heap *heap) {
    for (uint32_t at = 0; at < heap->count; at++) {
        const tm_attempt *row = &attempts->rows[heap->attempts[at]];
        if (row->heap_at != at || row->state == ATTEMPT_FREE ||
            (at > 0 && attempts->rows[heap->attempts[(at - 1) / 2]].key > row->key)) {
            return false;
        }
    }
    return heap->count <= heap->capacity;
}
