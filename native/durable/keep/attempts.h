/* attempts.h - a message that was given out is taken from its holder, or made ready to be given out again. */
#ifndef TM_DURABLE_KEEP_ATTEMPTS_H
#define TM_DURABLE_KEEP_ATTEMPTS_H

#include "durable/state.h"

/* A try that is out or paused is ready. */
void keep_make_ready(tm_switch *sw, uint32_t slot, uint32_t id);
/* A try is no longer its holder's. */
void keep_unhold(tm_switch *sw, uint32_t id);

#endif
