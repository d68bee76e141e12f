/* tested.h - faults that tests plant, to see that each is found.
 *
 * Law: outside tests (TM_LOG_TESTED undefined) TM_BREAKS is false and costs nothing.
 */
#ifndef TM_LOG_TESTED_H
#define TM_LOG_TESTED_H

#include <stdbool.h>

typedef enum {
    TM_BREAK_NOTHING,
    TM_BREAK_CONFIRM_EARLY, /* what is written counts as on disk before it is synced */
    TM_BREAK_NO_SALT,    /* neither salt nor sequence: what an earlier use of a file left is taken for what it holds */
    TM_BREAK_LIFE_LATE,  /* a life begins before it is on disk */
    TM_BREAK_SYNC_AGAIN, /* a failed fdatasync is tried again, and believed */
    TM_BREAK_RENAME_UNSYNCED,  /* the folder is not synced after a rename */
    TM_BREAK_TORN_IS_DAMAGE,   /* a torn tail is reported as damage */
    TM_BREAK_DAMAGE_IS_TORN,   /* damage is taken for the end of a segment */
    TM_BREAK_CHECKPOINT_EARLY, /* a checkpoint says that it holds what is not on disk yet */
    TM_BREAK_REMOVE_EARLY,     /* a segment is used again before a checkpoint holds its acks */
    TM_BREAK_COPY_UNSYNCED,    /* a segment goes before what was copied from it is on disk */
    TM_BREAK_SHORT_WRITE,      /* the rest of a short write is forgotten */
    TM_BREAK_HOLES_ARE_DONE,   /* the end of a range of acks counts for everything before it */
    TM_BREAK_TERMS_ARE_ACKED,  /* what a keep has done with counts for its terms, too */
    TM_BREAK_END,
} tm_log_fault;

#ifdef TM_LOG_TESTED
extern tm_log_fault tm_log_broken; /* defined by the test */
#define TM_BREAKS(fault) (tm_log_broken == TM_BREAK_##fault)
#else
#define TM_BREAKS(fault) false
#endif

#endif
