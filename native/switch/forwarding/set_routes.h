/* set_routes.h - generations of routes: built, put in force and expired. */
#ifndef TM_SWITCH_SET_ROUTES_H
#define TM_SWITCH_SET_ROUTES_H

#include "switch/state.h"

/* Remove old routes whose hold time is over. */
void switch_expire_routes(tm_switch *sw);

#endif
