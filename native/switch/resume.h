/* resume.h - connections that waited go on: for routers to be in step (step.c), or for messages by an older way
 * (order.c). */
#ifndef TM_SWITCH_RESUME_H
#define TM_SWITCH_RESUME_H

#include "switch/state.h"

/* Take the frames that need not wait for an older way any more. */
void switch_catch_up(tm_switch *sw);

#endif
