/* rescan.h - sealed segments are read again, for an index or to verify them. */
#ifndef TM_LOG_RESCAN_H
#define TM_LOG_RESCAN_H

#include "log/store.h"

/* Rebuild the index of a sealed segment with damaged records; it is then closed. TM_NO_MEMORY: retry later, also if a
 * thread reads it. */
int tm_store_rescan(tm_store *store, tm_segment *segment);
/* Verify the head, all batches and the footer of a sealed segment; `*is_sound`: they are as written. TM_OK or
 * TM_NO_MEMORY. */
int tm_store_check(tm_store *store, tm_segment *segment, bool *is_sound);

#endif
