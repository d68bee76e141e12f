/* waits.h - what waits for the disk, in the order of asking.
 *
 * Law: numbers that are waited for do not descend, so whatever is due is at the front. There are at most `rows_max`.
 * Confirmations of one publisher whose messages stand side by side in the log are one row, a run: the i-th message of
 * it has number `number` + i and is at `n` + i.
 */
#ifndef TM_KEEPS_WAITS_H
#define TM_KEEPS_WAITS_H

#include "base/memory.h"
#include "tm.h"

typedef enum { WAIT_CONFIRMATION, WAIT_ANSWER, WAIT_LOSS } tm_wait_kind;

typedef struct tm_wait {
    uint64_t n;        /* a run: of the first */
    uint64_t since_us; /* by the steady clock */
    uint64_t origin;   /* a confirmation: who published; an answer: serial of its connection; a loss: doubts in all */
    uint64_t number;   /* a confirmation: the counter; a loss: how many in all */
    uint8_t *frame;    /* owned: an answer */
    uint32_t frame_size;
    uint32_t connection; /* a loss: the keep's number */
    uint32_t count;      /* a run: its messages; others: 1 */
    uint8_t kind;
    uint8_t how;    /* a loss */
    uint8_t stored; /* a confirmation: tm_stored */
} tm_wait;

typedef struct tm_waits {
    tm_memory *memory; /* borrowed */
    tm_wait *rows;     /* owned */
    uint32_t first;
    uint32_t end;
    uint32_t capacity;
    uint32_t rows_max;
} tm_waits;

static inline uint32_t tm_waits_count(const tm_waits *waits) {
    return waits->end - waits->first;
}
/* Room for one more; false: there are as many as may be, or no memory. */
bool tm_waits_reserve(tm_waits *waits);
/* After tm_waits_reserve; the frame of `wait` is owned here from now on. */
void tm_waits_add(tm_waits *waits, const tm_wait *wait);
/* Let a confirmation be part of the run that was added last; false: it does not go on with it. */
bool tm_waits_join(tm_waits *waits, const tm_wait *wait);
/* Take the first one, or as much of a run, that waits for `n` or less; false: there is none. Its frame is the caller's.
 */
bool tm_waits_take(tm_waits *waits, uint64_t n, tm_wait *out);
void tm_waits_clear(tm_waits *waits);
bool tm_waits_are_sound(const tm_waits *waits);

#endif
