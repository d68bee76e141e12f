/* rescan.h - sealed segments are read again: for an index, or to see whether they are sound.
 */
#ifndef TM_LOG_RESCAN_H
#define TM_LOG_RESCAN_H

#include "log/store.h"

/* Build the index of a sealed segment from its records, which are not all sound: it is closed then. TM_NO_MEMORY: again
 * later, also where somebody reads it. */
int tm_store_rescan(tm_store *store, tm_segment *segment);
/* Are the head, all batches and the footer of a sealed segment as they were written? */
int tm_store_check(tm_store *store, tm_segment *segment, bool *is_sound);

#endif
