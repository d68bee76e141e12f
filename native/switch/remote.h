/* remote.h - remote sessions, as the connections of their clients see them. */
#ifndef TM_SWITCH_REMOTE_H
#define TM_SWITCH_REMOTE_H

#include "switch/remote_rows.h"

/* Send an ACK or a CREDIT of a client to the home, if it names a consumer there; false: it does not. */
bool switch_say_to_home(tm_switch *sw, uint32_t connection, const uint8_t *frame, uint32_t size);
/* End the sessions of a connection that has ended. */
void switch_leave_remotes(tm_switch *sw, uint32_t connection);

#endif
