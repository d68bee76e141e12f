/* record.h - the trail of a message that is sampled, into the records. */
#ifndef TM_SWITCH_OBSERVE_RECORD_H
#define TM_SWITCH_OBSERVE_RECORD_H

#include "switch/message.h"

/* Is the message to be recorded? The id alone decides where the body was not read (`form` is NULL). */
bool switch_is_recorded(tm_switch *sw, const tm_message *message);
void switch_record(tm_switch *sw, const tm_message *message);

#endif
