/* table.h - durable subscriptions by number, their accounts, and the lists of those with pending work. */
#ifndef TM_DURABLE_KEEP_TABLE_H
#define TM_DURABLE_KEEP_TABLE_H

#include "durable/state.h"

/* Return the account of a subscription, or one of zeros if it has none. */
const tm_keep_account *keep_account(const tm_keep *keep);
/* Allocate the account if it is missing; false: no memory. */
bool keep_open_account(tm_switch *sw, tm_keep *keep);
/* Return the slot of a subscription; KEEP_NONE: there is none. */
uint32_t keep_slot(const tm_switch *sw, uint32_t number);
/* Return a new slot for a number; KEEP_NONE: no memory. */
uint32_t keep_new_slot(tm_switch *sw, uint32_t number);
/* Free a slot whose subscription is cleared. */
void keep_free_slot(tm_switch *sw, uint32_t slot);
bool keep_numbers_are_sound(const tm_switch *sw);
/* Serve the subscription in the next turn. */
void keep_make_due(tm_switch *sw, uint32_t slot);
/* Note that the subscription has messages that are not on disk yet. */
void keep_make_unwritten(tm_switch *sw, uint32_t slot);
/* Wake the switch for a turn. */
void keep_wake(tm_switch *sw);

#endif
