/* control.h - the control frames that the switch writes itself, among them confirmations. */
#ifndef TM_SWITCH_CONNECTIONS_CONTROL_H
#define TM_SWITCH_CONNECTIONS_CONTROL_H

#include "switch/state.h"

/* Queue the control frame in `sw->writer`; false: no room. */
bool switch_queue_control(tm_switch *sw, uint32_t connection, int lane);
/* Queue the control frame in `sw->writer` before all others; a peer that does not read its answers is disconnected. */
void switch_send_urgent(tm_switch *sw, uint32_t connection);
/* Confirm one counter; the ACK is sent by switch_send_confirmations, or when a list is full. */
void switch_confirm(tm_switch *sw, uint32_t connection, uint64_t counter);
/* Confirm all counters from `first` to `last`, with their storage state. */
void switch_confirm_run(tm_switch *sw, uint32_t connection, uint64_t first, uint64_t last, tm_storage stored);
/* Send the pending confirmations of a connection as one ACK. */
void switch_send_confirmations(tm_switch *sw, uint32_t connection);
/* Refuse a message; `newest`: the highest known counter of its publisher, or 0. */
void switch_refuse(tm_switch *sw, uint32_t connection, uint64_t counter, wire_refusal code, const char *text,
                   uint64_t newest);

#endif
