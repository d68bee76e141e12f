/* rows.h - the rows of stored messages. */
#ifndef TM_DURABLE_MESSAGES_ROWS_H
#define TM_DURABLE_MESSAGES_ROWS_H

#include "durable/state.h"

/* Return a row for the message in a frame, and its keys; the row is not in the index yet. */
tm_stored_row durable_row(const tm_switch *sw, const tm_durable *durable, uint64_t n, uint64_t at_ms,
                          const uint8_t *frame, uint32_t size, tm_stored_keys *keys);
/* Reserve one row for the message in `frame`; NULL: a row without keys. false: no memory. */
bool durable_reserve(tm_switch *sw, tm_durable *durable, const uint8_t *frame);
/* Reserve one row; `has_keys`: also its keys. false: no memory. */
bool durable_reserve_row(tm_switch *sw, tm_durable *durable, bool has_keys);
/* Add a row after durable_reserve; with latest_by it replaces the older message of its value. */
void durable_put(tm_switch *sw, uint32_t slot, const tm_stored_row *row, const tm_stored_keys *keys, tm_stored_id id);

#endif
