/* append.h - a record is appended to the log, and how far the disk is behind. */
#ifndef TM_DURABLE_KEEP_APPEND_H
#define TM_DURABLE_KEEP_APPEND_H

#include "durable/state.h"

/* Unix time in milliseconds. */
uint64_t keep_wall_ms(const tm_switch *sw);
/* Append a record and note its number and its place: the results of tm_log_append. */
int keep_append(tm_switch *sw, const tm_log_entry *entry, uint64_t *n);
/* Return whether more than an n-th of what may wait for the disk does, and will be less; or a log that is nearly full
 * may get room. */
bool keep_is_behind(const tm_keeps *keeps, uint32_t n);
/* Something was appended: is the disk behind? */
void keep_note_load(tm_switch *sw);

#endif
