/* flood.h - where messages go if the other routers ask for everything, or for nothing. */
#ifndef TM_SWITCH_FORWARDING_FLOOD_H
#define TM_SWITCH_FORWARDING_FLOOD_H

#include "switch/message.h"

/* Queue a copy for each link that switch_depart would choose. The table is not asked where every filter of other
 * routers matches everything. */
int switch_flood(tm_switch *sw, const tm_message *message, uint32_t key, uint32_t came_from, uint32_t *behind);

#endif
