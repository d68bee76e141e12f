/* spares.h - the files of a store: spare ones, the one that is open, those that go.
 */
#ifndef TM_LOG_SPARES_H
#define TM_LOG_SPARES_H

#include "log/store.h"

/* Have a spare file more than the reserved ones, if there may be one, and room for a checkpoint. */
void tm_store_prepare(tm_store *store, bool *is_idle);
/* Where no spare file is left and nothing may go, make one past `bytes_max`: for a log of an earlier version, which
 * used up all of them, and for failing files. Only copies get it. */
void tm_store_borrow(tm_store *store, bool *is_idle);
/* Are there so many spare files? They are made as far as they may be. `writing` is held. */
bool tm_store_have_spares(tm_store *store, uint32_t count);
/* Make a new segment the open one. */
int tm_store_begin(tm_store *store);
/* No more goes into the open segment; it gets a footer. */
void tm_store_seal(tm_store *store, tm_segment *segment);
void tm_store_judge_room(tm_store *store);
/* Take a segment off the list and its file out of use. `state` is held by nobody. TM_LOG_DISK: it is damaged, and
 * cannot be set aside now: again later. */
int tm_store_drop(tm_store *store, tm_segment *segment);
/* Set a file aside; false: the disk does not. `state` is held by nobody. */
bool tm_store_set_aside(tm_store *store, const char *name);
/* Find the room for a checkpoint that an earlier life made. */
void tm_store_find_room(tm_store *store);
/* Take a file out of use for the room that it has, `bytes` or more: the one that is there for it, or a spare one; its
 * name. The segments that wait for the checkpoint make up for it. false: there is none. */
bool tm_store_take_room(tm_store *store, uint64_t bytes, char *name);
/* Of segments and spare files. `state` is held. */
uint64_t tm_store_disk_bytes(const tm_store *store);
/* errno of what the disk refused and is still wanted: a spare file, or a checkpoint; 0: nothing. `state` is held. */
int tm_store_disk_error(const tm_store *store);
/* How many spare files there are; for who holds no lock. */
uint32_t tm_store_spares(tm_store *store);
/* Remember a spare file; false: no memory. */
bool tm_store_add_spare(tm_store *store, uint64_t serial);

#endif
