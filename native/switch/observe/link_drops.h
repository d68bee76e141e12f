/* link_drops.h - messages that are dropped between routers, until somebody asks who misses them. */
#ifndef TM_SWITCH_OBSERVE_LINK_DROPS_H
#define TM_SWITCH_OBSERVE_LINK_DROPS_H

#include "switch/message.h"

/* Somebody behind a neighbour (a place; NEIGHBOUR_NONE: anybody, here too) misses a message. */
void switch_note_link_drops(tm_switch *sw, const tm_message *message, uint32_t place, wire_loss reason);

#endif
