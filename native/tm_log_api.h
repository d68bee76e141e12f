/* tm_log_api.h - the log of kept messages, as C and Python share it. As tm_api.h: cffi reads this text as it is.
 *
 * Law: what `tm_log_committed` has reached is on disk, and is read again by every later life of the log until those for
 * whom it is kept have done with it, or it is told as missing. No number is given to two records.
 *
 * One thread appends; it never waits for a disk. A committer thread writes what came meanwhile as one batch, and raises
 * the descriptor. A second thread tends the log: spare segments, checkpoints, copying forward, checking what is old.
 * tm_log_read, tm_log_replay and tm_log_missing read files: call them from any thread but one that must not wait. */

/* ---- results, beside those of tm_api.h ---- */

#define TM_LOG_FULL 16    /* no room for messages (or, of acks, none at all) until more is done with */
#define TM_LOG_FAILED 17  /* the disk has failed: nothing is written any more; what is there is read */
#define TM_LOG_BUSY 18    /* the ring is full, or what is done with is still to be let go: again in a while */
#define TM_LOG_DISK 19    /* the disk refused to be read, or the folder to be opened */
#define TM_LOG_FOREIGN 20 /* the folder holds another program's log, or another version's */

/* ---- records ---- */

#define TM_LOG_MESSAGE 1     /* the body is the frame as it travelled */
#define TM_LOG_ACK 2         /* the body is tm_log_done, any number of them */
#define TM_LOG_DEAD_LETTER 3 /* as an ack, and what the record names in keeps holds the message that it is from */
#define TM_LOG_GAP 4         /* the body is tm_log_range: these numbers are given up, and missing no more */
#define TM_LOG_FORGET 5      /* the body is tm_log_done: these holders are gone. A holder's id is not used again */
#define TM_LOG_KEEP                                                                                                    \
    6                 /* terms of the one keep that it names; means nothing to the log. It stays until a later one     \
                       * of that keep is committed, or the keep is forgotten; acks do not touch it */
#define TM_LOG_LOST 7 /* tm_log_read tells by it of a record that it cannot read: its number, and no more */
#define TM_LOG_SEED                                                                                                    \
    8 /* a message that was in the log before: what a new keep takes over; as a message, not replayed                  \
       */
#define TM_LOG_OTHER 64 /* kinds from here on mean nothing to the log, and are kept as messages are */

#define TM_LOG_LOSS_BYTES_MAX                                                                                          \
    192 /* a dead letter of no more that is kept for TM_LOG_LOSS_KEEP alone, or for none, tells of a loss: a full log  \
         * takes it, as it does acks, because the one before it is done with soon */
#define TM_LOG_LOSS_KEEP 0
#define TM_LOG_KEEPS_MAX 65535
#define TM_LOG_HOMES_MAX 64
#define TM_LOG_COPIED 1  /* flag of a record: it was copied forward, with its number */
#define TM_LOG_PARTIAL 2 /* another: somebody who wanted the message is not in it, for want of room */

/* A record, in memory as on disk: this, then `keeps` numbers of 4 bytes (filled up to 8), `homes` pairs of router and
 * previous number of 8 bytes each, the body (filled up to 8). Little-endian. */
typedef struct tm_log_record {
    uint32_t size; /* of it all, a multiple of 8 */
    uint32_t crc;  /* of the segment's salt, the size and what follows this field; in memory it means nothing */
    uint64_t n;    /* life (24 bits), counter (40 bits) */
    uint64_t t_us; /* when it was appended, in microseconds since 1970 */
    uint64_t from_router;
    uint64_t from_n;
    uint32_t body_size;
    uint16_t kind;
    uint16_t keeps;
    uint16_t homes;
    uint16_t flags;
    uint32_t reserved;
} tm_log_record;

typedef struct tm_log_home {
    uint64_t router;
    uint64_t previous;
} tm_log_home;

/* A holder has done with the numbers of a range. */
typedef struct tm_log_done {
    uint64_t holder; /* the number of a keep, or of a router that is a home */
    uint64_t first;
    uint64_t last; /* of it, too */
    uint64_t is_home;
} tm_log_done;

typedef struct tm_log_range {
    uint64_t first;
    uint64_t last;
} tm_log_range;

