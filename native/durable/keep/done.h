/* done.h - what keeps are done with becomes ranges, one record for many of all keeps. */
#ifndef TM_DURABLE_KEEP_DONE_H
#define TM_DURABLE_KEEP_DONE_H

#include "durable/state.h"

/* Room to note one more range that is done with; false: no memory, or too many wait for the log. */
bool keep_reserve_done(tm_switch *sw);
/* A holder is done with numbers, to be appended; without room for them they come again after a start. */
void keep_note_done(tm_switch *sw, uint32_t holder, uint64_t first, uint64_t last);
/* Append what is done with, and what is lost. */
void keep_flush_done(tm_switch *sw);

#endif
