/* spares.h - the files of a store: spare ones, the open one, those that are released. */
#ifndef TM_LOG_SPARES_H
#define TM_LOG_SPARES_H

#include "log/store.h"

/* Create a spare file beyond the reserved ones, if one is allowed, and the room for a checkpoint. `*is_idle` becomes
 * false if a spare file was created. */
void tm_store_prepare(tm_store *store, bool *is_idle);
/* If no spare file is left and no segment may go, create one past `bytes_max`: for the log of an earlier version, which
 * used up all of them, and for failing files. Only copies use it. */
void tm_store_borrow(tm_store *store, bool *is_idle);
/* true if there are `count` spare files, which are created as far as allowed. The caller holds `writing`. */
bool tm_store_have_spares(tm_store *store, uint32_t count);
/* Make a new segment the open one. TM_LOG_FULL: no spare file; TM_NO_MEMORY; TM_LOG_FAILED: the disk has failed. */
int tm_store_begin(tm_store *store);
/* End a segment with a footer, or without one if that cannot be written. */
void tm_store_seal(tm_store *store, tm_segment *segment);
/* Compute the room for messages and acks, and whether the log is tight. The caller holds `state`. */
void tm_store_judge_room(tm_store *store);
/* Remove a segment from the list and its file from use. The caller does not hold `state`. TM_LOG_DISK: it is damaged
 * and cannot be set aside now, retry later. */
int tm_store_drop(tm_store *store, tm_segment *segment);
/* Set a file aside; false: the disk refuses. The caller does not hold `state`. */
bool tm_store_set_aside(tm_store *store, const char *name);
/* Find the room for a checkpoint that an earlier run reserved. */
void tm_store_find_room(tm_store *store);
/* Take a file of `bytes` or more out of use for a checkpoint: the one reserved for it, or a spare one; return its name.
 * The segments that wait for the checkpoint replace it. false: there is none. */
bool tm_store_take_room(tm_store *store, uint64_t bytes, char *name);
/* Return the bytes of segments and spare files. The caller holds `state`. */
uint64_t tm_store_disk_bytes(const tm_store *store);
/* Return the errno of a refused write that is still needed: a spare file, or a checkpoint; 0: none. The caller holds
 * `state`. */
int tm_store_disk_error(const tm_store *store);
/* Return the number of spare files; the caller holds no lock. */
uint32_t tm_store_spares(tm_store *store);
/* Add a spare file to the list; false: no memory. */
bool tm_store_add_spare(tm_store *store, uint64_t serial);

#endif
