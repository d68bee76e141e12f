/* bounds.h - how much a keep may hold, and how long. */
#ifndef TM_DURABLE_KEEP_BOUNDS_H
#define TM_DURABLE_KEEP_BOUNDS_H

#include "durable/state.h"

/* When a row is over, by Unix time. */
uint64_t keep_end_of(const tm_keep *keep, const tm_kept *row);
/* Return whether a keep has more than its terms allow. */
bool keep_is_past_terms(const tm_keep *keep);
/* Is there room for a frame of `size` bytes in a keep that refuses, and in the share of its owner? */
bool keep_has_room(const tm_switch *sw, const tm_keep *keep, uint32_t size);
/* Is there in the keep, for one that another keep of its owner lets go? */
bool keep_has_room_of_own(const tm_keep *keep, uint32_t size);
/* ... by its terms, or by the share of its owner. */
bool keep_is_past_bounds(const tm_switch *sw, const tm_keep *keep);
/* Has its time, or that of its keep, run out? */
bool keep_is_over(const tm_switch *sw, const tm_keep *keep, const tm_kept *row);
/* A message that came is over at `end_ms`, by Unix time; UINT64_MAX: never. */
void keep_note_end(const tm_switch *sw, tm_keep *keep, uint64_t end_ms);

#endif
