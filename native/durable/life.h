/* life.h - a keep is opened, gets its filters, is forgotten. */
#ifndef TM_DURABLE_LIFE_H
#define TM_DURABLE_LIFE_H

#include "durable/state.h"

/* Give back what a keep owns. */
void keep_clear(tm_switch *sw, tm_keep *keep);

#endif
