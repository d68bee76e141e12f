/* read.h - records of a store, by holder or by place.
 */
#ifndef TM_LOG_READ_H
#define TM_LOG_READ_H

#include "log/store.h"

int tm_store_read(tm_store *store, tm_claim of, uint64_t after, uint8_t *out, size_t capacity, size_t *size);
int tm_store_summaries(tm_store *store, tm_claim of, uint64_t after, tm_log_summary *out, size_t capacity,
                       size_t *count);
/* Read the record that stands at a place and is number `n`. TM_OK; TM_TOO_MANY: `*size` bytes would do; TM_LOG_DISK:
 * it cannot be read. */
int tm_store_fetch(tm_store *store, const tm_segment *segment, uint32_t place, uint64_t n, uint8_t *out,
                   size_t capacity, size_t *size);
/* Is a row's number open? `state` is held. */
bool tm_store_is_open(const tm_store *store, uint64_t holder, tm_role role, uint64_t n);

#endif
