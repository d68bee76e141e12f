/* maintain.h - background maintenance of a store: compaction, checkpoints, and the search for damage. */
#ifndef TM_LOG_MAINTAIN_H
#define TM_LOG_MAINTAIN_H

#include "log/store.h"

/* Do one piece of maintenance; `*is_idle`: there was none to do. The caller holds no lock. */
int tm_store_maintain(tm_store *store, bool is_checkpoint_due, bool *is_idle);
/* Copy the rest of the segment that is being copied; false: there is no room or no memory for it. */
bool tm_store_end_copy(tm_store *store);
/* true if a segment may go, or may be judged. The caller holds `state`. */
bool tm_store_may_free(const tm_store *store);
/* Verify sealed segments whole, until `bytes` are reached; `*is_through`: the last one was read. */
int tm_store_scrub(tm_store *store, uint64_t bytes, bool *is_through);

#endif
