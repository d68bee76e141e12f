/* bodies.h - the frame of a stored message, from the memory of the log or from its files. */
#ifndef TM_DURABLE_CORE_BODIES_H
#define TM_DURABLE_CORE_BODIES_H

#include "durable/state.h"

/* Find the frame in a record of kind message, seed or dead letter; false: it holds no valid frame. */
bool durable_frame_of(const tm_log_record *record, tm_body *body);
/* Find the frame of a row. BODY_LATER: it is being read, and the subscription becomes due after the read. BODY_MISSING:
 * it cannot be read. */
tm_body_result durable_body(tm_switch *sw, uint32_t slot, tm_stored_row *row, tm_body *body);
/* Hand finished reads to their subscriptions. */
void durable_collect_cold(tm_switch *sw);
/* Free the read of a subscription, or leave it to the thread that has it. */
void durable_drop_cold(tm_switch *sw, tm_durable *durable);

#endif
