/* tm_log_api.h - the log of stored messages, as C and Python share it. cffi reads this text as it is, as it reads
 * tm_api.h.
 *
 * Law: what `tm_log_committed` has reached is on disk. Every later run of the log reads it again until its holders are
 * done with it, or reports it as missing. No two records have one number.
 *
 * One thread appends and never waits for a disk. A committer thread writes the appended records as one batch and raises
 * the descriptor. A second thread does maintenance: spare segments, checkpoints, compaction, scrubbing. tm_log_read,
 * tm_log_replay and tm_log_missing read files: call them only from a thread that may wait. */

/* ---- results in addition to those of tm_api.h ---- */

#define TM_LOG_FULL 16    /* no room for messages (or, for acks, none at all) until holders are done with more */
#define TM_LOG_FAILED 17  /* the disk has failed: nothing is written any longer, existing records can be read */
#define TM_LOG_BUSY 18    /* the ring is full, or done records are not freed yet: retry later */
#define TM_LOG_DISK 19    /* the disk refused a read, or the folder cannot be opened */
#define TM_LOG_FOREIGN 20 /* the folder holds the log of another router, or of a version that is too old */
#define TM_LOG_NEWER 21   /* the folder was written by a later version, which this one cannot read */

/* ---- records ---- */

#define TM_LOG_MESSAGE 1     /* the body is the frame as it was forwarded */
#define TM_LOG_ACK 2         /* the body is any number of tm_log_done */
#define TM_LOG_DEAD_LETTER 3 /* as an ack; the subscriptions in `durables` hold the dead letter */
#define TM_LOG_GAP 4         /* the body is tm_log_range: these numbers are given up and are no longer missing */
#define TM_LOG_FORGET 5      /* the body is tm_log_done: these holders are deleted; an id is never reused */
#define TM_LOG_DURABLE                                                                                                 \
    6 /* policy of the one subscription that it names, which the log does not interpret. It stays until                \
       * a later one is committed or the subscription is deleted; acks do not affect it */
#define TM_LOG_LOST 7 /* tm_log_read returns it for a record that it cannot read: only its number */
#define TM_LOG_SEED                                                                                                    \
    8 /* a message that a new durable subscription has taken over from the log; as a message, but never replayed */
#define TM_LOG_CHAIN                                                                                                   \
    9 /* the body is a tm_log_chain: how far this router, as a home, has the chain of the one entry that `homes`       \
       * names. It stays until a later one is committed or the chain is deleted */
#define TM_LOG_GIVEN_UP                                                                                                \
    10 /* the body is a tm_log_given_up: messages that the one home that `homes` names will not get. The record is     \
        * open until that home is done with it */
#define TM_LOG_HOME_HAS                                                                                                \
    11 /* the body is a tm_log_chain: how far the one home that `homes` names has the chain of this router. As an ack  \
        * of all numbers up to `have`; it stays as TM_LOG_CHAIN does */
#define TM_LOG_OTHER 64 /* the log does not interpret kinds from here on, and stores them like messages */

#define TM_LOG_LOSS_BYTES_MAX                                                                                          \
    192 /* a dead letter of at most this size that is for TM_LOG_LOSS_DURABLE only, or for no holder, reports a loss:  \
         * a full log accepts it as it does acks, because the previous one is done with soon */
#define TM_LOG_LOSS_DURABLE 0
#define TM_LOG_DURABLES_MAX 65535
#define TM_LOG_HOMES_MAX 64
#define TM_LOG_CHAINS_MAX 4096  /* 224 KiB of tm_log_chain: a record that begins one more is TM_TOO_MANY */
#define TM_LOG_NUMBERS_MAX 4096 /* that one TM_LOG_GIVEN_UP gives up */
#define TM_LOG_COPIED 1         /* flag of a record: compaction has copied it, with its number */
#define TM_LOG_PARTIAL 2        /* flag of a record: a subscription that matched has no room for it and is not in it */
#define TM_LOG_LACKS_HOME 4     /* as well: so has a home */

/* A record, in memory as on disk: this head, then `durables` numbers of 4 bytes (padded to 8), `homes` pairs of router
 * and previous number of 8 bytes each, the body (padded to 8). Little-endian. */
