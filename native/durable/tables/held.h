/* held.h - messages whose confirmation waits for several disks: that of this router, and those of their homes.
 *
 * Law: a queue has the marks of one disk, and their numbers do not descend, so that a mark which is due is at the
 * front. A message leaves with its last mark. There are at most `marks_max` marks, and one queue gets at most half of
 * those that are left, so that a disk which is away leaves room for others.
 */
#ifndef TM_DURABLES_HELD_H
#define TM_DURABLES_HELD_H

#include "base/idset.h"

#define HELD_NONE UINT32_MAX

typedef struct tm_held {
    uint64_t origin;
    uint64_t counter;
    uint64_t since_us;   /* steady clock */
    uint32_t connection; /* of the publisher; of a free row, the next one */
    uint32_t left;       /* marks; 0: the row is free */
    bool is_answered;    /* its publisher has been refused, and may try again */
} tm_held;

typedef struct tm_held_mark {
    uint64_t n;
    uint32_t row;
} tm_held_mark;

typedef struct tm_held_queue {
    tm_held_mark *marks; /* owned */
    uint32_t first;
    uint32_t end;
    uint32_t capacity;
} tm_held_queue;

typedef struct tm_held_all {
    tm_memory *memory; /* borrowed */
    tm_held *rows;     /* owned */
    uint32_t count;
    uint32_t capacity;
    uint32_t free;
    uint32_t live;
    uint32_t marks;
    uint32_t marks_max;
    tm_idset set; /* of rows + 1 that are not answered, by origin and counter */
} tm_held_all;

/* Return the row of a message that is not answered; HELD_NONE: there is none. */
uint32_t tm_held_find(const tm_held_all *all, uint64_t origin, uint64_t counter);
/* Add a message without marks, which is not there yet; HELD_NONE: no memory. The next call gives it a mark. */
uint32_t tm_held_begin(tm_held_all *all, const tm_held *message);
/* Wait for number `n` of a queue, which has no greater one. false: the queue has its part of the marks, or there is no
 * memory; the message counts as answered then. */
bool tm_held_mark_at(tm_held_all *all, tm_held_queue *queue, uint64_t n, uint32_t row);
/* Take marks up to number `n` until a message that is not answered has none left, which is `*out`; false: there is no
 * further one. */
bool tm_held_take(tm_held_all *all, tm_held_queue *queue, uint64_t n, tm_held *out);
/* Answer the next message with a mark above `after` and up to `n`, which is `*out`; false: there is no further one.
 * `*passed` is 0 in the first call, and the queue does not change until the last one. */
bool tm_held_refuse(tm_held_all *all, tm_held_queue *queue, uint64_t after, uint64_t n, uint32_t *passed, tm_held *out);
void tm_held_free_queue(tm_held_all *all, tm_held_queue *queue);
/* Free all rows; no queue is used any more. */
void tm_held_clear(tm_held_all *all);
bool tm_held_is_sound(const tm_held_all *all, const tm_held_queue *queue);

#endif
