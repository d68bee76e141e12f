/* deliver.h - delivery to this router's own clients: one copy for each client with a matching filter. */
#ifndef TM_SWITCH_DELIVER_H
#define TM_SWITCH_DELIVER_H

#include "switch/message.h"

/* Deliver a message that has matching rows or choices; returns the number of receivers. */
uint32_t switch_deliver_some(tm_switch *sw, const tm_message *message, size_t count);
/* Queue one frame for each subscriber among the rows; returns the number of receivers. */
static inline uint32_t switch_deliver(tm_switch *sw, const tm_message *message, size_t count) {
    return count == 0 && message->choice_count == 0 ? 0 : switch_deliver_some(sw, message, count);
}

#endif
