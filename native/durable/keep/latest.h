/* latest.h - the newest message of each value of latest_by. */
#ifndef TM_DURABLE_KEEP_LATEST_H
#define TM_DURABLE_KEEP_LATEST_H

#include "durable/state.h"

/* Remove a row, which leaves, from the newest messages, if it is one. */
void keep_forget_latest(tm_keep *keep, const tm_kept *row);
/* Return the position of the newest message with a key; 0: there is none. */
uint64_t keep_find_latest(const tm_keep *keep, uint64_t key);
/* Reserve one more message; false: no memory. */
bool keep_reserve_latest(tm_switch *sw, tm_keep *keep);

#endif
