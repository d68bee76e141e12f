/* trace.h - the trail of a message that somebody asks about, handed up as a tm_trace. */
#ifndef TM_SWITCH_OBSERVE_TRACE_H
#define TM_SWITCH_OBSERVE_TRACE_H

#include "switch/message.h"

void switch_trace(tm_switch *sw, const tm_message *message);
/* May this client have one more message traced? If not, a dry run is refused, and false; any other message goes on
 * without its trace, of which `found` knows no more. */
bool switch_afford_trace(tm_switch *sw, tm_message *message, extensions *found);

#endif