typedef struct tm_log_record {
    uint32_t size; /* of the whole record, a multiple of 8 */
    uint32_t crc;  /* of the segment's salt, the size and what follows this field; meaningless in memory */
    uint64_t n;    /* life, which is one run of the log (24 bits), and counter (40 bits) */
    uint64_t t_us; /* when it was appended, Unix time in us */
    uint64_t from_router;
    uint64_t from_n;
    uint32_t body_size;
    uint16_t kind;
    uint16_t durables;
    uint16_t homes;
    uint16_t flags;
    uint32_t reserved;
} tm_log_record;

typedef struct tm_log_home {
    uint64_t router;
    uint64_t previous;
} tm_log_home;

/* States that a holder is done with the numbers of a range. */
typedef struct tm_log_done {
    uint64_t holder; /* number of a durable subscription, or of a router that is a home */
    uint64_t first;
    uint64_t last;    /* inclusive */
    uint64_t is_home; /* of TM_LOG_FORGET also TM_LOG_ENTRY: the chain of a router that is an entry */
} tm_log_done;
#define TM_LOG_ENTRY 2

/* The chain between this router and another one, as the records on disk have it (docs/design/rules.md, Custody). A
 * message with `from_router` moves a chain of that entry that is known to `from_n`. `have` never falls within one log.
 */
typedef struct tm_log_chain {
    uint64_t router;
    uint64_t log;     /* id of the log of that router */
    uint64_t life;    /* of an entry: the last life of that log that this router has heard of */
    uint64_t have;    /* number in the chain up to which all has arrived, at this router or at that home */
    uint64_t lost;    /* of an entry: numbers that it gave up and that did not come before, in total */
    uint32_t doubts;  /* of an entry: how often messages may have been lost without a number */
    uint32_t is_home; /* in a record the kind says it */
    uint64_t n;       /* of its last record; ignored in a record */
} tm_log_chain;

/* The first bytes of a TM_LOG_GIVEN_UP; `ranges` tm_log_range follow, with which the home is done, and numbers that the
 * log does not interpret. */
typedef struct tm_log_given_up {
    uint32_t ranges;
    uint32_t numbers;
} tm_log_given_up;

typedef struct tm_log_range {
    uint64_t first;
    uint64_t last;
} tm_log_range;

/* A record to append; all pointers are borrowed for the call. */
typedef struct tm_log_entry {
    const uint32_t *durables;
    const tm_log_home *homes;
    const void *body;
    uint64_t t_us;
    uint64_t from_router;
    uint64_t from_n;
    uint32_t body_size;
    uint16_t kind;
    uint16_t durable_count;
    uint16_t home_count;
    uint16_t flags; /* TM_LOG_PARTIAL, TM_LOG_LACKS_HOME or 0 */
} tm_log_entry;

/* ---- a log ---- */

typedef struct tm_log tm_log;

typedef struct tm_log_options {
    const char *folder;        /* copied */
    uint64_t bytes_max;        /* of all segments, including the two reserved ones */
    uint64_t memory_bytes_max; /* of indexes, holders and buffers, without the ring. 0: no bound */
    uint64_t scrub_bytes_per_s;
    uint64_t hash_seed;     /* as in tm_options */
    uint64_t fail_in;       /* for tests: as that of tm_memory */
    uint32_t segment_bytes; /* usually 64 MiB; it may differ from earlier runs, but should not */
    uint32_t ring_bytes;    /* a power of two: records that wait for the disk, and those that are still in memory after
                             * it */
    uint32_t checkpoint_ms;
    uint32_t has_no_threads; /* for tests: the caller calls tm_log_commit and tm_log_maintain */
    uint32_t is_held;        /* keep all segments as they are until tm_log_release */
    uint32_t reserved;
} tm_log_options;

