/* hold.h - backpressure: publishers of stored messages wait while the disk is behind. */
#ifndef TM_DURABLE_HOLD_H
#define TM_DURABLE_HOLD_H

#include "durable/state.h"

/* Entries of tm_durable (switch/durable.h). */
void keep_let_go(tm_switch *sw);
bool keep_hold_for_log(tm_switch *sw, uint32_t connection, const uint8_t *frame);
void keep_hold_no_more(tm_switch *sw, uint32_t connection);

#endif
