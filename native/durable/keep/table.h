/* table.h - keeps by their numbers, their accounts, and which of them have something to do. */
#ifndef TM_DURABLE_KEEP_TABLE_H
#define TM_DURABLE_KEEP_TABLE_H

#include "durable/state.h"

/* The account of a keep; of one that has none, zeros. */
const tm_keep_account *keep_account(const tm_keep *keep);
/* Let it have one; false: no memory. */
bool keep_open_account(tm_switch *sw, tm_keep *keep);
/* The slot of a keep; KEEP_NONE: there is none. */
uint32_t keep_slot(const tm_switch *sw, uint32_t number);
/* KEEP_NONE: no memory. */
uint32_t keep_new_slot(tm_switch *sw, uint32_t number);
void keep_free_slot(tm_switch *sw, uint32_t slot);
bool keep_numbers_are_sound(const tm_switch *sw);
/* It has something to do in the next turn. */
void keep_make_due(tm_switch *sw, uint32_t slot);
/* It has messages that are not on disk yet. */
void keep_make_unwritten(tm_switch *sw, uint32_t slot);
void keep_wake(tm_switch *sw);

#endif
