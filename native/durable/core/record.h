/* record.h - message records about stored messages. */
#ifndef TM_DURABLE_CORE_RECORD_H
#define TM_DURABLE_CORE_RECORD_H

#include "durable/state.h"

/* true if the message of a frame is recorded. */
bool durable_is_recorded(const tm_switch *sw, const uint8_t *frame);
/* true if every message is recorded, so that no frame needs to be read. */
bool durable_are_all_recorded(const tm_switch *sw);
/* true if some messages are recorded, so that the frame must be read. */
bool durable_are_some_recorded(const tm_switch *sw);
/* Record that a subscription has stored a message, whose row has its position. */
void durable_record_stored(tm_switch *sw, const tm_durable *durable, const tm_stored_row *row,
                           const tm_stored_keys *keys, tm_stored_id id, tm_stored_source source);
/* Record a delivery to a consumer; `deliveries` 0: a replay. */
void durable_record_given(tm_switch *sw, const tm_consumer *consumer, const tm_stored_row *row, tm_stored_id id,
                          uint32_t deliveries, bool maybe_duplicate);
/* Record that a message leaves, before its attempt and the counts change. */
void durable_record_left(tm_switch *sw, const tm_durable *durable, const tm_stored_row *row, tm_leaving how);
/* Record that a consumer receives the total of one kind of loss. */
void durable_record_told(tm_switch *sw, const tm_durable *durable, tm_leaving how, uint32_t connection);

#endif
