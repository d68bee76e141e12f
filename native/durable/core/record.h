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
/* Record that this router stored a message for a home, under number `n` of its log; or that it did not store message
 * `n` of an entry. Of messages that are not sampled there is no record. */
void durable_record_entered(tm_switch *sw, uint64_t home, const uint8_t *frame, uint64_t n);
void durable_record_passed(tm_switch *sw, uint64_t entry, const uint8_t *frame, uint64_t n);
/* Record that this router has given up `messages` for a home; or has told its consumers that messages of an entry do
 * not come, as many or (0) an unknown number. They are all of the chain from `first` to `last`. */
void durable_record_given_up(tm_switch *sw, uint64_t home, uint64_t first, uint64_t last, uint64_t messages);
void durable_record_missed(tm_switch *sw, uint64_t entry, uint64_t first, uint64_t last, uint64_t messages);
/* Record that a consumer receives the total of one kind of loss. */
void durable_record_told(tm_switch *sw, const tm_durable *durable, tm_leaving how, uint32_t connection);

#endif
