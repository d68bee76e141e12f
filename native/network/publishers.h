/* publishers.h - which messages of a publisher came before: where they entered, and where they were delivered.
 *
 * Law: a publisher counts on by one while it runs, and begins anywhere when it starts; so its counters lie in runs.
 *
 *     first ............................. highest        one within RUN_REACH above `highest` belongs to the run
 *                    [last PUBLISHER_WINDOW]             known one by one, by each mark; older ones count as seen
 *
 * The two marks of a counter say three things: delivered alone is what came from another router; both, what entered
 * here; entered alone, what entered here and is stored by a keep.
 *
 * A counter outside every run was never seen, however old it is. So a clock that steps back loses nothing where a
 * message is delivered, and a second try that came by another router is still known. At its bound (RUNS_MAX) the run
 * used least recently is forgotten; at theirs, the publisher that has been quiet longest.
 */
#ifndef TM_PUBLISHERS_H
#define TM_PUBLISHERS_H

#include "base/idset.h"

#define PUBLISHER_NONE UINT32_MAX
#define PUBLISHER_WINDOW 4096U /* counters of a run that are known one by one */
#define RUNS_MAX 4U            /* of one publisher: starts under other clocks, and gaps in what is wanted here */
#define RUN_REACH (1U << 20)   /* a millisecond of counters that begin at a clock: no start comes sooner */

typedef enum { MARK_ENTERED, MARK_DELIVERED, MARKS } tm_mark;

typedef struct tm_run {
    uint64_t first;
    uint64_t highest;
    uint64_t seen[MARKS][PUBLISHER_WINDOW / 64]; /* by counter modulo the window */
} tm_run;

typedef struct tm_publisher {
    uint64_t number;
    uint32_t newer; /* in order of use */
    uint32_t older;
    uint32_t run_count;
    tm_run *runs[RUNS_MAX]; /* owned; the one used last is the first */
} tm_publisher;

typedef struct tm_publishers {
    tm_memory *memory;  /* borrowed */
    tm_publisher *rows; /* owned */
    uint32_t count;
    uint32_t capacity;
    uint32_t rows_max;
    uint32_t newest; /* used last */
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

/* Whether a confirmed message is stored by a keep of this router. */
typedef enum {
    STORED_UNKNOWN, /* it is not known, or the publisher has not asked */
    STORED_NOT,     /* no keep wanted it */
    STORED,
} tm_stored;

void tm_publishers_init(tm_publishers *publishers, tm_memory *memory, uint32_t rows_max);
void tm_publishers_clear(tm_publishers *publishers);

/* A message of publisher `number` enters here: it is noted, as entered and as delivered, unless it is refused. `*row`
 * is where the publisher stood last time, a hint that is kept up to date. Runs above `believable` do not count: some
 * other router let them in. */
tm_counter tm_publishers_enter(tm_publishers *publishers, uint64_t number, uint64_t counter, uint64_t believable,
                               uint32_t *row);
/* One that entered elsewhere is to be delivered here; false: no memory. `*fresh`: it was not before. */
bool tm_publishers_deliver(tm_publishers *publishers, uint64_t number, uint64_t counter, bool *fresh);
/* One that was entered was not taken after all, and may come again. */
void tm_publishers_withdraw(tm_publishers *publishers, uint64_t number, uint64_t counter);
/* Note that one that entered here is stored by a keep. */
void tm_publishers_note_stored(tm_publishers *publishers, uint64_t number, uint64_t counter);
/* Forget that one entered here: it counts as one that came from another router, and is not known to be stored. */
void tm_publishers_note_moved(tm_publishers *publishers, uint64_t number, uint64_t counter);
/* Return whether one that entered here before is stored by a keep. */
tm_stored tm_publishers_stored(const tm_publishers *publishers, uint64_t number, uint64_t counter);
/* The highest counter known of it, but for those above `believable`; 0: none. */
uint64_t tm_publishers_newest(const tm_publishers *publishers, uint64_t number, uint64_t believable);
bool tm_publishers_are_sound(const tm_publishers *publishers);

#endif
