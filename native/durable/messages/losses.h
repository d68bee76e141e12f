/* losses.h - a message that a keep loses is counted, and the count written. */
#ifndef TM_DURABLE_MESSAGES_LOSSES_H
#define TM_DURABLE_MESSAGES_LOSSES_H

#include "durable/state.h"

/* Room to note one more loss; false: no memory. */
bool keep_reserve_loss(tm_switch *sw, tm_keep *keep);
/* Have the tally written as it is, with no range; after keep_reserve_loss. It is not told. */
void keep_note_tally_due(tm_switch *sw, tm_keep *keep);
/* It is lost; false: no memory to note it, and it stays. */
bool keep_lose(tm_switch *sw, uint32_t slot, uint32_t at, tm_leaving how);
/* A message that the keep wants could not be stored for it: it has no position. This needs no memory; what was lost is
 * written once a tick at most, so that a full log is not filled by it, and a crash takes back what was not. */
void keep_lose_unstored(tm_switch *sw, uint32_t slot, uint32_t size, tm_leaving how);
/* It is open, and the owner has passed over it: as keep_lose, but it is kept on where what is acknowledged is. */
bool keep_skip(tm_switch *sw, uint32_t slot, uint32_t at);
void keep_flush_losses(tm_switch *sw, uint32_t slot);

#endif
