/* store.h - the log on disk: segments, holders, what is missing, checkpoints. The ring and its committer stand before
 * it.
 *
 * Law: `seq` and `last_n` are what is on disk; they move after a sync alone. Two locks: `writing` is held while a batch
 * or a copy goes to disk, `state` for moments, around everything else in here; who wants both takes `writing` first.
 * Files are read without a lock, from segments that are pinned.
 *
 * A full log has room again: of the spare files, messages leave SEGMENTS_RESERVED, what lets go of messages leaves
 * SPARES_FOR_COPIES, and copies take what there is. So whenever a process ends there is a spare file, or the last one
 * has become a segment of nothing but copies, which a start leaves out (recover_segment.c) and which goes. With that
 * one file each segment that is at most half open is copied forward while room is short, and goes. What lets go of
 * messages leaves little open itself, so its segments are such ones: the reserve is whole again, however often it is
 * begun.
 */
#ifndef TM_LOG_STORE_H
#define TM_LOG_STORE_H

#include <pthread.h>

#include "log/holders.h"
#include "log/segment.h"

#define SEGMENTS_RESERVED 2U      /* spare files for what lets go of messages, and for copies */
#define SPARES_FOR_COPIES 1U      /* of these, for copies alone */
#define TIGHT_PERCENT 75U         /* of what there is beside the reserved segments: with more in use, it is tight */
#define COPY_BYTES_MAX (4U << 20) /* one batch of copies; a record is shorter */
#define COPY_PERCENT_MAX 10U      /* of a segment that is open, by weight, and it is copied forward */
#define CROWDED_PERCENT_MAX 50U   /* as that, while the log is tight or its room is scarce */
#define MISSING_RANGES_MAX 65536U /* beyond, neighbours are joined: more is told as missing than is */
#define CHECKPOINT_NAME "checkpoint"
#define LIFE_NAME "life"
#define ROOM_NAME "checkpoint.room" /* a file of zeroes: on a full disk a checkpoint is written over it */
#define ROOM_BYTES_MIN (64U << 10)

typedef struct tm_store {
    tm_memory memory; /* under `state` */
    tm_disk *disk;    /* owned */
    uint64_t bytes_max;
    uint32_t segment_bytes;
    pthread_mutex_t writing;
    pthread_mutex_t state;
    uint64_t log_id;
    uint64_t life;
    uint64_t first_counter; /* of this life's numbers, less 1 */
    uint64_t serial;        /* of the segment made last */
    uint64_t previous;      /* of the segment that was open last; 0: none */
    uint64_t seq;
    uint64_t last_n;
    tm_segment *open;      /* one of the segments, or NULL */
    tm_segment **segments; /* owned, by serial */
    uint32_t segment_count;
    uint32_t segment_capacity;
    uint64_t *spares; /* owned: serials of spare files */
    uint32_t spare_count;
    uint32_t spare_capacity;
    tm_log_holders holders;
    tm_ranges missing;
    tm_ranges doubtful;        /* what was missing when the store was opened */
    uint64_t checkpoint_seq;   /* of the checkpoint on disk */
    uint64_t checkpoint_count; /* of changes that it holds */
    uint64_t changes;          /* of which segments there are */
    uint64_t done;             /* numbers that holders were told to be done with, each as often as it was; rises */
    tm_segment *copied;        /* the one that copies are made from; NULL: none */
    uint64_t copied_to;        /* number up to which that is done; 0: nothing is yet */
    uint32_t copy_bytes;       /* of one batch of copies */
    uint64_t scrub_serial;     /* where the scrubber is */
    uint64_t room_bytes;       /* of the room for a checkpoint; 0: there is none */
    uint64_t checkpoint_bytes; /* of the last one */
    int spare_error;           /* errno, when a spare segment was last wanted; 0: it was made */
    int checkpoint_error;      /* errno, when a checkpoint was last written; 0: it is on disk */
    bool is_scarce;            /* what is open now is the last segment for messages */
    uint64_t message_room;     /* bytes of messages, with their share of footers, that leave the reserve alone */
    bool is_full;              /* for messages */
    bool is_full_of_all;       /* for acks, too */
    bool is_tight;             /* over TIGHT_PERCENT of it are in use, or the disk is full */
    bool is_failed;
    bool is_held;         /* nothing is copied forward or set aside */
    bool cannot_maintain; /* the last piece of tending has failed */
    bool cannot_copy;     /* there is no room for what is to be copied next */
    uint64_t syncs_failed;
    uint64_t batch_bytes; /* written */
    uint64_t copied_records;
    uint64_t scrubbed_bytes;
    uint64_t damaged;
    uint64_t set_aside; /* files, in this life */
    bool is_ending;     /* a checkpoint that is written now is the last one */
    tm_log_recovery recovery;
} tm_store;

typedef struct tm_batch {
    struct iovec parts[2]; /* records, which get their checksums */
    int part_count;
    uint32_t bytes;
    uint32_t count;
    uint64_t refs; /* for whom they are kept, added up */
    uint64_t first_n;
    uint64_t last_n;
    bool is_copies;
    bool has_messages; /* not all of them let go of others */
} tm_batch;

/* What so many claims take of a footer at most. */
static inline uint64_t tm_footer_share(uint64_t refs) {
    return refs * (sizeof(tm_posting) + sizeof(tm_summary) + sizeof(tm_row));
}

/* `disk` is the store's from here on, also when it fails. */
int tm_store_open(const tm_log_options *options, tm_disk *disk, tm_store **made);
void tm_store_close(tm_store *store);
/* Nothing more is appended: seal the open segment, so that the next opening reads its footer in place of its records,
 * and write a checkpoint. What fails is made up for by the next opening. */
void tm_store_finish(tm_store *store);

/* ---- recover.c ---- */

int tm_store_recover(tm_store *store);

#endif
