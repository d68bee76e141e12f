/* events.h - the events of a call that Python receives, and the start and end of a call. */
#ifndef TM_SWITCH_CONNECTIONS_EVENTS_H
#define TM_SWITCH_CONNECTIONS_EVENTS_H

#include "switch/state.h"

/* Start a call: read the clock and forget the events that the caller has read. */
void switch_begin(tm_switch *sw);
/* End a call: give its events to the caller, who borrows them until the next call. Returns TM_OK. */
int switch_end(tm_switch *sw, const tm_event **events, size_t *count);
/* Append an event for the caller; false: no memory. There is always room for the end of a connection. */
bool switch_tell(tm_switch *sw, tm_event event);
/* Append an event with room for `size` bytes, which the caller fills at once; NULL: no memory. */
uint8_t *switch_tell_bytes(tm_switch *sw, tm_event event, uint32_t size);
/* Append an event of `type` with a copy of a frame; false: no memory. */
bool switch_tell_frame(tm_switch *sw, uint32_t connection, unsigned type, const uint8_t *frame, uint32_t size);
/* Report that the peer broke a rule. Nothing more is read from it, unless the code is not fatal. */
void switch_fault(tm_switch *sw, uint32_t connection, wire_error code, const uint8_t *frame, const char *text);

#endif
