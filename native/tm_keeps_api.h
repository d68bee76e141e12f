/* tm_keeps_api.h - kept subscriptions in the switch, as C and Python share them. As tm_api.h: cffi reads this text as
 * it is. It stands on tm_switch_api.h (the switch) and tm_log_api.h (the log).
 *
 * Law: nothing that a client is told (a confirmation, a delivery, a loss, an answer to an ACK) is told before the
 * record that says it is on disk. Nothing here waits for a disk, but for tm_keep_recover.
 *
 * What Python does: KEEP, ATTACH, DETACH, FORGET and their answers; names, quotas, leases; the records that say which
 * keeps there are (the *book*, below). It gives each keep a number that is never used again, which is the holder of
 * the log, and calls the functions here.
 *
 * What C does, from then on: a message that satisfies filters of keeps becomes one record of the log for all of them. A
 * PUBLISH with CONFIRM and DURABLE is confirmed when its record is on disk (at once where no keep wants it, which the
 * ACK says), and refused with LOG_FAILED or LOG_FULL where one of them lacks it, which stops no other; sent again under
 * its counter it goes to those alone that lack it. While the disk is behind it waits, and with it its connection.
 * Without tm_switch_keeps it is refused with NO_LOG, or confirmed (see tm_switch_keeps_nothing). Members get DELIVER
 * frames with SATISFIED (the id of their ATTACH), LOG_POSITION and DELIVERIES, within their credit and unacked_max. ACK
 * (of DELIVER) and CREDIT frames that name an attachment are taken in C and answered there; such frames that name none,
 * or are malformed, go up as TM_EVENT_FRAME as all control frames do. Redelivery, dead letters, bounds, expiry and LOST
 * (with `in_all`) are C's, too. A connection that ends leaves its keeps by itself.
 *
 * The start of a router:
 *
 *     tm_log_open, tm_switch_new, tm_switch_keeps
 *     tm_log_read of holder TM_KEEPS_BOOK: its records of kind TM_LOG_OTHER and above are Python's, the rest is C's
 *     for each keep in them: tm_keep_open, tm_keep_filter for each filter, tm_keep_recover
 *     tm_keep_dead_letter, once all are open
 *
 * A new keep: tm_keeps_append (its record), tm_keep_open and tm_keep_filter at once, tm_keeps_await, and the answer to
 * the client when TM_EVENT_COMMITTED says so. A keep that goes: tm_keep_forget, tm_keeps_retire (its record). */

#define TM_KEEPS_BOOK 0 /* the holder for which the records of the book are kept; no keep has this number */

/* An event of tm_switch_poll and others. `frame` is 8 bytes: the number up to which all is on disk, and has reached
 * what tm_keeps_await asked for. `code` 1: the log has failed, and what is past that number will never be on disk. */
#define TM_EVENT_COMMITTED 11

typedef struct tm_keeps_options {
    uint64_t memory_bytes_max; /* of the index of what keeps have (48 B a message of a keep), members, tries and frames
                                  that were read from the disk. At it keeps have no room. 0: no bound */
    uint32_t ring_bytes;       /* of the log's tm_log_options */
    uint32_t waits_max;        /* confirmations and answers that wait for the disk; past it OVERLOADED. 0: 1,048,576 */
    uint32_t answers_max;   /* answers to ACKs of one connection that wait for the disk, 256 KiB of them at most; past
                               it the connection ends with OVER_LIMIT. 0: 1,000 */
    uint32_t has_no_thread; /* tests: what is cold is read by the calling thread */
} tm_keeps_options;

/* Let the switch keep. It borrows `log`, which nobody else appends to from here on: free the switch, or end this with
 * `log` NULL (members are cut, everything here is freed), before the log is closed. TM_OK, TM_NO_MEMORY, TM_MISUSED. */
int tm_switch_keeps(tm_switch *sw, tm_log *log, const tm_keeps_options *options);

/* What becomes of a PUBLISH with CONFIRM and DURABLE while the switch has no log, so that no keep wants it: refused
 * with NO_LOG, whose sentence says why there is none, or confirmed at once as one that no keep wants. */
