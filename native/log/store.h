/* store.h - the log on disk: segments, claimants, what is missing, checkpoints. The ring and its committer stand before
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

#include "log/claimants.h"
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
    tm_claimants claimants;
    tm_ranges missing;
    tm_ranges doubtful;        /* what was missing when the store was opened */
    uint64_t checkpoint_seq;   /* of the checkpoint on disk */
    uint64_t checkpoint_count; /* of changes that it holds */
    uint64_t changes;          /* of which segments there are */
    uint64_t done;             /* numbers that claimants were told to be done with, each as often as it was; rises */
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
    bool is_held;     /* nothing is copied forward or set aside */
    bool cannot_tend; /* the last piece of tending has failed */
    bool cannot_copy; /* there is no room for what is to be copied next */
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
    return refs * (sizeof(tm_posting) + sizeof(tm_brief) + sizeof(tm_row));
}

/* `disk` is the store's from here on, also when it fails. */
int tm_store_open(const tm_log_options *options, tm_disk *disk, tm_store **made);
void tm_store_close(tm_store *store);
/* Nothing more is appended: seal the open segment, so that the next opening reads its footer in place of its records,
 * and write a checkpoint. What fails is made up for by the next opening. */
void tm_store_finish(tm_store *store);

/* ---- append.c ---- */

/* How many bytes a batch may have now, and its share of the footer with it: those that still fit the open segment, or a
 * new one. */
uint64_t tm_store_room(tm_store *store);
/* Bring a batch to disk: TM_OK means that it is there. TM_LOG_FULL, TM_NO_MEMORY: again later, nothing has changed.
 * TM_LOG_FAILED: never. */
int tm_store_append(tm_store *store, const tm_batch *batch);
/* As that, for who holds `writing`. */
int tm_store_write(tm_store *store, const tm_batch *batch);
/* Have those known for whom a record is kept, and whom it leaves as a dead letter, with what is before `first` done
 * where they were not. false: no memory. */
bool tm_store_take_claimants(tm_store *store, const tm_log_record *record, uint64_t first);
/* What a record says of others. */
void tm_store_apply(tm_store *store, const tm_log_record *record);

/* ---- spares.c ---- */

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

/* ---- checkpoint.c ---- */

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
/* Take claimants and missing numbers into the store. Only TM_NO_MEMORY, TM_LOG_DISK and TM_LOG_FOREIGN fail. */
int tm_checkpoint_read(tm_store *store, tm_checkpoint *checkpoint);
void tm_checkpoint_free(tm_store *store, tm_checkpoint *checkpoint);
/* Raise the life and bring it to disk; TM_LOG_FULL: there is no room on the disk. */
int tm_life_begin(tm_store *store, uint64_t life);
/* The life on disk, 0 where there is none. */
int tm_life_read(tm_store *store, uint64_t *life, uint64_t *log_id);

/* ---- recover.c ---- */

int tm_store_recover(tm_store *store);

/* ---- recover_segment.c ---- */

bool tm_store_add_missing(tm_store *store, uint64_t first, uint64_t last);

/* ---- rescan.c ---- */

/* Build the index of a sealed segment from its records, which are not all sound: it is closed then. TM_NO_MEMORY: again
 * later, also where somebody reads it. */
int tm_store_rescan(tm_store *store, tm_segment *segment);
/* Are the head, all batches and the footer of a sealed segment as they were written? */
int tm_store_check(tm_store *store, tm_segment *segment, bool *is_sound);

/* ---- tend.c ---- */

int tm_store_tend(tm_store *store, bool is_checkpoint_due, bool *is_idle);
/* Copy what is left of the segment that is being copied; false: there is no room or no memory for it. */
bool tm_store_end_copy(tm_store *store);
/* May segments go, or be looked at whether they may? `state` is held. */
bool tm_store_may_free(const tm_store *store);
int tm_store_scrub(tm_store *store, uint64_t bytes, bool *is_through);

/* ---- read.c ---- */

int tm_store_read(tm_store *store, tm_claim of, uint64_t after, uint8_t *out, size_t capacity, size_t *size);
int tm_store_briefs(tm_store *store, tm_claim of, uint64_t after, tm_log_brief *out, size_t capacity, size_t *count);
/* Read the record that stands at a place and is number `n`. TM_OK; TM_TOO_MANY: `*size` bytes would do; TM_LOG_DISK:
 * it cannot be read. */
int tm_store_fetch(tm_store *store, const tm_segment *segment, uint32_t place, uint64_t n, uint8_t *out,
                   size_t capacity, size_t *size);
/* Is a row's number open? `state` is held. */
bool tm_store_is_open(const tm_store *store, uint64_t claimant, tm_role role, uint64_t n);

#endif
