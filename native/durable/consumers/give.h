/* give.h - delivery of the messages of a durable subscription to its consumers. */
#ifndef TM_DURABLE_CONSUMERS_GIVE_H
#define TM_DURABLE_CONSUMERS_GIVE_H

#include "durable/state.h"

/* Deliver the messages of a subscription as far as its consumers have room. */
void durable_hand_out(tm_switch *sw, uint32_t slot);
/* Take back a message that is out and redeliver it after `delay_ms`; 0: after the backoff of the policy. At the
 * delivery limit it becomes a dead letter. */
void durable_take_back(tm_switch *sw, uint32_t slot, tm_stored_row *row, uint32_t delay_ms, const uint8_t *reason,
                       uint32_t reason_size);
/* Count a failed attempt of a row that is out; true: it reached the delivery limit, and the row becomes a dead
 * letter. */
bool durable_fail(tm_switch *sw, uint32_t slot, tm_stored_row *row, const uint8_t *reason, uint32_t reason_size);

#endif
