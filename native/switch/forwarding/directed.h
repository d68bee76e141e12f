/* directed.h - a DIRECTED message: it is for one router, the home that it names, and goes there from next hop to next
 * hop. */
#ifndef TM_SWITCH_FORWARDING_DIRECTED_H
#define TM_SWITCH_FORWARDING_DIRECTED_H

#include "switch/message.h"

/* Process a DIRECTED from a link. */
void switch_take_directed(tm_switch *sw, uint32_t connection, const uint8_t *frame, uint32_t size);

#endif
