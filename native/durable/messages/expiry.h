/* expiry.h - messages leave a durable subscription by its retention and its bounds. */
#ifndef TM_DURABLE_MESSAGES_EXPIRY_H
#define TM_DURABLE_MESSAGES_EXPIRY_H

#include "durable/state.h"

/* Apply the retention and the bounds of a subscription, a bounded number of rows in a call. */
void durable_hold_to_policy(tm_switch *sw, uint32_t slot);

#endif
