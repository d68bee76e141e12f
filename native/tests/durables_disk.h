/* durables_disk.h - the disk and the time of a world of keeps; see durables_world.h. */
#ifndef TM_DURABLES_DISK_H
#define TM_DURABLES_DISK_H

#include "durables_world.h"

/* The disk takes what it is given, where it is not behind. */
void durables_commit(durables_world *w);
void durables_pass_time(durables_world *w, uint32_t ms, int64_t wall_ms);
/* Some time, by which Unix time now and then jumps. */
void durables_let_time_pass(durables_world *w);
/* It is full, fails, writes less than it was given, or is behind. */
void durables_trouble_disk(durables_world *w);
/* Everything is committed and in a checkpoint; then segments lose bits, and say nothing. It is found by a start, by who
 * reads it, or by the scrubber. */
void durables_damage(durables_world *w);
/* Messages that entered at other routers may be missing. */
void durables_miss(durables_world *w);

#endif
