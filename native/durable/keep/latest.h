/* latest.h - with latest_by: the newest message of each value. */
#ifndef TM_DURABLE_KEEP_LATEST_H
#define TM_DURABLE_KEEP_LATEST_H

#include "durable/state.h"

/* The row of a position leaves, and is not the newest of its value any more. */
void keep_forget_latest(tm_keep *keep, const tm_kept *row);
/* The newest row of a value; and the room that it needs. */
uint64_t keep_find_latest(const tm_keep *keep, uint64_t key);
bool keep_reserve_latest(tm_switch *sw, tm_keep *keep);

#endif
