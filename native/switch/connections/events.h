/* events.h - what Python is told of a call, and the beginning and the end of one. */
#ifndef TM_SWITCH_CONNECTIONS_EVENTS_H
#define TM_SWITCH_CONNECTIONS_EVENTS_H

#include "switch/state.h"

/* Start a call: the clock is read and events of the last call are forgotten. */
void switch_begin(tm_switch *sw);
int switch_end(tm_switch *sw, const tm_event **events, size_t *count);
/* Append an event to what the caller gets. false: no memory; there is always room for a connection's end. */
bool switch_tell(tm_switch *sw, tm_event event);
/* Append an event with room for `size` bytes, which the caller fills at once; NULL: no memory. */
uint8_t *switch_tell_bytes(tm_switch *sw, tm_event event, uint32_t size);
/* Append an event of `type` with a copy of a frame; false: no memory. */
bool switch_tell_frame(tm_switch *sw, uint32_t connection, unsigned type, const uint8_t *frame, uint32_t size);
/* The peer broke a rule. Nothing more is read from it, unless the code is not fatal. */
void switch_fault(tm_switch *sw, uint32_t connection, wire_error code, const uint8_t *frame, const char *text);

#endif
