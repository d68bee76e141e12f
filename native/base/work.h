/* work.h - what one message may cost, in counted steps.
 *
 * Law: a step is some ten nanoseconds where memory is far away: a row looked at, a test made, WORK_BYTES bytes of a
 * text compared. Steps are counted by lists and passes, not one by one, and before they are taken where that is known.
 * A match that has taken too many stops where it is, and what it has found is thrown away.
 */
#ifndef TM_WORK_H
#define TM_WORK_H

#include <stdbool.h>
#include <stdint.h>

#define WORK_BYTES 8U /* of a text that is compared or searched, a step */
#define WORK_HOP 6U   /* steps of a jump to wherever a tree or trie goes on */
#define WORK_BODY 4U  /* steps of a filter whose tests are made one by one */

typedef struct tm_work {
    uint64_t steps;
    uint64_t steps_max;
} tm_work;

static inline bool tm_work_is_over(const tm_work *work) {
    return work->steps > work->steps_max;
}

/* How many more may be taken. */
static inline uint64_t tm_work_left(const tm_work *work) {
    return tm_work_is_over(work) ? 0 : work->steps_max - work->steps;
}

/* false: these are too many. */
static inline bool tm_work_spend(tm_work *work, uint64_t steps) {
    work->steps += steps;
    return !tm_work_is_over(work);
}

/* Of a text that is read once. */
static inline uint64_t tm_work_of_text(uint64_t length) {
    return 1 + length / WORK_BYTES;
}

#endif
