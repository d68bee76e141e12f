/* durables_disk.h - the disk and the time of a durables world; see durables_world.h. */
#ifndef TM_DURABLES_DISK_H
#define TM_DURABLES_DISK_H

#include "durables_world.h"

/* Write what is queued to the disk, unless the disk is behind. */
void durables_commit(durables_world *w);
void durables_pass_time(durables_world *w, uint32_t ms, int64_t wall_ms);
/* Let some time pass; Unix time jumps now and then. */
void durables_let_time_pass(durables_world *w);
/* Make the disk full, failing, slow, or have it write less than requested. */
void durables_trouble_disk(durables_world *w);
/* Commit everything and write a checkpoint; then flip bits in segments. The damage is found by a start, a reader or
 * the scrubber. */
void durables_damage(durables_world *w);
/* Messages that entered at other routers may be missing. */
void durables_miss(durables_world *w);

#endif
