/* neighbours.h - routers that links lead to: each has a place as long as a link or a route refers to it. */
#ifndef TM_SWITCH_NEIGHBOURS_H
#define TM_SWITCH_NEIGHBOURS_H

#include "switch/state.h"

/* Find the place of a neighbour, and assign one if it has none. */
int switch_use_neighbour(tm_switch *sw, uint64_t number, uint32_t *place);
/* Admit a connection as a link; returns TM_OK, TM_NO_MEMORY, TM_TOO_MANY or TM_MISUSED. */
int switch_join_neighbour(tm_switch *sw, uint32_t connection, uint64_t number);
/* Remove the ended link of a connection. The connection keeps its place number, so that it still counts as a link. */
void switch_leave_neighbour(tm_switch *sw, uint32_t connection);

#endif
