/* damage.h - what damage of the log may have taken from a durable subscription. */
#ifndef TM_DURABLE_START_DAMAGE_H
#define TM_DURABLE_START_DAMAGE_H

#include "durable/state.h"

/* Count the unknown ranges of records past `since` for a subscription that has its rows. TM_OK or TM_NO_MEMORY. */
int durable_unknown(tm_switch *sw, uint32_t slot, uint64_t since);

#endif
