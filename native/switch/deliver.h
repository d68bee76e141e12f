/* deliver.h - a message goes to this router's own clients: one copy for each whose filters it satisfies. */
#ifndef TM_SWITCH_DELIVER_H
#define TM_SWITCH_DELIVER_H

#include "switch/message.h"

/* Where there are rows, or choices. */
uint32_t switch_deliver_some(tm_switch *sw, const tm_message *message, size_t count);
/* One frame to each subscriber among the rows; returns how many there are. */
static inline uint32_t switch_deliver(tm_switch *sw, const tm_message *message, size_t count) {
    return count == 0 && message->choice_count == 0 ? 0 : switch_deliver_some(sw, message, count);
}

#endif
