/* record.h - writing the trail of a sampled message to the records. */
#ifndef TM_SWITCH_OBSERVE_RECORD_H
#define TM_SWITCH_OBSERVE_RECORD_H

#include "switch/message.h"

/* true if the message must be recorded; by its id alone if the body was not read (`form` is NULL) */
bool switch_is_recorded(tm_switch *sw, const tm_message *message);
/* Write the trail of a message to the records; it is lost and counted without room, or if the trail is incomplete. */
void switch_record(tm_switch *sw, const tm_message *message);

#endif
