/* rows.h - the rows of stored messages. */
#ifndef TM_DURABLE_MESSAGES_ROWS_H
#define TM_DURABLE_MESSAGES_ROWS_H

#include "durable/state.h"

/* Return a row for the message in a frame, and its keys; the row is not in the index yet. */
tm_kept keep_row(const tm_switch *sw, const tm_keep *keep, uint64_t n, uint64_t at_ms, const uint8_t *frame,
                 uint32_t size, tm_kept_keys *keys);
/* Reserve one row for the message in `frame`; NULL: a row without keys. false: no memory. */
bool keep_reserve(tm_switch *sw, tm_keep *keep, const uint8_t *frame);
/* Reserve one row; `has_keys`: also its keys. false: no memory. */
bool keep_reserve_row(tm_switch *sw, tm_keep *keep, bool has_keys);
/* Add a row after keep_reserve; with latest_by it replaces the older message of its value. */
void keep_put(tm_switch *sw, uint32_t slot, const tm_kept *row, const tm_kept_keys *keys);

#endif
