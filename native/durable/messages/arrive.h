/* arrive.h - a message of a chain arrives at this router, which is a home. */
#ifndef TM_DURABLE_MESSAGES_ARRIVE_H
#define TM_DURABLE_MESSAGES_ARRIVE_H

#include "durable/state.h"

/* Entry of tm_durable_ops (switch/durable.h). */
void durable_arrive(tm_switch *sw, tm_message *message, const extensions *found);

#endif