/* What is to be appended; all pointers are borrowed for the call. */
typedef struct tm_log_entry {
    const uint32_t *keeps;
    const tm_log_home *homes;
    const void *body;
    uint64_t t_us;
    uint64_t from_router;
    uint64_t from_n;
    uint32_t body_size;
    uint16_t kind;
    uint16_t keep_count;
    uint16_t home_count;
    uint16_t flags; /* TM_LOG_PARTIAL or 0 */
} tm_log_entry;

/* ---- a log ---- */

typedef struct tm_log tm_log;

typedef struct tm_log_options {
    const char *folder;        /* copied */
    uint64_t bytes_max;        /* of all segments, the two reserved ones among them */
    uint64_t memory_bytes_max; /* of indexes, holders and buffers; the ring is beside it. 0: no bound */
    uint64_t scrub_bytes_per_s;
    uint64_t hash_seed;     /* as in tm_options */
    uint64_t fail_in;       /* tests: as that of tm_memory */
    uint32_t segment_bytes; /* 64 MiB is usual; the same for the life of a folder is best, but not needed */
    uint32_t ring_bytes;    /* a power of two: what waits for the disk, and what is still in memory behind it */
    uint32_t checkpoint_ms;
    uint32_t has_no_threads; /* tests: tm_log_commit and tm_log_maintain are called by hand */
    uint32_t is_held;        /* segments stay as they are until tm_log_release: see there */
    uint32_t reserved;
} tm_log_options;

typedef struct tm_log_state {
    uint64_t log_id;
    uint64_t life;
    uint64_t appended;  /* number of the last record */
    uint64_t committed; /* number of the last record that is on disk */
    uint64_t batches;   /* committed by this life */
    uint64_t batch_bytes;
    uint64_t syncs_failed;
    uint64_t segments;
    uint64_t spare;
    uint64_t disk_bytes; /* of segments and spare ones */
    uint64_t holders;
    uint64_t missing; /* numbers */
    uint64_t copied;  /* records copied forward */
    uint64_t scrubbed_bytes;
    uint64_t damaged;   /* segments set aside, or to be */
    uint64_t set_aside; /* files of segments, in damaged/ by now */
    uint64_t memory_bytes;
    uint64_t commit_ns; /* what the last batch took */
    uint64_t is_full;
    uint64_t is_failed;
    uint64_t disk_error;   /* errno: why the disk gives no room for what the log wants to write; 0: it does */
    uint64_t is_disk_full; /* it has none */
} tm_log_state;

/* How the last opening found the log. */
typedef struct tm_log_recovery {
    uint64_t segments;
    uint64_t scanned_bytes;
    uint64_t records;       /* found by scanning; sealed segments are not scanned */
    uint64_t torn_bytes;    /* of batches that nobody was told were on disk */
    uint64_t damages;       /* places that were on disk and cannot be read any more */
    uint64_t missing;       /* numbers lost by them */
    uint64_t lost_copies;   /* stretches in which copied records were, or may have been, whose numbers nobody knows */
    uint64_t is_new;        /* the folder was empty */
    uint64_t no_checkpoint; /* it was damaged or absent: acks in segments that are gone may be forgotten */
    uint64_t nanoseconds;
} tm_log_recovery;

/* Open the log in a folder, made if it is absent; `*made` is yours to close. Whatever is damaged, it ends with a log
 * that is served; only a disk that cannot be read or written at the start, TM_LOG_FULL (no room for a new log),
 * TM_LOG_FOREIGN, TM_MISUSED and TM_NO_MEMORY make it fail. A log that is there opens on a full disk. */
int tm_log_open(const tm_log_options *options, tm_log **made);
/* Commit what is appended, end the threads, write a checkpoint, free all of it. NULL is allowed. */
void tm_log_close(tm_log *log);

/* Let segments be copied forward and set aside from now on. Who reads a log that `is_held` is told of each record that
 * cannot be read; of one whose segment was set aside before, nothing says any more for whom it was. From any thread. */
void tm_log_release(tm_log *log);

/* ---- for the one thread that appends ---- */

/* Give the next number to a record and put it into the open batch; `*n` is its number. TM_OK, TM_LOG_FULL,
 * TM_LOG_FAILED, TM_LOG_BUSY, or TM_TOO_MANY: longer than a record may be. */
int tm_log_append(tm_log *log, const tm_log_entry *entry, uint64_t *n);
/* Is the disk behind, so that less than `bytes` are left for what waits for it, or is room scarce, and may there be
 * more in a while? 0 as well where waiting is no use: nothing can go from a log that is full, or it has failed. */
