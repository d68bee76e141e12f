/* lifecycle.h - a switch and its connections, from creation to release. */
#ifndef TM_SWITCH_LIFECYCLE_H
#define TM_SWITCH_LIFECYCLE_H

#include "switch/state.h"

/* Close the connections that have ended: release what they own, wait for or serve, and report each to Python. */
void switch_finish_ended(tm_switch *sw);
/* End a call: send queued output and close ended connections, until neither is left. */
void switch_finish(tm_switch *sw);

#endif
