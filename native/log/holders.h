/* holders.h - for whom records are kept, and what each has done with.
 *
 * Law: a holder is a keep, a home, or the terms of a keep. It is known from the first record on that names it, with
 * everything before that done, until it is forgotten; a record is open while a known holder that it names has not
 * done with it. What was done is a number up to which all is, and ranges above it: sets that only grow, so saying it
 * twice changes nothing.
 */
#ifndef TM_LOG_HOLDERS_H
#define TM_LOG_HOLDERS_H

#include "base/idset.h"
#include "log/layout.h"
#include "log/ranges.h"

typedef struct tm_log_holder {
    uint64_t id;
    uint64_t done; /* every number up to it */
    tm_ranges above;
    tm_role role;
    bool is_known; /* false: a free place */
} tm_log_holder;

typedef struct tm_log_holders {
    tm_memory *memory;  /* borrowed */
    tm_log_holder *all; /* owned, with the ranges in it */
    uint32_t count;     /* places */
    uint32_t capacity;
    uint32_t known;
    uint32_t free; /* a place + 1 where one is free, 0: there may be none */
    tm_idset set;  /* of places + 1 */
} tm_log_holders;

tm_log_holder *tm_log_holders_find(const tm_log_holders *holders, uint64_t id, tm_role role); /* NULL: unknown */
/* Find or add; what is before `first` is done for a new one. NULL: no memory. */
tm_log_holder *tm_log_holders_take(tm_log_holders *holders, uint64_t id, tm_role role, uint64_t first);
void tm_log_holders_forget(tm_log_holders *holders, tm_log_holder *holder);
/* The numbers of a range are done. Without memory for it they are not, which keeps what may be wanted: false. */
bool tm_log_holders_done(tm_log_holders *holders, tm_log_holder *holder, uint64_t first, uint64_t last);
static inline bool tm_log_holders_is_done(const tm_log_holder *holder, uint64_t n) {
    return n <= holder->done || tm_ranges_has(&holder->above, n);
}
void tm_log_holders_free(tm_log_holders *holders);

#endif
