/* tail.h - the messages at the end of the log and their times, so that a retry of one is recognised after a start. */
#ifndef TM_DURABLE_START_TAIL_H
#define TM_DURABLE_START_TAIL_H

#include "durable/state.h"

/* Read the end of the log. TM_OK or TM_NO_MEMORY. */
int durable_read_tail(tm_switch *sw);

#endif
