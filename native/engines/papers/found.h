/* found.h - collects the constraints that a value satisfies.
 *
 * Law: constraints are reported in batches, so that the counting can prefetch; `done` means that no further one
 * matters, and every index tests it from time to time and then stops.
 */
#ifndef TM_FOUND_H
#define TM_FOUND_H

#include "base/work.h"
#include "tm.h"

#define TM_FOUND_BATCH 256

typedef struct tm_found tm_found;

struct tm_found {
    void (*take)(tm_found *found); /* empties `batch`; may set `done` */
    bool done;
    tm_work work;     /* when it is over, `done` is set */
    uint32_t message; /* its number, which is the stamp of constraints found in it (constraints.h) */
    uint32_t count;
    uint32_t batch[TM_FOUND_BATCH];
};

/* Spend steps for reads beyond the reported constraints. */
static inline void tm_found_spend(tm_found *found, uint64_t steps) {
    found->done |= !tm_work_spend(&found->work, steps);
}

static inline void tm_found_flush(tm_found *found) {
    if (found->count > 0) {
        found->take(found);
        found->count = 0;
    }
}

/* Report `constraint`, or nothing if it is 0: indexes have empty slots. */
static inline void tm_found_add(tm_found *found, uint32_t constraint) {
    found->batch[found->count] = constraint;
    found->count += constraint != 0;
    if (found->count == TM_FOUND_BATCH) {
        tm_found_flush(found);
    }
}

#endif
