/* lifecycle.h - a switch and its connections, from their beginning to their end. */
#ifndef TM_SWITCH_LIFECYCLE_H
#define TM_SWITCH_LIFECYCLE_H

#include "switch/state.h"

/* Close the connections that have ended: what they owned, waited for or served is given back, and Python is told. */
void switch_finish_ended(tm_switch *sw);
/* End a call: send what is queued, and close what has ended, until neither is left. */
void switch_finish(tm_switch *sw);

#endif
