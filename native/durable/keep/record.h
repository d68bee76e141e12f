/* record.h - what becomes of kept messages, into the records. */
#ifndef TM_DURABLE_KEEP_RECORD_H
#define TM_DURABLE_KEEP_RECORD_H

#include "durable/state.h"

/* Is what becomes of the message of a frame noted? */
bool keep_is_recorded(const tm_switch *sw, const uint8_t *frame);
/* ... and of every message, so that of one whose frame cannot be read, too? */
bool keep_are_all_recorded(const tm_switch *sw);
/* ... of some, so that it takes the frame to say of which? */
bool keep_are_some_recorded(const tm_switch *sw);
/* A keep has a message; the row has its position. */
void keep_record_kept(tm_switch *sw, const tm_keep *keep, const tm_kept *row, const tm_kept_keys *keys, tm_kept_id id,
                      tm_kept_source source);
/* It was written to a member; `deliveries` 0: replayed. */
void keep_record_given(tm_switch *sw, const tm_member *member, const tm_kept *row, tm_kept_id id, uint32_t deliveries,
                       bool maybe_duplicate);
/* It is about to leave; its try and the tally are those from before. */
void keep_record_left(tm_switch *sw, const tm_keep *keep, const tm_kept *row, tm_leaving how);
/* A member is told what its keep has lost in all, by one way. */
void keep_record_told(tm_switch *sw, const tm_keep *keep, tm_leaving how, uint32_t connection);

#endif
