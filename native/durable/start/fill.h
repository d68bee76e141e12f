/* fill.h - a durable subscription is filled from the log after a start. */
#ifndef TM_DURABLE_START_FILL_H
#define TM_DURABLE_START_FILL_H

#include "durable/state.h"

/* Read all that the log has for a subscription or for the catalog. */
int durable_fill(tm_switch *sw, uint32_t slot);

#endif
