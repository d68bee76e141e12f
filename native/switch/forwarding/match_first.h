/* match_first.h - messages that are matched once, where they enter, and list their destination routers. */
#ifndef TM_SWITCH_FORWARDING_MATCH_FIRST_H
#define TM_SWITCH_FORWARDING_MATCH_FIRST_H

#include "switch/message.h"

/* Like switch_depart, but a message that enters here lists its destination routers. */
int switch_match_first(tm_switch *sw, const tm_message *message, uint32_t key, uint32_t came_from, uint32_t *behind);
/* Return the message with a ROUTE of these bytes in front of its other extensions; unchanged if there is no room. Its
 * frame is valid until the next call. */
tm_message switch_with_route(tm_switch *sw, const tm_message *message, const uint8_t *route, uint32_t size);

#endif
