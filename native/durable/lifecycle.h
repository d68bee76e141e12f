/* lifecycle.h - a switch gets its log, and with it keeps, and gives them back. */
#ifndef TM_DURABLE_LIFECYCLE_H
#define TM_DURABLE_LIFECYCLE_H

#include "durable/state.h"

void keep_free_all(tm_switch *sw);

#endif
