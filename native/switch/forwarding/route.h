/* route.h - the ROUTE of a message, replaced or left out in a frame of its own.
 *
 * Law: the message keeps all its other extensions, and there is one such frame: it is valid until the next call.
 */
#ifndef TM_SWITCH_FORWARDING_ROUTE_H
#define TM_SWITCH_FORWARDING_ROUTE_H

#include "switch/message.h"

/* Set `*out` to the message with a ROUTE of these bytes in front of its other extensions, in place of its own; `size`
 * 0: to the message without one. false: there is no memory, or no room in a frame. */
bool switch_set_route(tm_switch *sw, const tm_message *message, const uint8_t *route, uint32_t size, tm_message *out);
/* Return the message with a ROUTE of these bytes; unchanged if switch_set_route fails. */
tm_message switch_with_route(tm_switch *sw, const tm_message *message, const uint8_t *route, uint32_t size);

#endif
