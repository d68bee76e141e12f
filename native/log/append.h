/* append.h - records come to the open segment of a store.
 */
#ifndef TM_LOG_APPEND_H
#define TM_LOG_APPEND_H

#include "log/store.h"

/* How many bytes a batch may have now, and its share of the footer with it: those that still fit the open segment, or a
 * new one. */
uint64_t tm_store_room(tm_store *store);
/* Bring a batch to disk: TM_OK means that it is there. TM_LOG_FULL, TM_NO_MEMORY: again later, nothing has changed.
 * TM_LOG_FAILED: never. */
int tm_store_append(tm_store *store, const tm_batch *batch);
/* As that, for who holds `writing`. */
int tm_store_write(tm_store *store, const tm_batch *batch);
/* Have those known for whom a record is kept, and whom it leaves as a dead letter, with what is before `first` done
 * where they were not. false: no memory. */
bool tm_store_take_holders(tm_store *store, const tm_log_record *record, uint64_t first);
/* What a record says of others. */
void tm_store_apply(tm_store *store, const tm_log_record *record);

#endif
