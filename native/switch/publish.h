/* publish.h - a message from a client: validated, counted, stamped, matched and sent on its routes. */
#ifndef TM_SWITCH_PUBLISH_H
#define TM_SWITCH_PUBLISH_H

#include "switch/state.h"

/* Process a PUBLISH or DRY_RUN frame of a client, within its credit. */
void switch_publish(tm_switch *sw, uint32_t connection, const uint8_t *frame, uint32_t size);

#endif
