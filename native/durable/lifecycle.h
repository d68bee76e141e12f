/* lifecycle.h - the switch gets a log and its durable subscriptions, and frees them. */
#ifndef TM_DURABLE_LIFECYCLE_H
#define TM_DURABLE_LIFECYCLE_H

#include "durable/state.h"

/* Free everything that the switch has for durable subscriptions; an entry of tm_durable_ops (switch/durable.h). */
void durable_free_all(tm_switch *sw);

#endif
