/* waiting.h - publishers that wait for disks, that of this router or those of homes too; what is told with them. */
#ifndef TM_DURABLE_WAITING_H
#define TM_DURABLE_WAITING_H

#include "durable/state.h"

/* Entries of tm_durable_ops (switch/durable.h). */
void durable_confirm(tm_switch *sw, uint32_t connection, uint64_t counter, tm_storage stored);
void durable_confirm_held(tm_switch *sw, const tm_message *message);
/* Answer what waits for the disk of this router and is on it. */
void durable_release(tm_switch *sw);
/* Refuse all that waits, as the log has failed. */
void durable_refuse_waiting(tm_switch *sw);

#endif
