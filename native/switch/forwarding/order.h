/* order.h - messages by a new route wait for those that took the old one. */
#ifndef TM_SWITCH_FORWARDING_ORDER_H
#define TM_SWITCH_FORWARDING_ORDER_H

#include "switch/message.h"

/* true if the message of a link must wait for messages by the old route of its source */
bool switch_must_follow(tm_switch *sw, uint32_t connection, const uint8_t *frame, size_t size);
/* Make a link wait, with its current message and all input behind it. */
void switch_follow(tm_switch *sw, uint32_t connection);
/* End the wait for the old route, whatever is missing. */
void switch_follow_no_more(tm_switch *sw, uint32_t connection);
/* Record the arrival of a message, for messages that wait for it (R5c). */
void switch_note_reached(tm_switch *sw, const tm_message *message);

#endif
