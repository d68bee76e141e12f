/* leave.h - a message leaves a durable subscription, or is done with and retained. */
#ifndef TM_DURABLE_MESSAGES_LEAVE_H
#define TM_DURABLE_MESSAGES_LEAVE_H

#include "durable/state.h"

/* Retire a record of the catalog, if it is there. */
void durable_retire_catalog(tm_switch *sw, uint64_t n);
/* End the attempt of a row that has one. */
void durable_end_attempt(tm_switch *sw, tm_durable *durable, tm_stored_row *row);
/* Remove a row from the index and count it; `*first` as in tm_index_leave. */
void durable_take_out(tm_switch *sw, uint32_t slot, uint32_t at, tm_leaving how, uint64_t *first);
/* Mark a row as done with and retained. Return where the done range that ends with it begins: behind the last open
 * row. */
uint64_t durable_go_past(tm_switch *sw, uint32_t slot, tm_stored_row *row, tm_leaving how);
/* Let the row at a place of the index leave without a loss. */
void durable_leave(tm_switch *sw, uint32_t slot, uint32_t at, tm_leaving how);

#endif
