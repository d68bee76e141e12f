/* append.h - writing batches into the open segment of a store. */
#ifndef TM_LOG_APPEND_H
#define TM_LOG_APPEND_H

#include "log/store.h"

/* Return how many bytes a batch may have now, with its share of the footer: those that fit the open segment, or a new
 * one. */
uint64_t tm_store_room(tm_store *store);
/* Write a batch. TM_OK: it is on disk. TM_LOG_FULL, TM_NO_MEMORY: nothing has changed, retry later. TM_LOG_FAILED: the
 * log has failed. */
int tm_store_append(tm_store *store, const tm_batch *batch);
/* As tm_store_append, for a caller that holds `writing`. */
int tm_store_write(tm_store *store, const tm_batch *batch);

#endif
