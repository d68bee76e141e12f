/* damage.h - what the damage of a log may have taken from a keep. */
#ifndef TM_DURABLE_START_DAMAGE_H
#define TM_DURABLE_START_DAMAGE_H

#include "durable/state.h"

/* Note what may have been lost of records past `since`; the keep has its rows. TM_OK or TM_NO_MEMORY. */
int keep_doubt(tm_switch *sw, uint32_t slot, uint64_t since);

#endif
