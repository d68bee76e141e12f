/* publish.h - a message from a client: checked, counted, stamped, matched, and sent on its ways. */
#ifndef TM_SWITCH_PUBLISH_H
#define TM_SWITCH_PUBLISH_H

#include "switch/state.h"

void switch_publish(tm_switch *sw, uint32_t connection, const uint8_t *frame, uint32_t size);

#endif
