/* resume.h - connections that waited resume: for routers to be in step (step.c), or for an older route (order.c). */
#ifndef TM_SWITCH_RESUME_H
#define TM_SWITCH_RESUME_H

#include "switch/state.h"

/* Process the frames that need no longer wait for messages by an older route. */
void switch_catch_up(tm_switch *sw);

#endif
