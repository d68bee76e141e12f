/* held.h - messages whose confirmation waits for several disks: that of this router, and those of their homes.
 *
 * Law: a queue has the marks of one disk, and their numbers do not descend, so that a mark which is due is at the
 * front. A message waits for each disk of a mark without a place, and for as many of those with a place as its claims
 * say. It is answered once its claims are met, or once they cannot be met any more, and its row leaves with its last
 * mark. There are at most `marks_max` marks, and one queue gets at most half of those that are left, so that a disk
 * which is away leaves room for others; a queue without room is asked for no mark that the claims can do without.
 */
#ifndef TM_DURABLES_HELD_H
#define TM_DURABLES_HELD_H

#include "base/idset.h"

#define HELD_NONE UINT32_MAX
#define HELD_CLAIMS_MAX 4U
#define HELD_PLACES_MAX 12U      /* three homes a claim */
#define HELD_NO_PLACE UINT32_MAX /* of a mark that no claim counts: the message waits for it in any case */

/* At least `needed` of the disks with these places (bits). */
typedef struct tm_held_claim {
    uint16_t places;
    uint16_t needed;
} tm_held_claim;

typedef struct tm_held {
    uint64_t origin;
    uint64_t counter;
    uint64_t since_us;   /* steady clock */
    uint32_t connection; /* of the publisher; of a free row, the next one */
    uint32_t left;       /* marks; 0: the row is free */
    uint32_t waits;      /* marks without a place that are not taken */
    uint16_t reached;    /* places whose disk has it */
    uint16_t lost;       /* places whose disk does not get it, or does not count */
    tm_held_claim claims[HELD_CLAIMS_MAX];
    uint8_t claim_count;
    bool is_answered; /* its publisher is answered; a refused one may try again */
} tm_held;

typedef struct tm_held_mark {
    uint64_t n;
    uint32_t row;
    uint32_t place;
} tm_held_mark;

typedef struct tm_held_queue {
    tm_held_mark *marks; /* owned */
    uint32_t first;
    uint32_t end;
    uint32_t capacity;
    uint32_t rest; /* marks that are asked for until marks of answered messages are dropped again */
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

/* Marks above `after` and up to `n` of a queue whose disk does not get these messages. */
typedef struct tm_held_loss {
    uint64_t after;
    uint64_t n;
    bool of_places; /* those with a place alone */
    uint32_t passed;
} tm_held_loss;

/* Return the row of a message that is not answered; HELD_NONE: there is none. */
uint32_t tm_held_find(const tm_held_all *all, uint64_t origin, uint64_t counter);
/* Add a message with its claims and without marks, which is not there yet; HELD_NONE: no memory. The next call gives it
 * a mark without a place. */
uint32_t tm_held_begin(tm_held_all *all, const tm_held *message);
/* Wait for number `n` of a queue, which has no greater one. false: the queue has its part of the marks, or there is no
 * memory, and the message needs this disk; it counts as answered then. */
bool tm_held_mark_at(tm_held_all *all, tm_held_queue *queue, uint64_t n, uint32_t row, uint32_t place);
/* Take marks up to number `n` until the claims of a message that is not answered are met, which is `*out`; false: there
 * is no further one. */
bool tm_held_take(tm_held_all *all, tm_held_queue *queue, uint64_t n, tm_held *out);
/* Note marks as lost until the claims of a message that is not answered cannot be met, which is `*out` and counts as
 * answered; false: there is no further one. `loss->passed` is 0 in the first call, and the queue does not change until
 * the last one. */
bool tm_held_lose(tm_held_all *all, tm_held_queue *queue, tm_held_loss *loss, tm_held *out);
void tm_held_free_queue(tm_held_all *all, tm_held_queue *queue);
/* Free all rows; no queue is used any more. */
void tm_held_clear(tm_held_all *all);
bool tm_held_is_sound(const tm_held_all *all, const tm_held_queue *queue);

#endif
