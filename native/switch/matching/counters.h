/* counters.h - whether the counter of a message is taken, where the message enters the network. */
#ifndef TM_SWITCH_MATCHING_COUNTERS_H
#define TM_SWITCH_MATCHING_COUNTERS_H

#include "switch/message.h"

/* The highest counter that a message may have now: a day ahead of the later of this router's clock and its epoch. */
uint64_t switch_counter_max(const tm_switch *sw);
/* The counter of a message that its publisher sends here: noted, unless it is refused. */
tm_counter switch_note_counter(tm_switch *sw, tm_connection *publisher, uint64_t counter);
/* Turn it away for its counter, and say so where a confirmation was asked for. */
void switch_refuse_counter(tm_switch *sw, const tm_message *message, tm_counter why);

#endif
