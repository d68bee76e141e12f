/* match_first.h - messages that are matched once, where they enter, and list the routers that they go to. */
#ifndef TM_SWITCH_FORWARDING_MATCH_FIRST_H
#define TM_SWITCH_FORWARDING_MATCH_FIRST_H

#include "switch/message.h"

/* As switch_depart, but a message that enters here lists the routers that it goes to. */
int switch_match_first(tm_switch *sw, const tm_message *message, uint32_t key, uint32_t came_from, uint32_t *behind);
/* The message with a ROUTE of these bytes, in front of its other extensions; as it is where there is no room. Its frame
 * is good until the next one is made. */
tm_message switch_with_route(tm_switch *sw, const tm_message *message, const uint8_t *route, uint32_t size);

#endif
