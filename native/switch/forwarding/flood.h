/* flood.h - forwarding where other routers request all messages, or none. */
#ifndef TM_SWITCH_FORWARDING_FLOOD_H
#define TM_SWITCH_FORWARDING_FLOOD_H

#include "switch/message.h"

/* Queue a copy for each link that switch_depart would choose. The table is not matched if every remote filter matches
 * everything. */
int switch_flood(tm_switch *sw, const tm_message *message, uint32_t key, uint32_t came_from, uint32_t *behind);

#endif
