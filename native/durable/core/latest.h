/* latest.h - the newest message of each value of latest_by. */
#ifndef TM_DURABLE_CORE_LATEST_H
#define TM_DURABLE_CORE_LATEST_H

#include "durable/state.h"

/* Remove a row, which leaves, from the newest messages, if it is one. */
void durable_forget_latest(tm_durable *durable, const tm_stored_row *row);
/* Return the position of the newest message with a key; 0: there is none. */
uint64_t durable_find_latest(const tm_durable *durable, uint64_t key);
/* Reserve one more message; false: no memory. */
bool durable_reserve_latest(tm_switch *sw, tm_durable *durable);

#endif
