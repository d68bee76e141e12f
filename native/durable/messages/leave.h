/* leave.h - a message leaves a keep, or is done with and kept on. */
#ifndef TM_DURABLE_MESSAGES_LEAVE_H
#define TM_DURABLE_MESSAGES_LEAVE_H

#include "durable/state.h"

/* A record of the book is done with, if it is there. */
void keep_retire_book(tm_switch *sw, uint64_t n);
/* Take a row out of the index and count it; `*first` as tm_index_leave has it. */
void keep_take_out(tm_switch *sw, uint32_t slot, uint32_t at, tm_leaving how, uint64_t *first);
/* A row is done with, and kept on. Returns where a range begins that ends with it: behind what is not done with. */
uint64_t keep_go_past(tm_switch *sw, uint32_t slot, tm_kept *row, tm_leaving how);
/* The row at a place of the index leaves, and is no loss. */
void keep_leave(tm_switch *sw, uint32_t slot, uint32_t at, tm_leaving how);

#endif
