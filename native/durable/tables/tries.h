/* tries.h - messages that were given out and have not left: who has each, how often it was given, when it comes back.
 *
 *     out ── again, or no word for ack_wait ──> paused ── its pause is over ──> ready ── given ──> out
 *      └──────────────────────────── its member has left ───────────────────────^
 *
 * An attempt has failed where its member asks for it again or says nothing for ack_wait, and where the peer of a member
 * goes away, that of the message which the member had first: it may be what the consumer died of.
 *
 * Law: a try is in one heap: by time while it is out or paused, by position while it is ready. Heaps have room for
 * every try that may come to be in them, so that only tm_tries_begin may fail.
 */
#ifndef TM_KEEPS_TRIES_H
#define TM_KEEPS_TRIES_H

#include "base/memory.h"
#include "tm.h"

#define TRY_NONE UINT32_MAX
#define TRY_REASON_BYTES_MAX 255U

typedef enum { TRY_FREE, TRY_OUT, TRY_PAUSED, TRY_READY } tm_try_state;

typedef struct tm_try {
    uint64_t n;
    uint64_t key;    /* of the heap it is in: a time in ms, or its position */
    uint8_t *reason; /* owned; of a dying one, or NULL */
    uint32_t keep;   /* slot */
    uint32_t holder; /* member that has it or had it last; TRY_NONE: that has left */
    uint32_t next;   /* of the same holder; of a free one, the next free one */
    uint32_t previous;
    uint32_t deliveries; /* how often it was given out */
    uint32_t failures;   /* attempts that failed: not all that end are its fault */
    uint32_t heap_at;
    uint16_t reason_size;
    uint8_t state;
    bool is_dying; /* ready, and goes to the dead letters or is lost, to no member any more */
} tm_try;

typedef struct tm_heap {
    uint32_t *tries; /* owned */
    uint32_t count;
    uint32_t capacity;
} tm_heap;

typedef struct tm_tries {
    tm_memory *memory; /* borrowed */
    tm_try *rows;      /* owned */
    uint32_t count;    /* high-water mark */
    uint32_t capacity;
    uint32_t free;
    uint32_t live;
    tm_heap due; /* by time, of all keeps */
} tm_tries;

void tm_tries_init(tm_tries *tries, tm_memory *memory);
void tm_tries_clear(tm_tries *tries);
/* A try in no heap yet; `ready` is that of its keep, which has `kept` tries now. TRY_NONE: no memory. */
uint32_t tm_tries_begin(tm_tries *tries, tm_heap *ready, uint32_t kept);
/* It ends; it is in no heap. */
void tm_tries_end(tm_tries *tries, uint32_t id);

void tm_heap_put(tm_tries *tries, tm_heap *heap, uint32_t id, uint64_t key);
void tm_heap_take(tm_tries *tries, tm_heap *heap, uint32_t id);
/* The one with the least key; TRY_NONE: the heap is empty. */
static inline uint32_t tm_heap_least(const tm_heap *heap) {
    return heap->count > 0 ? heap->tries[0] : TRY_NONE;
}
void tm_heap_free(tm_heap *heap, tm_memory *memory);
bool tm_heap_is_sound(const tm_tries *tries, const tm_heap *heap);

#endif
