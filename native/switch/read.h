/* read.h - bytes of a connection into whole frames. */
#ifndef TM_SWITCH_READ_H
#define TM_SWITCH_READ_H

#include "switch/state.h"

void switch_read(tm_switch *sw, uint32_t connection);
void switch_take(tm_switch *sw, uint32_t connection, const uint8_t *bytes, size_t size);
/* Go on with what was kept when a connection began to wait. */
void switch_take_kept(tm_switch *sw, uint32_t connection);
/* A message that went up comes back and waits, behind others that did and in front of what came later. false: no
 * memory. */
bool switch_put_back(tm_switch *sw, uint32_t connection, const uint8_t *frame, uint32_t size);

#endif
