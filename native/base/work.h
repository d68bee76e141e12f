/* work.h - the cost of one message, in counted steps.
 *
 * Law: a step is about ten nanoseconds where memory is far away: a row read, a test made, WORK_BYTES bytes of a
 * text compared. Steps are counted by lists and passes, not one by one, and in advance where their number is known.
 * A match that exceeds its steps stops, and its results are discarded.
 */
#ifndef TM_WORK_H
#define TM_WORK_H

#include <stdbool.h>
#include <stdint.h>

#define WORK_BYTES 8U /* bytes of a text that is compared or searched, for a step */
#define WORK_HOP 6U   /* steps of a jump to another node of a tree or trie */
#define WORK_BODY 4U  /* steps of a filter whose tests are made one by one */

typedef struct tm_work {
    uint64_t steps;
    uint64_t steps_max;
} tm_work;

static inline bool tm_work_is_over(const tm_work *work) {
    return work->steps > work->steps_max;
}

/* Return how many more steps are allowed. */
static inline uint64_t tm_work_left(const tm_work *work) {
    return tm_work_is_over(work) ? 0 : work->steps_max - work->steps;
}

/* Spend steps; false: the budget is exceeded. */
static inline bool tm_work_spend(tm_work *work, uint64_t steps) {
    work->steps += steps;
    return !tm_work_is_over(work);
}

/* Return the steps of a text that is read once. */
static inline uint64_t tm_work_of_text(uint64_t length) {
    return 1 + length / WORK_BYTES;
}

#endif
