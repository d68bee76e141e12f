/* life.h - a durable subscription is opened, gets its filters, is deleted. */
#ifndef TM_DURABLE_LIFE_H
#define TM_DURABLE_LIFE_H

#include "durable/state.h"

/* Free all that a subscription owns. */
void durable_clear(tm_switch *sw, tm_durable *durable);

#endif
