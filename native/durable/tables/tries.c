/* tries.c - see tries.h. */
#include "durable/tables/tries.h"

#include "base/grow.h"

void tm_tries_init(tm_tries *tries, tm_memory *memory) {
    *tries = (tm_tries){.memory = memory, .free = TRY_NONE};
}

void tm_heap_free(tm_heap *heap, tm_memory *memory) {
    TM_DELETE(memory, TM_COLD, heap->tries, uint32_t, heap->capacity);
    *heap = (tm_heap){0};
}

void tm_tries_clear(tm_tries *tries) {
    for (uint32_t id = 0; id < tries->count; id++) {
        TM_DELETE(tries->memory, TM_COLD, tries->rows[id].reason, uint8_t, tries->rows[id].reason_size);
    }
    TM_DELETE(tries->memory, TM_COLD, tries->rows, tm_try, tries->capacity);
    tm_heap_free(&tries->due, tries->memory);
    tm_tries_init(tries, tries->memory);
}

static bool reserve(tm_memory *memory, tm_heap *heap, uint32_t wanted) {
    return wanted <= heap->capacity ||
           tm_grow(memory, TM_COLD, &heap->tries, sizeof *heap->tries, &heap->capacity, wanted);
}

uint32_t tm_tries_begin(tm_tries *tries, tm_heap *ready, uint32_t kept) {
    if (!reserve(tries->memory, &tries->due, tries->live + 1) || !reserve(tries->memory, ready, kept + 1)) {
        return TRY_NONE;
    }
    uint32_t id = tries->free;
    if (id != TRY_NONE) {
        tries->free = tries->rows[id].next;
    } else if (tries->count < tries->capacity ||
               tm_grow(tries->memory, TM_COLD, &tries->rows, sizeof *tries->rows, &tries->capacity, tries->count + 1)) {
        id = tries->count++;
    } else {
        return TRY_NONE;
    }
    tries->rows[id] = (tm_try){.holder = TRY_NONE, .next = TRY_NONE, .previous = TRY_NONE, .state = TRY_OUT};
    tries->live++;
    return id;
}

void tm_tries_end(tm_tries *tries, uint32_t id) {
    tm_try *row = &tries->rows[id];
    TM_DELETE(tries->memory, TM_COLD, row->reason, uint8_t, row->reason_size);
    *row = (tm_try){.next = tries->free};
    tries->free = id;
    tries->live--;
}

/* ---- heaps ---- */

static void place(tm_tries *tries, tm_heap *heap, uint32_t at, uint32_t id) {
    heap->tries[at] = id;
    tries->rows[id].heap_at = at;
}

static void sift(tm_tries *tries, tm_heap *heap, uint32_t at, uint32_t id) {
    uint64_t key = tries->rows[id].key;
    while (at > 0 && tries->rows[heap->tries[(at - 1) / 2]].key > key) {
        place(tries, heap, at, heap->tries[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (uint32_t child = 2 * at + 1; child < heap->count; child = 2 * at + 1) {
        if (child + 1 < heap->count && tries->rows[heap->tries[child + 1]].key < tries->rows[heap->tries[child]].key) {
            child++;
        }
        if (tries->rows[heap->tries[child]].key >= key) {
            break;
        }
        place(tries, heap, at, heap->tries[child]);
        at = child;
    }
    place(tries, heap, at, id);
}

void tm_heap_put(tm_tries *tries, tm_heap *heap, uint32_t id, uint64_t key) {
    tries->rows[id].key = key;
    heap->count++;
    sift(tries, heap, heap->count - 1, id);
}

void tm_heap_take(tm_tries *tries, tm_heap *heap, uint32_t id) {
    uint32_t at = tries->rows[id].heap_at;
    uint32_t last = heap->tries[--heap->count];
    if (last != id) {
        sift(tries, heap, at, last);
    }
}

bool tm_heap_is_sound(const tm_tries *tries, const tm_heap *heap) {
    for (uint32_t at = 0; at < heap->count; at++) {
        const tm_try *row = &tries->rows[heap->tries[at]];
        if (row->heap_at != at || row->state == TRY_FREE ||
            (at > 0 && tries->rows[heap->tries[(at - 1) / 2]].key > row->key)) {
            return false;
        }
    }
    return heap->count <= heap->capacity;
}