uint32_t tm_log_is_behind(const tm_log *log, uint64_t bytes);
/* Is room scarce, and may there be more in a while, as some of what is on disk may have been done with? */
uint32_t tm_log_is_freeing(const tm_log *log);
/* Are three quarters of the log in use, or is its disk full? */
bool tm_log_is_tight(const tm_log *log);
/* Append `count` entries, as far as there is room, and let the committer know; returns how many were, `*n` is the
 * number of the last one, `*result` says why not all. */
size_t tm_log_append_many(tm_log *log, const tm_log_entry *entries, size_t count, uint64_t *n, int *result);
/* Let the committer know: after one or many appends. */
void tm_log_flush(tm_log *log);
/* The number up to which all is on disk; from any thread. */
uint64_t tm_log_committed(const tm_log *log);
/* An eventfd of the log that is readable after a commit; whoever reads it resets it. */
int tm_log_descriptor(const tm_log *log);
/* The next record in memory: `*place` is 0 at first, then left alone. NULL: nothing more is committed, or `*is_behind`:
 * what follows has left the memory, tm_log_read has it. Borrowed until the next append. */
const tm_log_record *tm_log_recent(const tm_log *log, uint64_t *place, uint32_t *is_behind);
/* The place of the next record to be appended, for the thread that appends; and the place behind all that is on disk.
 */
uint64_t tm_log_end(const tm_log *log);
uint64_t tm_log_written(const tm_log *log);

/* As tm_log_recent, for the thread that appends: of what is not on disk yet, too. */
const tm_log_record *tm_log_pending(const tm_log *log, uint64_t *place, uint32_t *is_behind);

/* ---- for the thread that appends, which must not wait: records that have left the memory ---- */

#define TM_LOG_ASKED_MAX 256            /* tickets that are not given back */
#define TM_LOG_ASKED_BYTES_MAX 16777216 /* that they asked for, together */

typedef struct tm_log_answer {
    uint64_t ticket;
    uint64_t holder;
    uint32_t is_home;
    int32_t result;      /* as of tm_log_read */
    const void *records; /* borrowed until the ticket is given back */
    uint64_t size;       /* of them; 0: there are none */
} tm_log_answer;

/* Ask for what tm_log_read gives, as much as fits `bytes`, or the next record alone if it is longer. A reading thread
 * answers in the order of asking, and raises the descriptor. TM_OK and `*ticket`; TM_LOG_BUSY: one of the bounds above
 * is reached, again once a ticket is given back. */
int tm_log_ask(tm_log *log, uint64_t holder, uint32_t is_home, uint64_t after, uint32_t bytes, uint64_t *ticket);
/* The next answer, which is told once; 0: there is none. */
uint32_t tm_log_answered(tm_log *log, tm_log_answer *answer);
/* Give a ticket back, and the records of its answer; before there is an answer there will be none. */
void tm_log_give_back(tm_log *log, uint64_t ticket);

/* ---- for any thread that may wait ---- */

/* Records that are kept for a holder, whose numbers are past `after`, in order and whole: `*size` bytes into `out`,
 * at most `capacity`. Those that it has done with are left out. 0 bytes: there are none. TM_TOO_MANY: `out` is too
 * small for the next one, `*size` bytes. What cannot be read is counted as missing, and told by a record of kind
 * TM_LOG_LOST. */
int tm_log_read(tm_log *log, uint64_t holder, uint32_t is_home, uint64_t after, void *out, size_t capacity,
                size_t *size);

/* An open record in short, as the indexes of the log know it. */
typedef struct tm_log_summary {
    uint64_t n;
    uint64_t at_ms;      /* when it was appended, in milliseconds since 1970 */
    uint64_t expires_ms; /* as it says itself; 0: never */
    uint32_t body_size;
    uint32_t is_enough; /* it is a message, and this is true of it; 0: nothing but the number is known */
} tm_log_summary;

/* Open records past `after` that are kept for a holder, in order, at most `capacity` into `out`; `*count` of them.
 * From the indexes alone: no record is read, so those that cannot be are among them. */
int tm_log_summaries(tm_log *log, uint64_t holder, uint32_t is_home, uint64_t after, tm_log_summary *out,
                     size_t capacity, size_t *count);
/* What a holder has done with: everything up to `*done`, and ranges above it, at most `capacity` into `out`; returns
 * how many ranges there are. 0 and 0 for one that is not known. */
