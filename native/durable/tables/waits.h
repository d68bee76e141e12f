/* waits.h - confirmations, answers and losses that wait for the disk, in order of arrival.
 *
 * Law: the awaited numbers do not descend, so a row that is due is at the front. There are at most `rows_max` rows.
 * Confirmations of one publisher whose messages are adjacent in the log are one row, a run: its i-th message has number
 * `number` + i and is at `n` + i.
 */
#ifndef TM_DURABLES_WAITS_H
#define TM_DURABLES_WAITS_H

#include "base/memory.h"
#include "tm.h"

typedef enum { WAIT_CONFIRMATION, WAIT_ANSWER, WAIT_LOSS } tm_wait_kind;

typedef struct tm_wait {
    uint64_t n;        /* of a run: its first message */
    uint64_t since_us; /* steady clock */
    uint64_t origin;   /* a confirmation: the publisher; an answer: serial of its connection; a loss: total of unknown
                        * ranges */
    uint64_t number;   /* a confirmation: the counter; an answer: request and subscription id; a loss: total of lost
                        * messages */
    uint8_t *frame;    /* owned: an answer */
    uint32_t frame_size;
    uint32_t connection; /* a loss: the number of the subscription */
    uint32_t count;      /* of a run: its messages; otherwise 1 */
    uint8_t kind;
    uint8_t how;    /* of a loss: a tm_leaving */
    uint8_t stored; /* of a confirmation: a tm_storage */
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
/* Reserve one row; false: `rows_max` is reached, or no memory. */
bool tm_waits_reserve(tm_waits *waits);
/* Append a row after tm_waits_reserve; the table owns the frame of `wait` from then on. */
void tm_waits_add(tm_waits *waits, const tm_wait *wait);
/* Append a confirmation to the last run; false: it does not continue that run. */
bool tm_waits_join(tm_waits *waits, const tm_wait *wait);
/* Take the first row that waits for `n` or less, or the part of a run that does; false: there is none. The caller owns
 * its frame. */
bool tm_waits_take(tm_waits *waits, uint64_t n, tm_wait *out);
/* Free all rows with their frames; no answer is sent. */
void tm_waits_clear(tm_waits *waits);
bool tm_waits_are_sound(const tm_waits *waits);

#endif
