/* store.h - the log on disk behind the ring: segments, holders, missing numbers, checkpoints.
 *
 * Law: `seq` and `last_n` are what is on disk; they move only after a sync. There are two locks: `writing` is held
 * while a batch or a copy is written, `state` briefly, for everything else here; a thread that needs both takes
 * `writing` first. Files are read without a lock, from segments that are pinned.
 *
 * A full log gets room again: of the spare files, messages leave SEGMENTS_RESERVED, records that free messages leave
 * SPARES_FOR_COPIES, and copies use all. So whenever a process ends, there is a spare file, or the last one has become
 * a segment that holds only copies, which a start leaves out (recover_segment.c) and frees. With that one file, each
 * segment that is at most half open is copied while room is short, and goes. Records that free messages leave little
 * open themselves, so their segments are such ones, and the reserve is restored however often it is used. While there
 * is room, what the segment that was closed last has open is not copied, as most of it is done a moment later.
 */
#ifndef TM_LOG_STORE_H
#define TM_LOG_STORE_H

#include <pthread.h>

#include "log/chains.h"
#include "log/holders.h"
#include "log/segment.h"

#define SEGMENTS_RESERVED 2U      /* spare files for records that free messages, and for copies */
#define SPARES_FOR_COPIES 1U      /* of these, for copies alone */
#define TIGHT_PERCENT 75U         /* of the segments beside the reserved ones: with more in use, the log is tight */
#define COPY_BYTES_MAX (4U << 20) /* one batch of copies; a record is shorter */
#define COPY_PERCENT_MAX 10U      /* a segment with at most this open weight is copied */
#define CROWDED_PERCENT_MAX 50U   /* as COPY_PERCENT_MAX, while the log is tight or its room is scarce */
#define MISSING_RANGES_MAX 65536U /* past it neighbours are merged, so more is reported as missing than is */
#define CHECKPOINT_NAME "checkpoint"
#define LIFE_NAME "life"
#define ROOM_NAME "checkpoint.room" /* a file of zeroes that a checkpoint overwrites on a full disk */
#define ROOM_BYTES_MIN (64U << 10)

typedef struct tm_store {
    tm_memory memory; /* guarded by `state` */
    tm_disk *disk;    /* owned */
    uint64_t bytes_max;
    uint32_t segment_bytes;
    pthread_mutex_t writing;
    pthread_mutex_t state;
    uint64_t log_id;
    uint64_t life;
    uint64_t life_before;   /* the one that it follows; 0: none */
    uint64_t first_counter; /* of the numbers of this life, less 1 */
    uint64_t serial;        /* of the newest segment */
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
    uint32_t version; /* of the next segment: VERSION_CUSTODY from the first record of custody on */
    tm_log_holders holders;
    tm_chains chains;
    tm_ranges missing;
    tm_ranges doubtful;        /* missing when the store was opened */
    uint64_t checkpoint_seq;   /* of the checkpoint on disk */
    uint64_t checkpoint_count; /* `changes` that it holds */
    uint64_t changes;          /* of the list of segments */
    uint64_t done;             /* done numbers of all holders, repetitions included; rises */
    tm_segment *copied;        /* the segment that is being copied; NULL: none */
    uint64_t copied_to;        /* number up to which it is copied; 0: nothing is yet */
    uint32_t copy_bytes;       /* of one batch of copies */
    uint64_t scrub_serial;     /* position of the scrubber */
    uint64_t room_bytes;       /* of the room for a checkpoint; 0: there is none */
    uint64_t checkpoint_bytes; /* of the last one */
    int spare_error;           /* errno of the last request for a spare segment; 0: it was created */
    int checkpoint_error;      /* errno of the last checkpoint; 0: it is on disk */
    bool is_scarce;            /* the open segment is the last one for messages */
    uint64_t message_room;     /* bytes of messages, with their share of footers, that leave the reserve untouched */
    bool is_full;              /* for messages */
    bool is_full_of_all;       /* for acks, too */
    bool is_tight;             /* more than TIGHT_PERCENT are in use, or the disk is full */
    bool is_failed;
    bool is_held;         /* no compaction, and no segment is set aside */
    bool cannot_maintain; /* the last piece of maintenance failed */
    bool cannot_copy;     /* no room for what is to be copied next */
    uint64_t syncs_failed;
    uint64_t batch_bytes; /* written */
    uint64_t copied_records;
    uint64_t scrubbed_bytes;
    uint64_t damaged;
    uint64_t set_aside; /* files, in this run */
    bool is_ending;     /* the next checkpoint is the last one */
    tm_log_recovery recovery;
} tm_store;

typedef struct tm_batch {
    struct iovec parts[2]; /* records, which get their checksums */
    int part_count;
    uint32_t bytes;
    uint32_t count;
    uint64_t refs; /* sum of the holders of its records */
    uint64_t first_n;
    uint64_t last_n;
    bool is_copies;
    bool has_messages;  /* some of its records do not free others */
    bool is_of_custody; /* some of its records are */
} tm_batch;

/* Return the most that this many holders take of a footer. */
static inline uint64_t tm_footer_share(uint64_t refs) {
    return refs * (sizeof(tm_posting) + sizeof(tm_summary) + sizeof(tm_row));
}

/* Open a store; it owns `disk` from here on, also if this fails. */
int tm_store_open(const tm_log_options *options, tm_disk *disk, tm_store **made);
/* Close all files and free the store and its disk; NULL is allowed. */
void tm_store_close(tm_store *store);
/* After the last append, seal the open segment, so that the next opening reads its footer in place of its records, and
 * write a checkpoint. The next opening makes up for what fails. */
void tm_store_finish(tm_store *store);

/* ---- recover.c ---- */

/* Open the store from the files of its folder. TM_OK, TM_NO_MEMORY, TM_TOO_MANY, TM_LOG_DISK, TM_LOG_FULL,
 * TM_LOG_FOREIGN, TM_LOG_NEWER. */
int tm_store_recover(tm_store *store);

#endif
