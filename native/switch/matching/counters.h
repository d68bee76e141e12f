/* counters.h - acceptance of a message's counter where the message enters the network. */
#ifndef TM_SWITCH_MATCHING_COUNTERS_H
#define TM_SWITCH_MATCHING_COUNTERS_H

#include "switch/message.h"

/* Return the highest counter that a message may have now: a day ahead of the later of this router's clock and its
 * epoch. */
uint64_t switch_counter_max(const tm_switch *sw);
/* Record the counter of a message whose publisher sends it here, unless it is refused. */
tm_counter switch_note_counter(tm_switch *sw, tm_connection *publisher, uint64_t counter);
/* Drop a message for its counter, and refuse it if a confirmation was requested. */
void switch_refuse_counter(tm_switch *sw, const tm_message *message, tm_counter why);

#endif
