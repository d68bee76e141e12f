/* trace.h - the trail of a traced message, reported as a tm_trace. */
#ifndef TM_SWITCH_OBSERVE_TRACE_H
#define TM_SWITCH_OBSERVE_TRACE_H

#include "switch/message.h"

/* Report the trail of a message by a TM_EVENT_TRACED; without memory it is not reported. */
void switch_trace(tm_switch *sw, const tm_message *message);
/* true if the message may go on: with its trace, or without it if this client exceeds its rate (`found` is then without
 * a trace). A dry run past the rate is refused: false */
bool switch_afford_trace(tm_switch *sw, tm_message *message, extensions *found);

#endif
