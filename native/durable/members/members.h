/* members.h - attachments: the consumers of durable subscriptions, each a connection and an id. */
#ifndef TM_DURABLE_MEMBERS_MEMBERS_H
#define TM_DURABLE_MEMBERS_MEMBERS_H

#include "durable/state.h"

/* Entries of tm_durable (switch/durable.h). */
void keep_go_on(tm_switch *sw, uint32_t connection);
void keep_blame(tm_switch *sw, uint32_t connection);
void keep_leave_all(tm_switch *sw, uint32_t connection);
/* Return the attachment of a connection by its id; MEMBER_NONE: there is none. */
uint32_t keep_member_of(const tm_switch *sw, uint32_t connection, uint32_t id);
/* End an attachment; its messages are ready for other consumers. */
void keep_detach(tm_switch *sw, uint32_t member);
/* Report to a consumer the total that its subscription has lost, for one kind of loss. */
void keep_tell_lost(tm_switch *sw, uint32_t member, tm_leaving how);

#endif
