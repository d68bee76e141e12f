/* attempts.h - an attempt loses its holder or becomes ready for redelivery. */
#ifndef TM_DURABLE_CORE_ATTEMPTS_H
#define TM_DURABLE_CORE_ATTEMPTS_H

#include "base/tested.h"
#include "durable/state.h"

/* Return the time by which consumers are measured: the steady clock in ms. */
static inline uint64_t durable_now_ms(const tm_switch *sw) {
    return TM_BREAKS(TIME_BY_WALL) ? sw->durables->turn_ms : sw->now_ms;
}

/* Make an attempt that is out or paused ready. */
void durable_make_ready(tm_switch *sw, uint32_t slot, uint32_t id);
/* Remove an attempt from the list of its holder, if it has one. */
void durable_resume(tm_switch *sw, uint32_t id);

#endif
