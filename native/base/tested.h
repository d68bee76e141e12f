/* tested.h - faults that tests plant, to check that each is found.
 *
 * Law: outside tests (TM_TESTED undefined) TM_BREAKS is false and costs nothing.
 */
#ifndef TM_TESTED_H
#define TM_TESTED_H

#include <stdbool.h>
#include <stdint.h>

#define TM_FAULTS_OF_LOG(FAULT)                                                                                        \
    FAULT(CONFIRM_EARLY)             /* written bytes count as on disk before they are synced */                       \
    FAULT(NO_SALT)                   /* neither salt nor sequence: data of an earlier use of a file is accepted */     \
    FAULT(LIFE_LATE)                 /* a life begins before it is on disk */                                          \
    FAULT(SYNC_AGAIN)                /* a failed fdatasync is repeated, and its success accepted */                    \
    FAULT(RENAME_UNSYNCED)           /* the folder is not synced after a rename */                                     \
    FAULT(TORN_IS_DAMAGE)            /* a torn tail is reported as damage */                                           \
    FAULT(DAMAGE_IS_TORN)            /* damage is read as the end of a segment */                                      \
    FAULT(CHECKPOINT_EARLY)          /* a checkpoint covers records that are not on disk yet */                        \
    FAULT(REMOVE_EARLY)              /* a segment is reused before a checkpoint holds its acks */                      \
    FAULT(COPY_UNSYNCED)             /* a segment is freed before the records copied from it are on disk */            \
    FAULT(SHORT_WRITE)               /* the rest of a short write is not written */                                    \
    FAULT(HOLES_ARE_DONE)            /* the end of a range of acks counts for everything before it */                  \
    FAULT(POLICY_ARE_ACKED)          /* acknowledged records count as released by the policy, too */                   \
    FAULT(KNOW_PLAIN_ONLY)           /* as a program of version 2: there is nothing of custody */                      \
    FAULT(CUSTODY_IS_PLAIN)          /* records of custody are written into segments of version 2 */                   \
    FAULT(MESSAGES_MOVE_NOTHING)     /* a message does not move the chain that it came by */                           \
    FAULT(CHAINS_ARE_DROPPED)        /* the last record of a chain is not kept */                                      \
    FAULT(CHECKPOINT_WITHOUT_CHAINS) /* a checkpoint does not hold chains */                                           \
    FAULT(HOMES_ACK_NOTHING)         /* what a home has stays open for it */                                           \
    FAULT(GIVEN_UP_STAYS)            /* what was given up stays open */                                                \
    FAULT(GIVEN_UP_TO_THE_LAST)      /* what stands before a number that was given up is done, too */

#define TM_FAULTS_OF_DURABLES(FAULT)                                                                                   \
    FAULT(GIVE_EARLY)             /* a message is delivered before it is on disk */                                    \
    FAULT(ANSWER_EARLY)           /* publishes and acknowledgements are confirmed before they are on disk */           \
    FAULT(ACK_OF_OTHERS)          /* a consumer acknowledges what another one holds */                                 \
    FAULT(ACK_UNGIVEN)            /* an acknowledgement counts for undelivered messages */                             \
    FAULT(ACK_UNWRITTEN)          /* an acknowledgement is not written to disk */                                      \
    FAULT(LOSE_SILENTLY)          /* drops are not reported */                                                         \
    FAULT(LOSE_TWICE)             /* losses are reported with twice their number */                                    \
    FAULT(STALL_AT_BOUND)         /* redeliveries count against unacked_max */                                         \
    FAULT(FORGET_LANES)           /* with order_by, any consumer with credit gets a value */                           \
    FAULT(LEAVE_BEHIND)           /* with order_by, a redelivery leaves later messages of its value in flight */       \
    FAULT(NEWEST_FIRST)           /* with order_by, the newest is delivered first */                                   \
    FAULT(BLAME_NOBODY)           /* a peer that goes away fails no attempt */                                         \
    FAULT(BLAME_NEWEST)           /* a peer that goes away fails the newest message of its consumer */                 \
    FAULT(COUNT_ONE)              /* each delivery is marked as the first */                                           \
    FAULT(DEAD_LETTER_IS_DROPPED) /* a dead letter reaches no durable subscription */                                  \
    FAULT(DEAD_LETTER_STAYS)      /* a dead letter keeps the position of its message */                                \
    FAULT(RETRY_IS_NEW)           /* a retry is a new message */                                                       \
    FAULT(EXTEND_NOT)             /* an extension does not prolong the attempt */                                      \
    FAULT(TAKE_BACK_EARLY)        /* an attempt ends a millisecond early */                                            \
    FAULT(TAKE_BACK_NEVER)        /* an attempt never ends */                                                          \
    FAULT(TIME_BY_WALL)           /* attempts are timed by Unix time, which jumps */                                   \
    FAULT(GIVE_TO_SEVERAL)        /* a message in flight is delivered to another consumer */                           \
    FAULT(CONFIRM_LACKING)        /* a message without room in a durable subscription is confirmed */                  \
    FAULT(FORGET_WHO_HAS)         /* a retry for a durable subscription that lacked it reaches all */                  \
    FAULT(MARK_NOTHING)           /* redeliveries after a start are not marked */                                      \
    FAULT(START_EMPTY)            /* a start finds no messages */                                                      \
    FAULT(SEED_UNWANTED)          /* a subscription that starts with the log takes messages that do not match */       \
    FAULT(SEED_TWICE)             /* a subscription that starts with the log takes a message by each of its numbers */

