/* checkpoint.h - what spares an opening the reading of segments, and the life of a log.
 */
#ifndef TM_LOG_CHECKPOINT_H
#define TM_LOG_CHECKPOINT_H

#include "log/store.h"

/* TM_OK, TM_NO_MEMORY, TM_LOG_DISK, or TM_LOG_FULL: there is no room on the disk. `may_take`: then the room that is
 * set aside for it is used up, or a spare file. */
int tm_checkpoint_write(tm_store *store, bool may_take);
/* A segment, in a checkpoint: what was in it by then was committed. */
typedef struct tm_listed {
    uint64_t serial;
    uint64_t first_n;
    uint64_t last_seq;
    uint64_t last_n;
} tm_listed;
typedef struct tm_checkpoint {
    uint64_t seq;
    uint64_t last_n;
    uint64_t serial; /* of the newest segment */
    uint64_t life;
    uint64_t log_id;
    tm_listed *segments; /* owned */
    uint32_t segment_count;
    bool is_found;
    bool is_damaged;
    bool is_last; /* the log was closed with it */
} tm_checkpoint;
/* Take holders and missing numbers into the store. Only TM_NO_MEMORY, TM_LOG_DISK and TM_LOG_FOREIGN fail. */
int tm_checkpoint_read(tm_store *store, tm_checkpoint *checkpoint);
void tm_checkpoint_free(tm_store *store, tm_checkpoint *checkpoint);
/* Raise the life and bring it to disk; TM_LOG_FULL: there is no room on the disk. */
int tm_life_begin(tm_store *store, uint64_t life);
/* The life on disk, 0 where there is none. */
int tm_life_read(tm_store *store, uint64_t *life, uint64_t *log_id);

#endif
