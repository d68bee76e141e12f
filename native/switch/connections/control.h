/* control.h - the control frames that the switch writes itself, and confirmations among them. */
#ifndef TM_SWITCH_CONNECTIONS_CONTROL_H
#define TM_SWITCH_CONNECTIONS_CONTROL_H

#include "switch/state.h"

/* Queue the control frame in `sw->writer`; false: no room. */
bool switch_queue_control(tm_switch *sw, uint32_t connection, int lane);
/* Queue it before all others; a peer that has stopped reading what it asks for is cut off. */
void switch_send_urgent(tm_switch *sw, uint32_t connection);
void switch_confirm(tm_switch *sw, uint32_t connection, uint64_t counter);
/* Confirm all from counter `first` to `last`, and say whether they are stored. */
void switch_confirm_run(tm_switch *sw, uint32_t connection, uint64_t first, uint64_t last, tm_stored stored);
void switch_send_confirmations(tm_switch *sw, uint32_t connection);
/* Refuse a message; `newest`: the highest counter that is known of its publisher, or 0. */
void switch_refuse(tm_switch *sw, uint32_t connection, uint64_t counter, wire_refusal code, const char *text,
                   uint64_t newest);

#endif
