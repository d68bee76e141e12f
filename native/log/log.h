/* log.h - the ring before the store: appended records wait in it for the disk, and stay readable behind it.
 *
 *     committed, until overwritten                    │ the current batch   │ the open batch │
 *                                                 `committed`                            `appended`
 *
 * Law: one thread appends, one commits; they share `appended`, `committed`, `committed_n` and the fields about room.
 * Records in the ring have the form that they have on disk, each in one piece, so a batch is written without a copy.
 */
#ifndef TM_LOG_LOG_H
#define TM_LOG_LOG_H

#include <stdatomic.h>

#include "log/ask.h"
#include "log/store.h"

#define RECORD_BYTES_MAX (2U << 20) /* less if segments or the ring are small */
#define BATCH_BYTES_MAX (16U << 20)
#define THREADS 3U              /* the committer, the maintenance thread, the reading thread */
#define RING_FILLER 0x80000000U /* bit of a size: no record here */

struct tm_log {
    tm_memory memory;
    tm_store *store; /* owned */
    uint8_t *ring;   /* owned */
    uint32_t ring_bytes;
    uint32_t record_bytes_max;
    uint32_t checkpoint_ms;
    uint64_t scrub_bytes_per_s;
    int descriptor; /* owned: an eventfd, raised after a commit */
    int wakes[2];   /* owned: eventfds of the committer and of the maintenance thread */
    bool has_threads;
    pthread_t threads[THREADS];
    tm_asks asks;
    atomic_bool is_ending;

    uint8_t apart[64];             /* in cache lines of their own */
    atomic_uint_fast64_t appended; /* bytes; this and the following: written by the thread that appends */
    uint64_t next_n;
    uint64_t letting_go_to;   /* in the ring: behind the last record that frees others */
    uint64_t appended_weight; /* of records, with their share of footers */

    uint8_t apart_again[64];
    atomic_uint_fast64_t committed; /* bytes; this and the following: written by the thread that commits */
    atomic_uint_fast64_t committed_n;
    atomic_uint_fast64_t committed_weight;
    atomic_uint_fast64_t batches;
    atomic_uint_fast64_t commit_ns;
    atomic_bool is_asleep; /* the committer sleeps: an append wakes it */
    atomic_bool is_stuck;  /* a batch waits for room or memory */
    atomic_bool is_scarce; /* this and the following: copies of fields of the store about room */
    atomic_bool is_freeing;
    atomic_bool is_full;
    atomic_bool is_full_of_all;
    atomic_uint_fast64_t message_room;
    atomic_bool is_tight;
    atomic_bool is_failed;
};

/* Open a log on a disk, which the log owns from here on, also if this fails. */
int tm_log_open_on(const tm_log_options *options, tm_disk *disk, tm_log **made);

/* ---- ring.c ---- */

void tm_log_wake(tm_log *log, unsigned which); /* 0: the committer, 1: the maintenance thread */
/* Copy what the store reports about room for the thread that appends, and wake it when waiting can no longer help. */
void tm_log_tell_room(tm_log *log);

#endif