typedef struct tm_log_state {
    uint64_t log_id;
    uint64_t life;
    uint64_t life_before; /* the one that it follows; 0: none */
    uint64_t appended;    /* number of the last record */
    uint64_t committed;   /* number of the last record that is on disk */
    uint64_t batches;     /* committed in this run */
    uint64_t batch_bytes;
    uint64_t syncs_failed;
    uint64_t segments;
    uint64_t spare;
    uint64_t disk_bytes; /* of segments and spare files */
    uint64_t holders;
    uint64_t missing; /* count of numbers */
    uint64_t copied;  /* records copied by compaction */
    uint64_t scrubbed_bytes;
    uint64_t damaged;   /* segments set aside, or to be set aside */
    uint64_t set_aside; /* segment files in damaged/ by now */
    uint64_t memory_bytes;
    uint64_t commit_ns; /* duration of the last batch */
    uint64_t is_full;
    uint64_t is_failed;
    uint64_t disk_error;   /* errno of a write that the disk refuses and the log still needs; 0: none */
    uint64_t is_disk_full; /* the disk has no room */
} tm_log_state;

/* What the last opening found. */
typedef struct tm_log_recovery {
    uint64_t segments;
    uint64_t scanned_bytes;
    uint64_t records;       /* found by scanning; sealed segments are not scanned */
    uint64_t torn_bytes;    /* of batches that were never reported as on disk */
    uint64_t damages;       /* places that were on disk and can no longer be read */
    uint64_t missing;       /* numbers lost at these places */
    uint64_t lost_copies;   /* stretches in which copied records of unknown numbers were, or may have been */
    uint64_t is_new;        /* the folder was empty */
    uint64_t no_checkpoint; /* damaged or absent: acks in deleted segments may be forgotten */
    uint64_t nanoseconds;
} tm_log_recovery;

/* Open the log in a folder, which is created if absent; the caller closes `*made`. A damaged log opens, and so does an
 * existing log on a full disk. This fails only if the disk cannot be read or written at the start, with TM_LOG_FULL (no
 * room for a new log), TM_LOG_FOREIGN, TM_LOG_NEWER, TM_MISUSED and TM_NO_MEMORY. */
int tm_log_open(const tm_log_options *options, tm_log **made);
/* Commit the appended records, end the threads, write a checkpoint and free the log. NULL is allowed. */
void tm_log_close(tm_log *log);

/* Allow compaction and setting segments aside from now on. A reader of a log that `is_held` gets a report of each
 * record that cannot be read; once its segment is set aside, its holders are unknown. From any thread. */
void tm_log_release(tm_log *log);

/* ---- for the one thread that appends ---- */

/* Give a record the next number, `*n`, and put it into the open batch. TM_OK, TM_LOG_FULL, TM_LOG_FAILED, TM_LOG_BUSY,
 * or TM_TOO_MANY: longer than a record may be, or one chain more than there may be. */
int tm_log_append(tm_log *log, const tm_log_entry *entry, uint64_t *n);
/* Return the number that the next record gets. */
uint64_t tm_log_next(const tm_log *log);
/* true if the disk is behind, so that the ring has less than `bytes` left, or room is scarce, and waiting may help.
 * false if waiting cannot help: the log is full for good, or it has failed. */
uint32_t tm_log_is_behind(const tm_log *log, uint64_t bytes);
/* true if room is scarce and may grow, as holders may be done with some of what is on disk. */
uint32_t tm_log_is_freeing(const tm_log *log);
/* true if more than three quarters of the log are in use, or its disk is full. */
bool tm_log_is_tight(const tm_log *log);
/* Append `count` entries as far as there is room and flush. Return how many were appended; `*n` is the number of the
 * last one, `*result` the reason why not all were. */
size_t tm_log_append_many(tm_log *log, const tm_log_entry *entries, size_t count, uint64_t *n, int *result);
/* Wake the committer after one or many appends. */
void tm_log_flush(tm_log *log);
/* Return the number up to which all records are on disk; from any thread. */
uint64_t tm_log_committed(const tm_log *log);
/* Return an eventfd of the log that is readable after a commit; its reader resets it. */
int tm_log_descriptor(const tm_log *log);
/* Return the next committed record in memory, borrowed until the next append. `*place` is 0 at first; the caller does
 * not change it. NULL: all committed ones were returned, or `*is_behind`: the next ones have left the memory, and
 * tm_log_read returns them. */
const tm_log_record *tm_log_recent(const tm_log *log, uint64_t *place, uint32_t *is_behind);
/* Return the place of the next record to be appended, for the thread that appends; and the place behind all that is on
 * disk. */
