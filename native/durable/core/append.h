/* append.h - appends to the log, and whether the disk is behind. */
#ifndef TM_DURABLE_CORE_APPEND_H
#define TM_DURABLE_CORE_APPEND_H

#include "durable/state.h"

/* Return the Unix time in ms. */
uint64_t durable_wall_ms(const tm_switch *sw);
/* Append a record and note its number and place. Results as those of tm_log_append. */
int durable_append(tm_switch *sw, const tm_log_entry *entry, uint64_t *n);
/* true if more than 1/n of what may wait for the disk waits and will become less, or a nearly full log may get room. */
bool durable_is_behind(const tm_durables *durables, uint32_t n);
/* Begin backpressure if the disk is behind. */
void durable_note_load(tm_switch *sw);

#endif
