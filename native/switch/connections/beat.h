/* beat.h - heartbeats: answers to PINGs, and the offset of a neighbour's clock from PONGs. */
#ifndef TM_SWITCH_CONNECTIONS_BEAT_H
#define TM_SWITCH_CONNECTIONS_BEAT_H

#include "switch/state.h"

/* Answer a PING or note a PONG in its canonical encoding; false: another encoding, which Python decodes. */
bool switch_beat(tm_switch *sw, uint32_t connection, const uint8_t *frame, uint32_t size);

#endif
