/* lack.h - messages that a durable subscription matches and has no room for. */
#ifndef TM_DURABLE_MESSAGES_LACK_H
#define TM_DURABLE_MESSAGES_LACK_H

#include "durable/state.h"

/* Entries of tm_durable_ops (switch/durable.h). */
bool durable_is_incomplete(const tm_switch *sw, const tm_message *message);
bool durable_refuse_lacking(tm_switch *sw, const tm_message *message);
bool durable_has_stored(const tm_switch *sw);
/* Return the entry of a message, borrowed until the next one is recorded; NULL: no subscription is known to lack it. */
const tm_incomplete *durable_find_incomplete(const tm_switch *sw, const tm_message *message);
/* Record that a subscription lacks a message and add `numbers` to those that have it. */
void durable_note_incomplete(tm_switch *sw, tm_message_name name, const uint32_t *numbers, uint32_t count);
/* Record which subscriptions lack the current message after it was stored where there was room, or forget it if none
 * does. */
void durable_take_lack(tm_switch *sw, const tm_message *message);

#endif