uint64_t tm_log_end(const tm_log *log);
uint64_t tm_log_written(const tm_log *log);

/* As tm_log_recent, for the thread that appends; includes records that are not on disk yet. */
const tm_log_record *tm_log_pending(const tm_log *log, uint64_t *place, uint32_t *is_behind);

/* What the indexes of the log hold about an open record. */
typedef struct tm_log_summary {
    uint64_t n;
    uint64_t at_ms;      /* when it was appended, Unix ms */
    uint64_t expires_ms; /* expiry of the message, Unix ms; 0: never */
    uint32_t body_size;
    uint32_t is_enough; /* it is a message with these fields; 0: only the number is known */
} tm_log_summary;

/* ---- for the thread that appends, which must not wait: records that have left the memory ---- */

#define TM_LOG_ASKED_MAX 256            /* tickets that are not returned */
#define TM_LOG_ASKED_BYTES_MAX 16777216 /* bytes that they requested together */

typedef struct tm_log_answer {
    uint64_t ticket;
    uint64_t holder;
    uint32_t is_home;
    int32_t result;      /* as those of tm_log_read */
    const void *records; /* borrowed until the ticket is returned */
    uint64_t size;       /* of the records; 0: there are none */
} tm_log_answer;

/* Request what tm_log_read returns, as much as fits `bytes`, or the next record alone if that is longer. A reading
 * thread answers in the order of requests and raises the descriptor. TM_OK and `*ticket`; TM_LOG_BUSY: a bound above is
 * reached, retry after a ticket is returned. */
int tm_log_ask(tm_log *log, uint64_t holder, uint32_t is_home, uint64_t after, uint32_t bytes, uint64_t *ticket);
/* As tm_log_ask, for what tm_log_summaries returns: `size` bytes of at most `count` tm_log_summary. */
int tm_log_ask_summaries(tm_log *log, uint64_t holder, uint32_t is_home, uint64_t after, uint32_t count,
                         uint64_t *ticket);
/* Take the next answer, each once; 0: there is none. */
uint32_t tm_log_answered(tm_log *log, tm_log_answer *answer);
/* Return a ticket with the records of its answer; a request that is not answered yet gets no answer. */
void tm_log_give_back(tm_log *log, uint64_t ticket);

/* ---- for any thread that may wait ---- */

/* Return the open records of a holder past `after`, in order and whole: `*size` bytes in `out`, at most `capacity`. 0
 * bytes: there are none. TM_TOO_MANY: `out` is too small for the next one, which has `*size` bytes. A record that
 * cannot be read is counted as missing and returned as one of kind TM_LOG_LOST. */
int tm_log_read(tm_log *log, uint64_t holder, uint32_t is_home, uint64_t after, void *out, size_t capacity,
                size_t *size);

/* Return the open records of a holder past `after`, in order: `*count` of them in `out`, at most `capacity`. Only
 * indexes are read, so records that cannot be read are among them. */
int tm_log_summaries(tm_log *log, uint64_t holder, uint32_t is_home, uint64_t after, tm_log_summary *out,
                     size_t capacity, size_t *count);
/* Return what a holder is done with: everything up to `*done`, and ranges above it, at most `capacity` of them in
 * `out`. Returns the number of all ranges. An unknown holder has 0 and 0. */
size_t tm_log_done_with(tm_log *log, uint64_t holder, uint32_t is_home, uint64_t *done, tm_log_range *out,
                        size_t capacity);
/* Return the chains on disk by `is_home` and router, at most `capacity`. Returns the number of all chains. */
size_t tm_log_chains(tm_log *log, tm_log_chain *out, size_t capacity);
/* Return one chain as it is on disk; 0: it has no record there. From any thread. */
uint32_t tm_log_chain_of(tm_log *log, uint64_t router, uint32_t is_home, tm_log_chain *chain);
/* Return policies: the record (TM_LOG_DURABLE) of each subscription past `after`, in order of subscriptions and whole:
 * `*size` bytes in `out`. 0 bytes: there are none. TM_TOO_MANY: as tm_log_read. */
