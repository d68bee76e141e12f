/* by_root.h - messages that follow the tree of the root of their class. */
#ifndef TM_SWITCH_FORWARDING_BY_ROOT_H
#define TM_SWITCH_FORWARDING_BY_ROOT_H

#include "switch/message.h"

/* Like switch_depart, but a message that enters here follows the tree of the root of its class. */
int switch_go_by_root(tm_switch *sw, const tm_message *message, uint32_t key, uint32_t came_from, uint32_t *behind);

#endif
