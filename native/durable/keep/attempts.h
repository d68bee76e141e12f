/* attempts.h - a message that was given out is taken from its holder, or made ready to be given out again. */
#ifndef TM_DURABLE_KEEP_ATTEMPTS_H
#define TM_DURABLE_KEEP_ATTEMPTS_H

#include "base/tested.h"
#include "durable/state.h"

/* By which members are measured: the steady clock. */
static inline uint64_t keep_now_ms(const tm_switch *sw) {
    return TM_BREAKS(TIME_BY_WALL) ? sw->keeps->turn_ms : sw->now_ms;
}

/* A try that is out or paused is ready. */
void keep_make_ready(tm_switch *sw, uint32_t slot, uint32_t id);
/* A try is no longer its holder's. */
void keep_unhold(tm_switch *sw, uint32_t id);

#endif
