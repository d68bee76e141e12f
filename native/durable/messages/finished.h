/* finished.h - messages that consumers at another home are done with. */
#ifndef TM_DURABLE_MESSAGES_FINISHED_H
#define TM_DURABLE_MESSAGES_FINISHED_H

#include "durable/state.h"

/* Let the open row at a place leave if another home has finished its message before it came. */
void durable_leave_if_finished(tm_switch *sw, uint32_t slot, tm_stored_id id, uint64_t n);

#endif
