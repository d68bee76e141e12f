/* tail.h - which messages came lately, from the end of the log, so that a second try of one is known after a start; and
 * when they came. */
#ifndef TM_DURABLE_START_TAIL_H
#define TM_DURABLE_START_TAIL_H

#include "durable/state.h"

/* Read the end of the log; TM_OK or TM_NO_MEMORY. */
int keep_read_tail(tm_switch *sw);

#endif
