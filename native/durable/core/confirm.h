/* confirm.h - confirmations of stored messages, gathered for one publisher after another. */
#ifndef TM_DURABLE_CORE_CONFIRM_H
#define TM_DURABLE_CORE_CONFIRM_H

#include "durable/state.h"

/* true if a connection is open, and still that of this publisher */
bool durable_is_publisher(tm_switch *sw, uint32_t connection, uint64_t publisher);
/* Confirm `count` messages of a connection from counter `first` on. `*confirming` is CONNECTION_NONE before the first
 * call. */
void durable_confirm_run(tm_switch *sw, uint32_t connection, uint64_t first, uint32_t count, tm_storage stored,
                         uint32_t *confirming);
/* Send what is gathered. */
void durable_send_confirmations(tm_switch *sw, uint32_t *confirming);

#endif
