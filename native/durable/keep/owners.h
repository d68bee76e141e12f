/* owners.h - what the keeps of each owner hold of the log, and whether that is past the owner's share. */
#ifndef TM_DURABLE_KEEP_OWNERS_H
#define TM_DURABLE_KEEP_OWNERS_H

#include "durable/state.h"

/* Room for those that have no owner; false: no memory. */
bool keep_make_owners(tm_switch *sw);
/* What a keep holds of the log, as its owner is charged. */
uint64_t keep_charge_of(const tm_keep *keep);
/* Messages of so many bytes together have come into a keep; or have left it. */
void keep_charge(tm_switch *sw, const tm_keep *keep, uint64_t rows, uint64_t bytes);
void keep_discharge(tm_switch *sw, const tm_keep *keep, uint64_t rows, uint64_t bytes);
/* A keep has no owner any more. */
void keep_disown(tm_switch *sw, tm_keep *keep);
/* ... and nothing. */
void keep_end_charge(tm_switch *sw, tm_keep *keep);
/* May a keep get a frame of `size` bytes as far as its owner's share goes, once what it has past gives way? */
bool keep_share_has_room(const tm_switch *sw, const tm_keep *keep, uint32_t size);
/* Is its owner past its share, so that this keep gives way if it can? */
bool keep_is_past_share(const tm_switch *sw, const tm_keep *keep);
bool keep_owners_are_sound(const tm_switch *sw);

#endif
