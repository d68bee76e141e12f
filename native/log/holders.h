/* holders.h - the holders of records, and what each is done with.
 *
 * Law: a holder is a durable subscription, a home, or the policy of a durable subscription. It is known from the first
 * record that names it, with everything before that done, until it is deleted; a record is open while a known holder
 * that it names is not done with it. The done numbers are all up to `done` and the ranges above it: sets that only
 * grow, so applying a range twice changes nothing.
 */
#ifndef TM_LOG_HOLDERS_H
#define TM_LOG_HOLDERS_H

#include "base/idset.h"
#include "log/layout.h"
#include "log/ranges.h"

typedef struct tm_log_holder {
    uint64_t id;
    uint64_t done; /* all numbers up to it are done */
    tm_ranges above;
    tm_role role;
    bool is_known; /* false: the place is free */
} tm_log_holder;

typedef struct tm_log_holders {
    tm_memory *memory;  /* borrowed */
    tm_log_holder *all; /* owned, with the ranges in it */
    uint32_t count;     /* places */
    uint32_t capacity;
    uint32_t known;
    uint32_t free; /* a place + 1 where the search for a free one begins; 0: there is none */
    tm_idset set;  /* of places + 1 */
} tm_log_holders;

tm_log_holder *tm_log_holders_find(const tm_log_holders *holders, uint64_t id, tm_role role); /* NULL: unknown */
/* Return the holder, which is added if unknown, with all numbers before `first` done. NULL: no memory. */
tm_log_holder *tm_log_holders_take(tm_log_holders *holders, uint64_t id, tm_role role, uint64_t first);
/* Remove a holder and its ranges. */
void tm_log_holders_forget(tm_log_holders *holders, tm_log_holder *holder);
/* Mark the numbers of a range as done. false: no memory, and they stay open. */
bool tm_log_holders_done(tm_log_holders *holders, tm_log_holder *holder, uint64_t first, uint64_t last);
static inline bool tm_log_holders_is_done(const tm_log_holder *holder, uint64_t n) {
    return n <= holder->done || tm_ranges_has(&holder->above, n);
}
void tm_log_holders_free(tm_log_holders *holders);

#endif
