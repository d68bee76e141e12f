/* members.h - attachments: a connection and an id of its own, at one keep. */
#ifndef TM_DURABLE_MEMBERS_MEMBERS_H
#define TM_DURABLE_MEMBERS_MEMBERS_H

#include "durable/state.h"

void keep_go_on(tm_switch *sw, uint32_t connection);
void keep_blame(tm_switch *sw, uint32_t connection);
void keep_leave_all(tm_switch *sw, uint32_t connection);
/* The attachment of a connection by its id; MEMBER_NONE: it has none. */
uint32_t keep_member_of(const tm_switch *sw, uint32_t connection, uint32_t id);
void keep_detach(tm_switch *sw, uint32_t member);
/* Tell a member what its keep has lost in all, by one way. */
void keep_tell_lost(tm_switch *sw, uint32_t member, tm_leaving how);

#endif
