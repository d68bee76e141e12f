/* set_routes.h - generations of routes come and go. */
#ifndef TM_SWITCH_SET_ROUTES_H
#define TM_SWITCH_SET_ROUTES_H

#include "switch/state.h"

/* End the holds of old ways whose time is over. */
void switch_expire_routes(tm_switch *sw);

#endif