#define TM_KEEPS_NO_FOLDER 0 /* refused: the settings name no folder for a log. This is so at the start */
#define TM_KEEPS_OFF 1       /* refused: the settings say that nothing is kept */
#define TM_KEEPS_NONE_YET 2  /* confirmed: the log is made with the first keep */
int tm_switch_keeps_nothing(tm_switch *sw, int how); /* TM_OK, TM_MISUSED */

/* ---- the book: Python's own records ---- */

/* Append a record of kind TM_LOG_OTHER or above to the book; `*n` is its number. Results as those of tm_log_append. */
int tm_keeps_append(tm_switch *sw, uint32_t kind, const uint8_t *body, uint32_t size, uint64_t *n);
/* A record of the book is done with. TM_ABSENT: there is none of this number. */
int tm_keeps_retire(tm_switch *sw, uint64_t n);
/* Tell by TM_EVENT_COMMITTED when record `n` is on disk (0: the last that was appended by anybody here). One event
 * answers all that have asked up to its number. */
int tm_keeps_await(tm_switch *sw, uint64_t n);

/* ---- keeps ---- */

#define TM_KEEP_BACKOFFS_MAX 16
#define TM_KEEP_OWNERS_MAX 1048576 /* numbers of owners */
#define TM_KEEP_UNACKED_MAX 100000
#define TM_KEEP_MEMBERS_MAX 10000  /* of one keep */
#define TM_KEEP_ATTACHMENTS_MAX 64 /* of one connection */

#define TM_KEEP_DROP_OLDEST 0
#define TM_KEEP_REFUSE 1

/* As KeepTerms of protocol/wire/keep_bodies.py, whose bounds they have passed; names are borrowed for the call. */
typedef struct tm_keep_terms {
    uint64_t bytes_max; /* of frames that are kept */
    uint64_t count_max; /* 0: no bound */
    uint64_t for_ms;    /* kept for so long after it came, acknowledged or not; 0: until acknowledged */
    const uint8_t *order_by;
    const uint8_t *latest_by;
    uint32_t order_by_size; /* 0: none */
    uint32_t latest_by_size;
    uint32_t ack_wait_ms;
    uint32_t deliveries_max; /* 0: no bound */
    uint32_t unacked_max;    /* 1 to TM_KEEP_UNACKED_MAX */
    uint32_t backoff_count;
    uint32_t backoff_ms[TM_KEEP_BACKOFFS_MAX];
    uint8_t overflow; /* TM_KEEP_* */
} tm_keep_terms;

/* A keep without filters, for which nothing is kept yet. `number`, 1 to 2^31 - 1, is the holder, and was never one in
 * this log unless tm_keep_recover follows. `*subscriber` is its interface of the table, whose filters name it in
 * tm_switch_subscribed. TM_OK, TM_NO_MEMORY, TM_TOO_MANY (subscribers_max) or TM_MISUSED. */
int tm_keep_open(tm_switch *sw, uint32_t number, const tm_keep_terms *terms, uint32_t *subscriber);
/* It is that of an owner, 1 to TM_KEEP_OWNERS_MAX, a number that its caller gives each; what the keep has is charged to
 * it from now on. TM_NO_MEMORY: it is whose it was. */
int tm_keep_own(tm_switch *sw, uint32_t number, uint32_t owner);
/* Add one packed filter, from which moment what satisfies it is kept: the results of tm_table_add. */
int tm_keep_filter(tm_switch *sw, uint32_t number, const uint8_t *filter, uint32_t size);
/* Fill the keep with what the log has for it, and its losses; what damage has taken of records past `since`, the number
 * of the record that says that there is the keep, is a loss, too. It reads the disk: before the router serves. TM_OK,
 * TM_NO_MEMORY, TM_LOG_DISK. */
int tm_keep_recover(tm_switch *sw, uint32_t number, uint64_t since);
/* Its dead letters go to keep `to` from now on; 0: to nobody, they are losses. TM_ABSENT: no such keep. */
int tm_keep_dead_letter(tm_switch *sw, uint32_t number, uint32_t to);
/* Let go of it and of what is kept for it: its members are cut, a FORGET record is appended. At most `steps` filters
 * are dropped; call it until `*left` is 0. TM_LOG_FAILED, TM_LOG_BUSY: nothing has changed. */
