/* expiry.h - what has to leave a keep by its terms leaves. */
#ifndef TM_DURABLE_MESSAGES_EXPIRY_H
#define TM_DURABLE_MESSAGES_EXPIRY_H

#include "durable/state.h"

void keep_hold_to_terms(tm_switch *sw, uint32_t slot);

#endif
