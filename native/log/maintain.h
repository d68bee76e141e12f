/* maintain.h - what a store needs beside appending: copies, checkpoints, and looking for damage.
 */
#ifndef TM_LOG_MAINTAIN_H
#define TM_LOG_MAINTAIN_H

#include "log/store.h"

int tm_store_maintain(tm_store *store, bool is_checkpoint_due, bool *is_idle);
/* Copy what is left of the segment that is being copied; false: there is no room or no memory for it. */
bool tm_store_end_copy(tm_store *store);
/* May segments go, or be looked at whether they may? `state` is held. */
bool tm_store_may_free(const tm_store *store);
int tm_store_scrub(tm_store *store, uint64_t bytes, bool *is_through);

#endif