size_t tm_log_done_with(tm_log *log, uint64_t holder, uint32_t is_home, uint64_t *done, tm_log_range *out,
                        size_t capacity);
/* Terms of keeps: one record (TM_LOG_KEEP) of each keep whose number is past `after`, in order of keeps, whole: `*size`
 * bytes into `out`. 0 bytes: there are no more. TM_TOO_MANY: as tm_log_read. */
int tm_log_keeps(tm_log *log, uint32_t after, void *out, size_t capacity, size_t *size);

/* Where a replay is; zeroes at first. */
typedef struct tm_log_place {
    uint64_t serial; /* of a segment */
    uint64_t at;     /* of a batch in it */
    uint32_t skip;   /* of its bytes */
    uint32_t reserved;
} tm_log_place;

typedef struct tm_log_replayed {
    uint64_t looked_at; /* records */
    uint64_t is_all;    /* nothing more is on disk now */
} tm_log_replayed;

/* Of which messages a replay is: both ends of a time are in it. */
typedef struct tm_log_reach {
    uint64_t from;     /* the least number */
    uint64_t since_us; /* when it was appended, in microseconds since 1970 */
    uint64_t until_us;
    uint64_t found_max; /* messages that one call finds; 0: no bound */
} tm_log_reach;

/* Messages within `reach` (NULL: all) which match the table `wanted` (any filter of interface 0; borrowed, and this
 * thread's alone; NULL: all of them), whoever they are for, in the order in which they lie, whole, into `out`; from
 * `*place` on, which moves. Segments that hold none within `reach` are passed. Ends when `out` is full, `records_max`
 * were looked at, one more than `found_max` is found, which stays for the next call, or that was all. 0 bytes, with
 * fewer than `records_max` looked at, and not all: the next one is longer than `capacity`. */
int tm_log_replay(tm_log *log, tm_table *wanted, const tm_log_reach *reach, uint64_t records_max, tm_log_place *place,
                  void *out, size_t capacity, size_t *size, tm_log_replayed *replayed);

/* Does a table match a message, as tm_log_replay has it? */
bool tm_log_matches(tm_table *wanted, const tm_log_record *record);
/* Look for the message of an origin with a counter, at the next `records_max` records or as many as `bytes` have room
 * for, from `*place` on, which moves: `*n` is its number, 0: it is not among them. */
int tm_log_find(tm_log *log, uint64_t origin, uint64_t counter, uint64_t records_max, tm_log_place *place, void *bytes,
                size_t capacity, uint64_t *n, tm_log_replayed *replayed);

/* The number from which on a replay looks at the last `records` records, or at `bytes` of them, whichever are fewer,
 * and up to a segment more. */
uint64_t tm_log_tail(tm_log *log, uint64_t records, uint64_t bytes);

/* Ranges of numbers that were on disk and cannot be read, at most `capacity`; returns how many there are. */
size_t tm_log_missing(tm_log *log, tm_log_range *out, size_t capacity);
/* Of the ranges that were missing when the log was opened: what of them is past `since` and not done with by a
 * holder, so that something for it may have been there. At most `capacity` (1 or more) into `out`, in order; the last
 * one reaches over all that have no place. Returns how many there are. */
size_t tm_log_doubts(tm_log *log, uint64_t holder, uint32_t is_home, uint64_t since, tm_log_range *out,
                     size_t capacity);
/* A number is missing that may have mattered to others than those it was for: it is among the doubts of all that have
 * not done with it. false: no memory. */
bool tm_log_doubt(tm_log *log, uint64_t n);
void tm_log_state_of(tm_log *log, tm_log_state *state);
void tm_log_recovery_of(const tm_log *log, tm_log_recovery *recovery);

/* ---- by hand, where there are no threads ---- */

/* Commit one batch: TM_OK, TM_ABSENT (nothing was appended), TM_LOG_FULL (it waits), TM_LOG_FAILED. */
int tm_log_commit(tm_log *log);
/* Answer one of those who ask, as the reading thread does; 0: nobody asks. */
uint32_t tm_log_serve(tm_log *log);
/* Do one piece of tending; `*is_idle`: nothing was to be done. */
int tm_log_maintain(tm_log *log, uint32_t *is_idle);
/* Read up to `bytes` of what is old and compare checksums; `*is_through`: once around since the last time. */
int tm_log_scrub(tm_log *log, uint64_t bytes, uint32_t *is_through);
