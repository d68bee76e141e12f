/* tested.h - faults that tests plant, to see that each is found.
 *
 * Law: outside tests (TM_TESTED undefined) TM_BREAKS is false and costs nothing.
 */
#ifndef TM_TESTED_H
#define TM_TESTED_H

#include <stdbool.h>
#include <stdint.h>

#define TM_FAULTS_OF_LOG(FAULT)                                                                                        \
    FAULT(CONFIRM_EARLY)    /* what is written counts as on disk before it is synced */                                \
    FAULT(NO_SALT)          /* neither salt nor sequence: what an earlier use of a file left is taken for it */        \
    FAULT(LIFE_LATE)        /* a life begins before it is on disk */                                                   \
    FAULT(SYNC_AGAIN)       /* a failed fdatasync is tried again, and believed */                                      \
    FAULT(RENAME_UNSYNCED)  /* the folder is not synced after a rename */                                              \
    FAULT(TORN_IS_DAMAGE)   /* a torn tail is reported as damage */                                                    \
    FAULT(DAMAGE_IS_TORN)   /* damage is taken for the end of a segment */                                             \
    FAULT(CHECKPOINT_EARLY) /* a checkpoint says that it holds what is not on disk yet */                              \
    FAULT(REMOVE_EARLY)     /* a segment is used again before a checkpoint holds its acks */                           \
    FAULT(COPY_UNSYNCED)    /* a segment goes before what was copied from it is on disk */                             \
    FAULT(SHORT_WRITE)      /* the rest of a short write is forgotten */                                               \
    FAULT(HOLES_ARE_DONE)   /* the end of a range of acks counts for everything before it */                           \
    FAULT(TERMS_ARE_ACKED)  /* what a keep has done with counts for its terms, too */

#define TM_FAULTS_OF_KEEPS(FAULT)                                                                                      \
    FAULT(GIVE_EARLY)        /* a message is given out before it is on disk */                                         \
    FAULT(ANSWER_EARLY)      /* publishes and acknowledgements are confirmed before they are on disk */                \
    FAULT(ACK_OF_OTHERS)     /* a member says what becomes of what another has */                                      \
    FAULT(ACK_UNGIVEN)       /* an acknowledgement counts for what nobody was given */                                 \
    FAULT(ACK_UNWRITTEN)     /* an acknowledgement is on no disk */                                                    \
    FAULT(LOSE_SILENTLY)     /* what is dropped is told to nobody */                                                   \
    FAULT(LOSE_TWICE)        /* losses are told as twice as many */                                                    \
    FAULT(STALL_AT_BOUND)    /* what comes back counts against unacked_max */                                          \
    FAULT(FORGET_LANES)      /* with order_by, a value goes to whoever has credit */                                   \
    FAULT(LEAVE_BEHIND)      /* with order_by, what comes back does not take along what was given out behind it */     \
    FAULT(NEWEST_FIRST)      /* with order_by, the newest goes out first */                                            \
    FAULT(BLAME_NOBODY)      /* nothing has failed where a peer goes away */                                           \
    FAULT(BLAME_NEWEST)      /* ... or what its member was given last */                                               \
    FAULT(COUNT_ONE)         /* each delivery says that it is the first */                                             \
    FAULT(LETTER_IS_DROPPED) /* a dead letter comes to no keep */                                                      \
    FAULT(LETTER_STAYS)      /* a dead letter has the position that the message had */                                 \
    FAULT(RETRY_IS_NEW)      /* a second try is a new message */                                                       \
    FAULT(EXTEND_NOT)        /* who is still at it has no longer time */                                               \
    FAULT(TAKE_BACK_EARLY)   /* what a member has comes back a millisecond early */                                    \
    FAULT(TAKE_BACK_NEVER)   /* ... or stays with the member */                                                        \
    FAULT(TIME_BY_WALL)      /* members are measured by Unix time, which jumps */                                      \
    FAULT(GIVE_TO_SEVERAL)   /* what one member has is given to another */                                             \
    FAULT(CONFIRM_LACKING)   /* what a keep has no room for is confirmed */                                            \
    FAULT(FORGET_WHO_HAS)    /* a second try of what a keep lacked goes to all */                                      \
    FAULT(MARK_NOTHING)      /* what comes again after a start does not say so */                                      \
    FAULT(START_EMPTY)       /* a start finds no messages */                                                           \
    FAULT(SEED_UNWANTED)     /* a keep that begins with what is in the log takes what it does not want */              \
    FAULT(SEED_TWICE)        /* ... and takes a message by each number that it has */

#define TM_FAULT(name) TM_BREAK_##name,
typedef enum {
    TM_BREAK_NOTHING,
    TM_FAULTS_OF_LOG(TM_FAULT) TM_BREAKS_OF_LOG, /* faults of the log are less than it, and those of keeps more */
    TM_FAULTS_OF_KEEPS(TM_FAULT) TM_BREAK_END,
} tm_fault;
#undef TM_FAULT

#ifdef TM_TESTED
extern tm_fault tm_broken;    /* defined by the test */
extern uint64_t tm_tested_ns; /* the same: its own time, which each look moves; 0: that of the system */
#define TM_BREAKS(fault) (tm_broken == TM_BREAK_##fault)
#else
#define TM_BREAKS(fault) false
#endif

#endif
