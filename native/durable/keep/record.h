/* record.h - message records about stored messages. */
#ifndef TM_DURABLE_KEEP_RECORD_H
#define TM_DURABLE_KEEP_RECORD_H

#include "durable/state.h"

/* true if the message of a frame is recorded. */
bool keep_is_recorded(const tm_switch *sw, const uint8_t *frame);
/* true if every message is recorded, so that no frame needs to be read. */
bool keep_are_all_recorded(const tm_switch *sw);
/* true if some messages are recorded, so that the frame must be read. */
bool keep_are_some_recorded(const tm_switch *sw);
/* Record that a subscription has stored a message, whose row has its position. */
void keep_record_kept(tm_switch *sw, const tm_keep *keep, const tm_kept *row, const tm_kept_keys *keys, tm_kept_id id,
                      tm_kept_source source);
/* Record a delivery to a consumer; `deliveries` 0: a replay. */
void keep_record_given(tm_switch *sw, const tm_member *member, const tm_kept *row, tm_kept_id id, uint32_t deliveries,
                       bool maybe_duplicate);
/* Record that a message leaves, before its attempt and the counts change. */
void keep_record_left(tm_switch *sw, const tm_keep *keep, const tm_kept *row, tm_leaving how);
/* Record that a consumer receives the total of one kind of loss. */
void keep_record_told(tm_switch *sw, const tm_keep *keep, tm_leaving how, uint32_t connection);

#endif
