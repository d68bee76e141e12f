/* publishers.h - duplicate detection by publisher and counter: which messages entered here, which were delivered here.
 *
 * Law: a publisher counts up by one while it runs, and begins anywhere when it starts; its counters therefore form
 * runs.
 *
 *     first ............................. highest        one within RUN_REACH above `highest` belongs to the run
 *                    [last PUBLISHER_WINDOW]             known one by one, by each mark; older ones count as seen
 *
 * The two marks of a counter encode three states: delivered alone means that the message came from another router;
 * both, that it entered here; entered alone, that it entered here and is stored by a durable subscription.
 *
 * A counter outside every run counts as new, however old it is. Therefore a clock that steps back loses no deliveries,
 * and a retry by another router is still detected. At RUNS_MAX the least recently used run is forgotten; at `rows_max`
 * the publisher that has been quiet longest.
 */
#ifndef TM_PUBLISHERS_H
#define TM_PUBLISHERS_H

#include "base/idset.h"

#define PUBLISHER_NONE UINT32_MAX
#define PUBLISHER_WINDOW 4096U /* counters of a run that are known one by one */
#define RUNS_MAX 4U            /* of one publisher: starts with other clocks, and gaps in what arrives here */
#define RUN_REACH (1U << 20)   /* a millisecond of counters that begin at a clock; restarts are further apart */

typedef enum { MARK_ENTERED, MARK_DELIVERED, MARKS } tm_mark;

typedef struct tm_run {
    uint64_t first;
    uint64_t highest;
    uint64_t seen[MARKS][PUBLISHER_WINDOW / 64]; /* by counter modulo the window */
} tm_run;

typedef struct tm_publisher {
    uint64_t number;
    uint32_t newer; /* linked in order of use */
    uint32_t older;
    uint32_t run_count;
    tm_run *runs[RUNS_MAX]; /* owned; the most recently used first */
} tm_publisher;

typedef struct tm_publishers {
    tm_memory *memory;  /* borrowed */
    tm_publisher *rows; /* owned */
    uint32_t count;
    uint32_t capacity;
    uint32_t rows_max;
    uint32_t newest; /* most recently used */
    uint32_t oldest;
    tm_idset set; /* of rows + 1, by number */
} tm_publishers;

typedef enum {
    COUNTER_NEW,
    COUNTER_NEW_BUT_DELIVERED, /* it entered elsewhere before, and was delivered here */
    COUNTER_DUPLICATE,         /* it entered here before */
    COUNTER_TOO_OLD,
    COUNTER_TOO_FAR_AHEAD,
    COUNTER_NO_MEMORY,
} tm_counter;

/* Whether a durable subscription of this router stores a message. */
typedef enum {
    STORED_UNKNOWN, /* unknown, or the publisher did not request storage */
    STORED_NOT,     /* no durable subscription matched it */
    STORED,
} tm_storage;

void tm_publishers_init(tm_publishers *publishers, tm_memory *memory, uint32_t rows_max);
void tm_publishers_clear(tm_publishers *publishers);

/* Mark a message of publisher `number` that enters here as entered and delivered, unless it is refused. `*row` caches
 * the publisher's row and is updated. Runs above `believable` are ignored, because another router accepted them. */
tm_counter tm_publishers_enter(tm_publishers *publishers, uint64_t number, uint64_t counter, uint64_t believable,
                               uint32_t *row);
/* Mark a message that entered elsewhere as delivered here; false: no memory. `*fresh`: it was not marked before. */
bool tm_publishers_deliver(tm_publishers *publishers, uint64_t number, uint64_t counter, bool *fresh);
/* Forget a message that entered and was then rejected, so that it may come again. */
void tm_publishers_withdraw(tm_publishers *publishers, uint64_t number, uint64_t counter);
/* Mark a message that entered here as stored by a durable subscription. */
void tm_publishers_note_stored(tm_publishers *publishers, uint64_t number, uint64_t counter);
/* Forget that a message entered here: it counts as one from another router, with unknown storage. */
void tm_publishers_note_moved(tm_publishers *publishers, uint64_t number, uint64_t counter);
/* Return whether a message that entered here is stored by a durable subscription. */
tm_storage tm_publishers_stored(const tm_publishers *publishers, uint64_t number, uint64_t counter);
/* Return the highest known counter of a publisher that is not above `believable`; 0: none. */
uint64_t tm_publishers_newest(const tm_publishers *publishers, uint64_t number, uint64_t believable);
bool tm_publishers_are_sound(const tm_publishers *publishers);

#endif
