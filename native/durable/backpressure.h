/* backpressure.h - backpressure: publishers of stored messages wait while the disk is behind. */
#ifndef TM_DURABLE_BACKPRESSURE_H
#define TM_DURABLE_BACKPRESSURE_H

#include "durable/state.h"

/* Entries of tm_durable_ops (switch/durable.h). */
void durable_let_go(tm_switch *sw);
bool durable_wait_for_log(tm_switch *sw, uint32_t connection, const uint8_t *frame);
void durable_resume_all(tm_switch *sw, uint32_t connection);

#endif
