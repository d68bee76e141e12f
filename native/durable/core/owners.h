/* owners.h - what the subscriptions of each owner hold of the log, and whether that is more than the share of the
 * owner. */
#ifndef TM_DURABLE_CORE_OWNERS_H
#define TM_DURABLE_CORE_OWNERS_H

#include "durable/state.h"

/* Reserve the row of subscriptions without an owner; false: no memory. */
bool durable_make_owners(tm_switch *sw);
/* Return what a subscription holds of the log, as charged to its owner. */
uint64_t durable_charge_of(const tm_durable *durable);
/* Charge the owner of a subscription for `rows` messages of `bytes` together, or discharge it. */
void durable_charge(tm_switch *sw, const tm_durable *durable, uint64_t rows, uint64_t bytes);
void durable_discharge(tm_switch *sw, const tm_durable *durable, uint64_t rows, uint64_t bytes);
/* Remove a subscription from its owner. */
void durable_disown(tm_switch *sw, tm_durable *durable);
/* Remove a subscription from its owner and reset its sums. */
void durable_end_charge(tm_switch *sw, tm_durable *durable);
/* true if the share of the owner allows a frame of `size` bytes once the past messages of the subscription are
 * dropped. */
bool durable_share_has_room(const tm_switch *sw, const tm_durable *durable, uint32_t size);
/* true if the owner is past its share and this subscription has to give way. */
bool durable_is_past_share(const tm_switch *sw, const tm_durable *durable);
bool durable_owners_are_sound(const tm_switch *sw);

#endif
