/* rows.h - a message gets its row in a keep. */
#ifndef TM_DURABLE_MESSAGES_ROWS_H
#define TM_DURABLE_MESSAGES_ROWS_H

#include "durable/state.h"

/* A row for a message whose frame is given, and its keys; it is not in the index yet. */
tm_kept keep_row(const tm_switch *sw, const tm_keep *keep, uint64_t n, uint64_t at_ms, const uint8_t *frame,
                 uint32_t size, tm_kept_keys *keys);
/* Room for one more row; NULL: it is for no message. false: no memory. */
bool keep_reserve(tm_switch *sw, tm_keep *keep, const uint8_t *frame);
/* ... for a row that has keys or none. */
bool keep_reserve_row(tm_switch *sw, tm_keep *keep, bool has_keys);
/* After keep_reserve. */
void keep_put(tm_switch *sw, uint32_t slot, const tm_kept *row, const tm_kept_keys *keys);

#endif
