/* transit.h - a message from a link: acceptance, delivery and forwarding. */
#ifndef TM_SWITCH_TRANSIT_H
#define TM_SWITCH_TRANSIT_H

#include "switch/state.h"

/* Process a data frame from a link. `again`: it was handed to Python before for want of a route and is not handed up
 * again. */
void switch_transit(tm_switch *sw, uint32_t connection, const uint8_t *frame, uint32_t size, bool again);

#endif
