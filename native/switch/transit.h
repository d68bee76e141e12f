/* transit.h - a message from a link: whether it is taken. */
#ifndef TM_SWITCH_TRANSIT_H
#define TM_SWITCH_TRANSIT_H

#include "switch/state.h"

/* A data frame from a link; `again`: it was handed up for want of a route, and is not once more. */
void switch_transit(tm_switch *sw, uint32_t connection, const uint8_t *frame, uint32_t size, bool again);

#endif