int tm_log_durables(tm_log *log, uint32_t after, void *out, size_t capacity, size_t *size);

/* The position of a replay; all zeroes at first. */
typedef struct tm_log_place {
    uint64_t serial; /* of a segment */
    uint64_t at;     /* of a batch in it */
    uint32_t skip;   /* bytes of the batch that are done */
    uint32_t reserved;
} tm_log_place;

typedef struct tm_log_replayed {
    uint64_t looked_at; /* records examined */
    uint64_t is_all;    /* everything on disk was covered */
} tm_log_replayed;

/* The messages that a replay covers; both ends of the time are included. */
typedef struct tm_log_reach {
    uint64_t from;     /* the least number */
    uint64_t since_us; /* when a message was appended, Unix time in us */
    uint64_t until_us;
    uint64_t found_max; /* messages that one call returns; 0: no bound */
    /* borrowed, and verified: a residual program that decides about messages that match; NULL: there is none */
    const uint8_t *program;
} tm_log_reach;

/* Return the messages of all holders within `reach` (NULL: all) that match the table `wanted` (any filter of interface
 * 0; borrowed, and used by no other thread; NULL: all), in the order of the files, whole, in `out`; from `*place` on,
 * which moves. Segments without a record within `reach` are skipped. A call ends if `out` is full, `records_max`
 * records were examined, a message beyond `found_max` is found, which the next call returns, or the end of the log is
 * reached. 0 bytes with fewer than `records_max` examined and not `is_all`: the next message is longer than `capacity`.
 */
int tm_log_replay(tm_log *log, tm_table *wanted, const tm_log_reach *reach, uint64_t records_max, tm_log_place *place,
                  void *out, size_t capacity, size_t *size, tm_log_replayed *replayed);

/* true if a table matches a message, and the program (or NULL) lets it pass, as in tm_log_replay. */
bool tm_log_matches(tm_table *wanted, const uint8_t *program, const tm_log_record *record);
/* Find the message of an origin with a counter among the next `records_max` records, or as many as `bytes` has room
 * for, from `*place` on, which moves. `*n` is its number; 0: it is not among them. */
int tm_log_find(tm_log *log, uint64_t origin, uint64_t counter, uint64_t records_max, tm_log_place *place, void *bytes,
                size_t capacity, uint64_t *n, tm_log_replayed *replayed);

/* Return the number from which a replay covers the last `records` records or the last `bytes` of them, whichever are
 * fewer, and up to a segment more. */
uint64_t tm_log_tail(tm_log *log, uint64_t records, uint64_t bytes);

/* Return ranges of numbers that were on disk and cannot be read, at most `capacity`. Returns the number of all
 * ranges. */
size_t tm_log_missing(tm_log *log, tm_log_range *out, size_t capacity);
/* Return the unknown ranges of a holder: the parts past `since` of the ranges missing at the opening of the log that
 * the holder is not done with, so that its records may have been there. At most `capacity` (1 or more) in `out`, in
 * order; the last one covers the rest. Returns how many there are. */
size_t tm_log_unknowns(tm_log *log, uint64_t holder, uint32_t is_home, uint64_t since, tm_log_range *out,
                       size_t capacity);
/* Add a missing number to the unknown ranges of all holders that are not done with it, as it may have concerned more of
 * them than it names. false: no memory. */
bool tm_log_unknown(tm_log *log, uint64_t n);
void tm_log_state_of(tm_log *log, tm_log_state *state);
void tm_log_recovery_of(const tm_log *log, tm_log_recovery *recovery);

/* ---- without threads ---- */

/* Commit one batch: TM_OK, TM_ABSENT (nothing was appended), TM_LOG_FULL (it waits), TM_LOG_FAILED. */
int tm_log_commit(tm_log *log);
/* Answer one request, as the reading thread does; 0: there is none. */
uint32_t tm_log_serve(tm_log *log);
/* Do one piece of maintenance; `*is_idle`: there was none to do. */
int tm_log_maintain(tm_log *log, uint32_t *is_idle);
/* Read old segments whole, until `bytes` are reached, and compare checksums; `*is_through`: the last one was read. */
int tm_log_scrub(tm_log *log, uint64_t bytes, uint32_t *is_through);
