/* frames.h - ACK and CREDIT frames of consumers. */
#ifndef TM_DURABLE_CONSUMERS_FRAMES_H
#define TM_DURABLE_CONSUMERS_FRAMES_H

#include "durable/state.h"

/* Entries of tm_durable_ops (switch/durable.h). */
bool durable_take_ack(tm_switch *sw, uint32_t connection, const uint8_t *frame, uint32_t size);
bool durable_take_credit(tm_switch *sw, uint32_t connection, const uint8_t *frame, uint32_t size);

#endif
