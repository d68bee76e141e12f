/* attempts.h - messages that were delivered and have not left: holder, deliveries and time of redelivery of each.
 *
 *     out ── again, or no answer for ack_wait ──> paused ── its pause is over ──> ready ── delivered ──> out
 *      └──────────────────────────── its consumer has left ───────────────────────^
 *
 * An attempt fails if its consumer requests the message again or sends nothing for ack_wait. If the peer of a consumer
 * goes away, the attempt that the consumer has had longest fails, as that message may be what ended it.
 *
 * Law: an attempt is in one heap: by time while it is out or paused, by position while it is ready. Heaps have room for
 * every attempt that may enter them, so only tm_attempts_begin can fail.
 */
#ifndef TM_DURABLES_ATTEMPTS_H
#define TM_DURABLES_ATTEMPTS_H

#include "base/memory.h"
#include "tm.h"

#define ATTEMPT_NONE UINT32_MAX
#define ATTEMPT_REASON_BYTES_MAX 255U

typedef enum { ATTEMPT_FREE, ATTEMPT_OUT, ATTEMPT_PAUSED, ATTEMPT_READY } tm_attempt_state;

typedef struct tm_attempt {
    uint64_t n;
    uint64_t key;     /* of the heap that the attempt is in: a time in ms, or the position */
    uint8_t *reason;  /* owned; of a dying attempt, or NULL */
    uint32_t durable; /* slot */
    uint32_t holder;  /* consumer that has the message or had it last; ATTEMPT_NONE: it has left */
    uint32_t next;    /* next attempt of this holder; of a free row, the next free row */
    uint32_t previous;
    uint32_t deliveries; /* how often the message was delivered */
    uint32_t failures;   /* attempts that failed; not every attempt that ends has failed */
    uint32_t heap_at;
    uint16_t reason_size;
    uint8_t state;
    bool is_dying; /* ready, and about to become a dead letter or a loss; it is never delivered again */
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
    tm_heap due; /* by time, of all subscriptions */
} tm_attempts;

void tm_attempts_init(tm_attempts *attempts, tm_memory *memory);
void tm_attempts_clear(tm_attempts *attempts);
/* Begin an attempt that is in no heap yet. `ready` is the heap of its subscription, which has `kept` attempts now.
 * ATTEMPT_NONE: no memory. */
uint32_t tm_attempts_begin(tm_attempts *attempts, tm_heap *ready, uint32_t kept);
/* End an attempt that is in no heap. */
void tm_attempts_end(tm_attempts *attempts, uint32_t id);

/* Add an attempt to a heap under a key, or remove it. A heap has room for every attempt that may enter it. */
void tm_heap_put(tm_attempts *attempts, tm_heap *heap, uint32_t id, uint64_t key);
void tm_heap_take(tm_attempts *attempts, tm_heap *heap, uint32_t id);
/* Return the attempt with the least key; ATTEMPT_NONE: the heap is empty. */
static inline uint32_t tm_heap_least(const tm_heap *heap) {
    return heap->count > 0 ? heap->attempts[0] : ATTEMPT_NONE;
}
void tm_heap_free(tm_heap *heap, tm_memory *memory);
bool tm_heap_is_sound(const tm_attempts *attempts, const tm_heap *heap);

#endif
