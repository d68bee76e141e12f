/* bodies.h - the frame of a message that is kept: from the memory of the log, or from its files. */
#ifndef TM_DURABLE_KEEP_BODIES_H
#define TM_DURABLE_KEEP_BODIES_H

#include "durable/state.h"

/* The frame that a record of kind message or dead letter holds; false: it holds none. */
bool keep_frame_of(const tm_log_record *record, tm_body *body);
/* The frame of a row; LATER: it is being read, and the keep becomes due then. */
tm_body_result keep_body(tm_switch *sw, uint32_t slot, tm_kept *row, tm_body *body);
/* Reads that are done come back to their keeps. */
void keep_collect_cold(tm_switch *sw);
void keep_drop_cold(tm_switch *sw, tm_keep *keep);

#endif
