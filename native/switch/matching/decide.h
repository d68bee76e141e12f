/* decide.h - residual programs decide which subscriptions want a message that their filters match. */
#ifndef TM_SWITCH_MATCHING_DECIDE_H
#define TM_SWITCH_MATCHING_DECIDE_H

#include "switch/message.h"

/* Of `*count` matching rows in `sw->rows`, leave those whose subscription has no program, or one that says so. */
void switch_decide(tm_switch *sw, const tm_message *message, size_t *count);

#endif
