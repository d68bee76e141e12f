/* log.h - the ring that stands before the store: what is appended waits in it for the disk, and stays behind it.
 *
 *     what was committed, while it is not overwritten │ the batch under way │ the open batch │
 *                                                 `committed`                            `appended`
 *
 * Law: one thread appends, one commits; they share `appended`, `committed`, `committed_n` and the words about room.
 * Records lie in the ring as they do on disk, in one piece each, so that a batch is written from where it lies.
 */
#ifndef TM_LOG_LOG_H
#define TM_LOG_LOG_H

#include <stdatomic.h>

#include "log/ask.h"
#include "log/store.h"

#define RECORD_BYTES_MAX (2U << 20) /* less where segments or the ring are small */
#define BATCH_BYTES_MAX (16U << 20)
#define THREADS 3U              /* the committer, the one that tends, the one that reads */
#define RING_FILLER 0x80000000U /* bit of a size: nothing stands here */

struct tm_log {
    tm_memory memory;
    tm_store *store; /* owned */
    uint8_t *ring;   /* owned */
    uint32_t ring_bytes;
    uint32_t record_bytes_max;
    uint32_t checkpoint_ms;
    uint64_t scrub_bytes_per_s;
    int descriptor; /* owned: an eventfd, raised after a commit */
    int wakes[2];   /* owned: eventfds of the committer and of the one that tends */
    bool has_threads;
    pthread_t threads[THREADS];
    tm_asks asks;
    atomic_bool is_ending;

    uint8_t apart[64];             /* in cache lines of their own */
    atomic_uint_fast64_t appended; /* bytes; this and what follows: of the thread that appends */
    uint64_t next_n;
    uint64_t letting_go_to;   /* in the ring: behind the last record that lets go of others */
    uint64_t appended_weight; /* of records, with their share of footers */

    uint8_t apart_again[64];
    atomic_uint_fast64_t committed; /* bytes; this and what follows: of the thread that commits */
    atomic_uint_fast64_t committed_n;
    atomic_uint_fast64_t committed_weight;
    atomic_uint_fast64_t batches;
    atomic_uint_fast64_t commit_ns;
    atomic_bool is_asleep; /* the committer: who appends wakes it */
    atomic_bool is_stuck;  /* a batch waits for room or memory */
    atomic_bool is_scarce; /* this and what follows: what the store says of room */
    atomic_bool is_freeing;
    atomic_bool is_full;
    atomic_bool is_full_of_all;
    atomic_uint_fast64_t message_room;
    atomic_bool is_tight;
    atomic_bool is_failed;
};

/* A log on a disk, which is its own from here on, also when it fails. */
int tm_log_open_on(const tm_log_options *options, tm_disk *disk, tm_log **made);

/* ---- ring.c ---- */

void tm_log_wake(tm_log *log, unsigned which); /* 0: the committer, 1: the one that tends */
/* What the store says of room, for the thread that appends, which is woken where waiting is no use any more. */
void tm_log_tell_room(tm_log *log);

#endif
