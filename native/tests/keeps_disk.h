/* keeps_disk.h - the disk and the time of a world of keeps; see keeps_world.h. */
#ifndef TM_KEEPS_DISK_H
#define TM_KEEPS_DISK_H

#include "keeps_world.h"

/* The disk takes what it is given, where it is not behind. */
void keeps_commit(keeps_world *w);
void keeps_pass_time(keeps_world *w, uint32_t ms, int64_t wall_ms);
/* Some time, by which Unix time now and then jumps. */
void keeps_let_time_pass(keeps_world *w);
/* It is full, fails, writes less than it was given, or is behind. */
void keeps_trouble_disk(keeps_world *w);
/* Everything is committed and in a checkpoint; then segments lose bits, and say nothing. It is found by a start, by who
 * reads it, or by the scrubber. */
void keeps_damage(keeps_world *w);
/* Messages that entered at other routers may be missing. */
void keeps_miss(keeps_world *w);

#endif
