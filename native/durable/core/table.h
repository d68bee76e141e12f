/* table.h - durable subscriptions by number, their accounts, and the lists of those with pending work. */
#ifndef TM_DURABLE_CORE_TABLE_H
#define TM_DURABLE_CORE_TABLE_H

#include "durable/state.h"

/* Return the account of a subscription, or one of zeros if it has none. */
const tm_durable_account *durable_account(const tm_durable *durable);
/* Allocate the account if it is missing; false: no memory. */
bool durable_open_account(tm_switch *sw, tm_durable *durable);
/* Return the slot of a subscription; DURABLE_NONE: there is none. */
uint32_t durable_slot(const tm_switch *sw, uint32_t number);
/* Return a new slot for a number; DURABLE_NONE: no memory. */
uint32_t durable_new_slot(tm_switch *sw, uint32_t number);
/* Free a slot whose subscription is cleared. */
void durable_free_slot(tm_switch *sw, uint32_t slot);
bool durable_numbers_are_sound(const tm_switch *sw);
/* Serve the subscription in the next turn. */
void durable_make_due(tm_switch *sw, uint32_t slot);
/* Note that the subscription has messages that are not on disk yet. */
void durable_make_unwritten(tm_switch *sw, uint32_t slot);
/* Wake the switch for a turn. */
void durable_wake(tm_switch *sw);

#endif
