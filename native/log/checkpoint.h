/* checkpoint.h - checkpoints, which save an opening from reading segments, and the life of a log. */
#ifndef TM_LOG_CHECKPOINT_H
#define TM_LOG_CHECKPOINT_H

#include "log/store.h"

/* Write a checkpoint. TM_OK, TM_NO_MEMORY, TM_LOG_DISK, or TM_LOG_FULL: the disk has no room. `may_take`: in that case
 * use the room reserved for it, or a spare file. */
int tm_checkpoint_write(tm_store *store, bool may_take);
/* A segment in a checkpoint; its content up to `last_seq` was committed. */
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
/* Read the checkpoint and take its holders, missing numbers and chains into the store. Fails only with TM_NO_MEMORY,
 * TM_LOG_DISK and TM_LOG_NEWER. */
int tm_checkpoint_read(tm_store *store, tm_checkpoint *checkpoint);
/* Free the list of segments of a checkpoint. */
void tm_checkpoint_free(tm_store *store, tm_checkpoint *checkpoint);
/* Write a new life to disk; TM_LOG_FULL: the disk has no room. */
int tm_life_begin(tm_store *store, uint64_t life);
/* Read the life on disk, 0 if there is none. */
int tm_life_read(tm_store *store, uint64_t *life, uint64_t *log_id);

#endif