int tm_keep_forget(tm_switch *sw, uint32_t number, uint32_t steps, uint32_t *left);

/* Attach a client's connection under its id `id`, which is none of its subscriptions or attachments: frames go out at
 * once, `credit` in all. `after`: what nobody has, up to this position, is passed over and told as lost. `latest`:
 * first, as replayed, what was acknowledged and is kept on. What the keep has lost is told first. TM_OK, TM_NO_MEMORY,
 * TM_TOO_MANY (members of the keep, or attachments of the connection), TM_ABSENT (no such keep), TM_MISUSED (the
 * connection has ended, or has this id in use). */
int tm_keep_attach(tm_switch *sw, uint32_t number, uint32_t connection, uint32_t id, uint64_t credit, uint64_t after,
                   uint32_t latest);
/* TM_ABSENT: the connection has no such attachment. */
int tm_keep_detach(tm_switch *sw, uint32_t connection, uint32_t id);

/* The position of the newest message of a keep whose `latest_by` has the value that these packed attributes give it;
 * the message need not be on disk yet, and another value may have the same key. TM_ABSENT: no such keep, or message. */
int tm_keep_newest(const tm_switch *sw, uint32_t number, const uint8_t *attributes, size_t size, uint64_t *n);

/* ---- what entered at other routers ---- */

#define TM_KEEPS_DOUBT 96        /* kind of a record: messages may be missing in the keeps that it names */
#define TM_KEEPS_DOUBTED_MAX 512 /* keeps in one call */

/* Note that `numbers`, keeps, may have missed messages that entered at other routers since `since_ms` (Unix time): by
 * one record for all of them. Members are told when their keep comes to it, by LOST with WAY_CHANGED, `doubts` 1 and
 * the positions between which the messages would stand; who attaches is told again, until a message behind it is
 * acknowledged. Where nothing has come since the last one that was not told, nothing is done. Keeps that there are not
 * are passed over. Results as those of tm_log_append, TM_NO_MEMORY, TM_MISUSED: nothing is noted then. */
int tm_keeps_doubt(tm_switch *sw, const uint32_t *numbers, size_t count, uint64_t since_ms);

/* ---- owners ---- */

/* While the log is tight (tm_log_is_tight), the keeps of an owner that hold more than so much of it are full: each by
 * its own terms. 0, as at the beginning: shares do not bind. */
int tm_keeps_share(tm_switch *sw, uint64_t bytes);
/* What the keeps of an owner hold of the log: their frames, and 128 bytes for each message. TM_ABSENT: it never had a
 * keep. */
int tm_keeps_charge(const tm_switch *sw, uint32_t owner, uint64_t *bytes);

/* ---- what a new keep takes over from the log ---- */

/* Where a keep is that takes over what is in the log. Messages that came before `since_us` and those up to number
 * `after` are left out. The rest is C's; zeroes at first. */
typedef struct tm_keep_start {
    uint64_t since_us;
    uint64_t after;
    uint64_t place; /* in the memory of the log: what is behind it was not on disk at tm_keep_mark */
    uint64_t last;  /* number of the newest message that was taken over */
} tm_keep_start;

/* A keep that takes over begins without filters: then, until tm_keep_join says TM_OK,
 *
 *     tm_keep_mark; tm_log_replay with its filters, in a thread that may wait; tm_keep_seed with what that found
 *     tm_keep_join once a replay has found that this is all
 *
 * and tm_keep_filter at once, before anything else is appended. What is taken over becomes records of its own, so the
 * positions of the keep are in the order in which the log has the messages. */
void tm_keep_mark(tm_switch *sw, tm_keep_start *start);
/* Append some of `records` for the keep; `*used` of their bytes are done with. TM_OK; TM_LOG_BUSY: the rest again
 * later. TM_LOG_FULL: the log, or a keep that refuses, has no room; TM_LOG_FAILED; TM_NO_MEMORY. */
int tm_keep_seed(tm_switch *sw, uint32_t number, tm_keep_start *start, const uint8_t *records, size_t size,
                 size_t *used);
/* Append what came since tm_keep_mark. TM_OK: the keep has everything up to now. TM_LOG_BUSY: that was too much: mark,
 * replay and seed again. The rest as tm_keep_seed. `wanted`: its filters; no other thread uses it meanwhile. */
