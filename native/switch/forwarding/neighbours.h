/* neighbours.h - routers that links lead to: each has a place for as long as a link, or a route, speaks of it. */
#ifndef TM_SWITCH_NEIGHBOURS_H
#define TM_SWITCH_NEIGHBOURS_H

#include "switch/state.h"

/* The place of a neighbour, given out where it has none. */
int switch_use_neighbour(tm_switch *sw, uint64_t number, uint32_t *place);
/* Admit a connection as a link: TM_OK, TM_NO_MEMORY, TM_TOO_MANY or TM_MISUSED. */
int switch_join_neighbour(tm_switch *sw, uint32_t connection, uint64_t number);
/* The link of a connection has ended. The connection keeps its place among the neighbours, so that it is still known to
 * be a link. */
void switch_leave_neighbour(tm_switch *sw, uint32_t connection);

#endif
