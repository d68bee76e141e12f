/* read.h - records of a store, by holder or by place. */
#ifndef TM_LOG_READ_H
#define TM_LOG_READ_H

#include "log/store.h"

/* As tm_log_read and tm_log_summaries. */
int tm_store_read(tm_store *store, tm_claim of, uint64_t after, uint8_t *out, size_t capacity, size_t *size);
int tm_store_summaries(tm_store *store, tm_claim of, uint64_t after, tm_log_summary *out, size_t capacity,
                       size_t *count);
/* Read the record at a place, which must have number `n`. TM_OK; TM_TOO_MANY: `*size` bytes are needed; TM_LOG_DISK: it
 * cannot be read. */
int tm_store_fetch(tm_store *store, const tm_segment *segment, uint32_t place, uint64_t n, uint8_t *out,
                   size_t capacity, size_t *size);
/* true if a number is open for a holder. The caller holds `state`. */
bool tm_store_is_open(const tm_store *store, uint64_t holder, tm_role role, uint64_t n);

#endif