int tm_keep_join(tm_switch *sw, uint32_t number, tm_keep_start *start, tm_table *wanted);

/* ---- figures ---- */

typedef struct tm_keep_stats {
    uint64_t appended;  /* what it got since it was opened, what was recovered among it */
    uint64_t open;      /* its depth; of them: */
    uint64_t out;       /* at members */
    uint64_t paused;    /* came back, and go out again later */
    uint64_t ready;     /* came back, and go out again when somebody has credit */
    uint64_t past;      /* acknowledged, and kept on */
    uint64_t bytes;     /* of frames, open and past */
    uint64_t charge;    /* what it holds of the log, as its owner is charged */
    uint64_t oldest;    /* position of the first that is open; 0: nothing is */
    uint64_t oldest_ms; /* when that came, in milliseconds since 1970 */
    uint64_t acked;
    uint64_t expired; /* this and what follows: since the keep was made */
    uint64_t dropped;
    uint64_t replaced;
    uint64_t dead;
    uint64_t undeliverable;
    uint64_t damaged; /* their records cannot be read */
    uint64_t skipped; /* somebody attached behind them */
    uint64_t doubts;  /* stretches of positions of which nobody knows what was for the keep, as they cannot be read */
    uint64_t doubt_first; /* all of them are from here */
    uint64_t doubt_last;  /* to here */
    uint64_t refused;     /* messages that found it full */
    uint64_t delivered;   /* this and what follows: of this life of the router */
    uint64_t redelivered; /* of those, again */
    uint64_t members;
    uint64_t credit; /* that members have left, together */
} tm_keep_stats;

typedef struct tm_keeps_stats {
    uint64_t appended;  /* number of the last record */
    uint64_t committed; /* number of the last record that is on disk */
    uint64_t kept;      /* messages that became records, by this life */
    uint64_t acks;      /* records that say what is done with */
    uint64_t confirmed; /* publishes that were confirmed from the disk */
    uint64_t refused;   /* messages that were refused as LOG_FULL, LOG_FAILED or OVERLOADED */
    uint64_t waits;     /* confirmations and answers that wait for the disk */
    uint64_t cold_reads;
    uint64_t memory_bytes;
    uint64_t commit_us; /* between append and confirmation, of the last one that was confirmed */
    uint64_t is_failed;
    uint64_t keeps;
    uint64_t members;
    uint64_t held;     /* connections whose publishes wait, as the disk is behind */
    uint64_t holds;    /* times that it was */
    uint64_t ended_ms; /* when the last message of earlier lives of the log came, by Unix time; 0: none is known */
} tm_keeps_stats;

/* TM_ABSENT: no such keep. */
int tm_keep_figures(const tm_switch *sw, uint32_t number, tm_keep_stats *out);
int tm_keeps_figures(const tm_switch *sw, tm_keeps_stats *out);

/* ---- for tests ---- */

/* TM_MISUSED, and `*reason` (static), where a structure is not sound. It walks all of it. */
int tm_keeps_validate(const tm_switch *sw, const char **reason);
/* Let the clock of the wall, by which messages age and expire, run ahead by so much more; the steady one is that of
 * tm_switch_advance. */
int tm_keeps_advance(tm_switch *sw, int64_t wall_ms);
/* Let the n-th allocation of keeps from now on fail; 0 turns it off. */
void tm_keeps_fail_allocation(tm_switch *sw, uint64_t n);

/* ---- figures of all keeps together ---- */

#define TM_COMMIT_BUCKETS 19
#define TM_COMMIT_BUCKET_LEAST 6

/* The sum of tm_keep_figures over all keeps; `oldest` and `oldest_ms` are those of the oldest of all. */
int tm_keeps_totals(const tm_switch *sw, tm_keep_stats *out);
/* How long confirmed publishes waited for the disk: `counts`, TM_COMMIT_BUCKETS of them, has at i those of less than
 * 2^(i + TM_COMMIT_BUCKET_LEAST) us, the last one all others. `*sum_us` is the time of all together. */
int tm_keeps_commits(const tm_switch *sw, uint64_t *counts, uint64_t *sum_us);
