/* link_drops.h - messages dropped between routers, collected until Python reports them. */
#ifndef TM_SWITCH_OBSERVE_LINK_DROPS_H
#define TM_SWITCH_OBSERVE_LINK_DROPS_H

#include "switch/message.h"

/* Record a message lost to routers behind a neighbour (a place; NEIGHBOUR_NONE: to any router, this one included). */
void switch_note_link_drops(tm_switch *sw, const tm_message *message, uint32_t place, wire_loss reason);

#endif
