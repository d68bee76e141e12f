/* match_first.h - messages that are matched once, where they enter, and list their destination routers. */
#ifndef TM_SWITCH_FORWARDING_MATCH_FIRST_H
#define TM_SWITCH_FORWARDING_MATCH_FIRST_H

#include "switch/message.h"

/* Like switch_depart, but a message that enters here lists its destination routers. */
int switch_match_first(tm_switch *sw, const tm_message *message, uint32_t key, uint32_t came_from, uint32_t *behind);
#endif
