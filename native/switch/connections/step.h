/* step.h - publishes that ask for a confirmation while a linked neighbour lacks something. */
#ifndef TM_SWITCH_CONNECTIONS_STEP_H
#define TM_SWITCH_CONNECTIONS_STEP_H

#include "switch/state.h"

/* Take a frame of this connection, and all behind it, later. */
void switch_wait(tm_switch *sw, uint32_t connection);
/* End the wait of a connection, whatever it waited for. */
void switch_wait_no_more(tm_switch *sw, uint32_t connection);
/* Stop or resume reading a connection; where Python feeds it (tm_switch_feed), Python is told. */
void switch_stop_reading(tm_switch *sw, uint32_t connection);
void switch_go_on_reading(tm_switch *sw, uint32_t connection);

#endif
