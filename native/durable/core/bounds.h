/* bounds.h - how much a durable subscription may hold, and for how long. */
#ifndef TM_DURABLE_CORE_BOUNDS_H
#define TM_DURABLE_CORE_BOUNDS_H

#include "durable/state.h"

/* Return when a row expires, Unix ms; UINT64_MAX: never. */
uint64_t durable_end_of(const tm_durable *durable, const tm_stored_row *row);
/* true if a subscription holds more than its policy allows. */
bool durable_is_past_policy(const tm_durable *durable);
/* true if a subscription has room for a frame of `size` bytes without dropping open messages, by its policy and by the
 * share of its owner. */
bool durable_has_room(const tm_switch *sw, const tm_durable *durable, uint32_t size);
/* true if its policy leaves room for the frame; for a message that moves between subscriptions of one owner. */
bool durable_has_room_of_own(const tm_durable *durable, uint32_t size);
/* true if a subscription holds more than its policy or the share of its owner allows. */
bool durable_is_past_bounds(const tm_switch *sw, const tm_durable *durable);
/* true if a row has expired by itself or by the retention of its subscription. */
bool durable_is_over(const tm_switch *sw, const tm_durable *durable, const tm_stored_row *row);
/* Schedule the expiry scan for a message that expires at `end_ms`, Unix ms; UINT64_MAX: never. */
void durable_note_end(const tm_switch *sw, tm_durable *durable, uint64_t end_ms);

#endif
