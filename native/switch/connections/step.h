/* step.h - confirmed publishes wait while this router and its neighbours are not in step. */
#ifndef TM_SWITCH_CONNECTIONS_STEP_H
#define TM_SWITCH_CONNECTIONS_STEP_H

#include "switch/state.h"

/* Return how a PUBLISH frame is treated now: TM_STEP_*. */
int switch_step_of(const tm_switch *sw, const uint8_t *frame);
/* Postpone the current frame of a connection and all its input behind it. */
void switch_wait(tm_switch *sw, uint32_t connection);
/* End the wait of a connection for routers to be in step, if it waits. */
void switch_wait_no_more(tm_switch *sw, uint32_t connection);
/* Stop or resume reading a connection; if Python feeds it (tm_switch_feed), report that to Python. */
void switch_stop_reading(tm_switch *sw, uint32_t connection);
void switch_go_on_reading(tm_switch *sw, uint32_t connection);

#endif
