/* done.h - ranges of finished messages, appended as one record for many ranges of all subscriptions. */
#ifndef TM_DURABLE_CORE_DONE_H
#define TM_DURABLE_CORE_DONE_H

#include "durable/state.h"

/* Reserve one more range; false: no memory, or too many ranges wait for the log. */
bool durable_reserve_done(tm_switch *sw);
/* Record that a holder is done with the numbers; without memory for it they return after a start. */
void durable_note_done(tm_switch *sw, uint32_t holder, uint64_t first, uint64_t last);
/* Append the done ranges as far as the log takes them, unless losses that are not appended yet come first. */
void durable_flush_done(tm_switch *sw);

#endif
