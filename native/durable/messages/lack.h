/* lack.h - what becomes of a message that a keep wants and has no room for. */
#ifndef TM_DURABLE_MESSAGES_LACK_H
#define TM_DURABLE_MESSAGES_LACK_H

#include "durable/state.h"

bool keep_is_incomplete(const tm_switch *sw, const tm_message *message);
bool keep_refuse_lacking(tm_switch *sw, const tm_message *message);
/* NULL: no keep is known to lack it. Borrowed until the next one is noted. */
const tm_incomplete *keep_find_incomplete(const tm_switch *sw, const tm_message *message);
/* A keep lacks a message, and these have it, beside those that were noted before. */
void keep_note_incomplete(tm_switch *sw, tm_message_name name, const uint32_t *numbers, uint32_t count);
/* The message at hand was stored where there was room: remember who lacks it, or that nobody does. */
void keep_take_lack(tm_switch *sw, const tm_message *message);

#endif
