/* order.h - messages that come by a new way wait for those that went the old one. */
#ifndef TM_SWITCH_FORWARDING_ORDER_H
#define TM_SWITCH_FORWARDING_ORDER_H

#include "switch/message.h"

/* Must the message of a link wait for those that went the old way of its source? */
bool switch_must_follow(tm_switch *sw, uint32_t connection, const uint8_t *frame, size_t size);
void switch_follow(tm_switch *sw, uint32_t connection);
/* End the wait for the old way, whatever is still missing. */
void switch_follow_no_more(tm_switch *sw, uint32_t connection);
/* Note that a message has come, for those that wait for it (R5c). */
void switch_note_reached(tm_switch *sw, const tm_message *message);

#endif
