/* attempts.h - messages that were given out and have not left: who has each, how often it was given, when it comes
 * back.
 *
 *     out ── again, or no word for ack_wait ──> paused ── its pause is over ──> ready ── given ──> out
 *      └──────────────────────────── its member has left ───────────────────────^
 *
 * An attempt has failed where its member asks for it again or says nothing for ack_wait, and where the peer of a member
 * goes away, that of the message which the member had first: it may be what the consumer died of.
 *
 * Law: a try is in one heap: by time while it is out or paused, by position while it is ready. Heaps have room for
 * every try that may come to be in them, so that only tm_attempts_begin may fail.
 */
#ifndef TM_KEEPS_ATTEMPTS_H
#define TM_KEEPS_ATTEMPTS_H

#include "base/memory.h"
#include "tm.h"

#define ATTEMPT_NONE UINT32_MAX
#define ATTEMPT_REASON_BYTES_MAX 255U

typedef enum { ATTEMPT_FREE, ATTEMPT_OUT, ATTEMPT_PAUSED, ATTEMPT_READY } tm_attempt_state;

typedef struct tm_attempt {
    uint64_t n;
    uint64_t key;    /* of the heap it is in: a time in ms, or its position */
    uint8_t *reason; /* owned; of a dying one, or NULL */
    uint32_t keep;   /* slot */
    uint32_t holder; /* member that has it or had it last; ATTEMPT_NONE: that has left */
    uint32_t next;   /* of the same holder; of a free one, the next free one */
    uint32_t previous;
    uint32_t deliveries; /* how often it was given out */
    uint32_t failures;   /* attempts that failed: not all that end are its fault */
    uint32_t heap_at;
    uint16_t reason_size;
    uint8_t state;
    bool is_dying; /* ready, and goes to the dead letters or is lost, to no member any more */
} tm_attempt;

typedef struct tm_heap {
    uint32_t *attempts; /* owned */
    uint32_t count;
    uint32_t capacity;
} tm_heap;

typedef struct tm_attempts {
    tm_memory *memory; /* borrowed */
    tm_attempt *rows;  /* owned */
    uint32_t count;    /* high-water mark */
    uint32_t capacity;
    uint32_t free;
    uint32_t live;
    tm_heap due; /* by time, of all keeps */
} tm_attempts;

void tm_attempts_init(tm_attempts *attempts, tm_memory *memory);
void tm_attempts_clear(tm_attempts *attempts);
/* A try in no heap yet; `ready` is that of its keep, which has `kept` tries now. ATTEMPT_NONE: no memory. */
uint32_t tm_attempts_begin(tm_attempts *attempts, tm_heap *ready, uint32_t kept);
/* It ends; it is in no heap. */
void tm_attempts_end(tm_attempts *attempts, uint32_t id);

void tm_heap_put(tm_attempts *attempts, tm_heap *heap, uint32_t id, uint64_t key);
void tm_heap_take(tm_attempts *attempts, tm_heap *heap, uint32_t id);
/* The one with the least key; ATTEMPT_NONE: the heap is empty. */
static inline uint32_t tm_heap_least(const tm_heap *heap) {
    return heap->count > 0 ? heap->attempts[0] : ATTEMPT_NONE;
}
void tm_heap_free(tm_heap *heap, tm_memory *memory);
bool tm_heap_is_sound(const tm_attempts *attempts, const tm_heap *heap);

#endif
