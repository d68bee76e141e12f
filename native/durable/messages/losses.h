/* losses.h - lost messages are counted, and the counts are written. */
#ifndef TM_DURABLE_MESSAGES_LOSSES_H
#define TM_DURABLE_MESSAGES_LOSSES_H

#include "durable/state.h"

/* Reserve one more loss; false: no memory. */
bool durable_reserve_loss(tm_switch *sw, tm_durable *durable);
/* Have the counts written without a range, after durable_reserve_loss. They are not reported. */
void durable_note_counts_due(tm_switch *sw, tm_durable *durable);
/* Lose the row at a place; false: no memory to record it, and it stays. */
bool durable_lose(tm_switch *sw, uint32_t slot, uint32_t at, tm_leaving how);
/* Count a message that a subscription matched and could not store; it has no position. This needs no memory. These
 * losses are written at most once a tick, so that they do not fill a full log; a crash takes back those not written. */
void durable_lose_unstored(tm_switch *sw, uint32_t slot, uint32_t size, tm_leaving how);
/* Skip the open row at a place: as durable_lose, but it is retained where acknowledged messages are. */
bool durable_skip(tm_switch *sw, uint32_t slot, uint32_t at);
/* Append the losses of a subscription as far as the log takes them. */
void durable_flush_losses(tm_switch *sw, uint32_t slot);

#endif
