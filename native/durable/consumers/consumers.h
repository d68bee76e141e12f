/* consumers.h - the consumers of durable subscriptions, each a connection and an id. */
#ifndef TM_DURABLE_CONSUMERS_CONSUMERS_H
#define TM_DURABLE_CONSUMERS_CONSUMERS_H

#include "durable/state.h"

/* Entries of tm_durable_ops (switch/durable.h). */
void durable_go_on(tm_switch *sw, uint32_t connection);
void durable_blame(tm_switch *sw, uint32_t connection);
void durable_leave_all(tm_switch *sw, uint32_t connection);
/* Return the consumer of a connection by its id; CONSUMER_NONE if there is none. */
uint32_t durable_consumer_of(const tm_switch *sw, uint32_t connection, uint32_t id);
/* End a consumer; its messages are ready for other consumers. */
void durable_cancel(tm_switch *sw, uint32_t consumer);
/* Report to a consumer the total that its subscription has lost, for one kind of loss. */
void durable_tell_lost(tm_switch *sw, uint32_t consumer, tm_leaving how);

#endif