#define TM_FAULTS_OF_ARRIVALS(FAULT)                                                                                   \
    FAULT(TAKE_EARLY)     /* what comes before a message of a chain need not have come (C3) */                         \
    FAULT(ACK_TAKEN)      /* what has been taken counts as on disk (C4) */                                             \
    FAULT(PASS_IN_MEMORY) /* no record says that a message was passed over (C5) */                                     \
    FAULT(KNOW_NO_ID)     /* a message is stored for each entry that brings it (C11) */

#define TM_FAULTS_OF_DEPARTURES(FAULT)                                                                                 \
    FAULT(DEPART_PAST)         /* a message is sent at once, although earlier ones were not */                         \
    FAULT(RECALL_NOTHING)      /* a start does not know what is stored for a home */                                   \
    FAULT(TAIL_IS_ALL)         /* what was appended since a mark is all that is behind */                              \
    FAULT(OPEN_IS_NOT_COUNTED) /* what is stored for a home has no bound */                                            \
    FAULT(GAPS_ARE_FORGOTTEN)  /* a start does not know what was given up */                                           \
    FAULT(SEND_PAST_GAP)       /* a message is sent although what was given up before it is not told */                \
    FAULT(HELD_AS_STORED)      /* a message is confirmed as held when it is on disk here */                            \
    FAULT(HELD_OVER_GAP)       /* a message that was given up for a home is confirmed as held */                       \
    FAULT(AGE_HAS_NO_BOUND)    /* what is stored for a home waits for ever */                                          \
    FAULT(AGE_BEGINS_AT_START) /* a start does not know since when messages wait */                                    \
    FAULT(AGE_GIVES_UP_ALL)    /* with a message that has waited for too long, later ones are given up */              \
    FAULT(FULL_HOME_TAKES)     /* a home without room takes what is to be refused */                                   \
    FAULT(FULL_HOME_GIVES_UP)  /* where messages are refused, others are given up for room */                          \
    FAULT(FULL_HOME_CONFIRMS)  /* what a home has no room for is confirmed */                                          \
    FAULT(FULL_HOME_FORGETS)   /* a start does not know that a home lacks a message which another one has */

#define TM_FAULTS_OF_REMOTES(FAULT)                                                                                    \
    FAULT(REMOTE_TAKES_LATER)   /* a piece that is not the next one is taken */                                        \
    FAULT(REMOTE_TAKES_AGAIN)   /* a piece that was taken is taken again */                                            \
    FAULT(REMOTE_SENDS_ONCE)    /* what was lost is not sent again */                                                  \
    FAULT(REMOTE_FORGETS_EARLY) /* what was sent counts as taken */                                                    \
    FAULT(REMOTE_ROOM_IS_ANY)   /* an end sends more than the other one takes */                                       \
    FAULT(REMOTE_READS_ANY)     /* a near end gives room while its client does not read */                             \
    FAULT(REMOTE_BEGINS_LATE)   /* pieces follow the first one before that is taken */                                 \
    FAULT(REMOTE_PASSES_OTHERS) /* a client gets deliveries to consumers that have left */                             \
    FAULT(REMOTE_STAYS)         /* silence ends no session */                                                          \
    FAULT(REMOTE_IS_SILENT)     /* an end without a stream says nothing */                                             \
    FAULT(REMOTE_TELLS_NO_END)  /* a router without the session does not say so */                                     \
    FAULT(REMOTE_CLOSES_EARLY)  /* a far end closes before what its connection has sent is taken */

#define TM_FAULT(name) TM_BREAK_##name,
typedef enum {
    TM_BREAK_NOTHING,
    TM_FAULTS_OF_LOG(TM_FAULT) TM_BREAKS_OF_LOG, /* divides faults of the log from those of durable subscriptions */
    TM_FAULTS_OF_DURABLES(TM_FAULT) TM_BREAKS_OF_DURABLES,     /* divides these from faults of chains that arrive */
    TM_FAULTS_OF_ARRIVALS(TM_FAULT) TM_BREAKS_OF_ARRIVALS,     /* divides these from faults of chains that leave */
    TM_FAULTS_OF_DEPARTURES(TM_FAULT) TM_BREAKS_OF_DEPARTURES, /* divides these from faults of remote sessions */
    TM_FAULTS_OF_REMOTES(TM_FAULT) TM_BREAK_END,
} tm_fault;
#undef TM_FAULT

#ifdef TM_TESTED
extern tm_fault tm_broken;    /* defined by the test */
extern uint64_t tm_tested_ns; /* the test's own time, which each read advances; 0: that of the system */
#define TM_BREAKS(fault) (tm_broken == TM_BREAK_##fault)
#else
#define TM_BREAKS(fault) false
#endif

#endif
