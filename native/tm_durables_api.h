/* tm_durables_api.h - durable subscriptions in the switch, as C and Python share them. cffi reads this text as it is,
 * as it reads tm_api.h. It rests on tm_switch_api.h (the switch) and tm_log_api.h (the log).
 *
 * Law: a client receives no confirmation, delivery, loss or answer to an ACK before the record on which it rests is on
 * disk. Only tm_durable_recover waits for a disk.
 *
 * Python handles CREATE_DURABLE, CONSUME, CANCEL_CONSUME, REMOVE_DURABLE and their answers; names, quotas and leases;
 * and the records of the *catalog*, which lists the durable subscriptions. It gives each subscription a number that is
 * never used again, which is its holder number in the log, and calls the functions below.
 *
 * C handles the rest. A message that satisfies filters of durable subscriptions becomes one record of the log for all
 * of them. A PUBLISH with CONFIRM and DURABLE is confirmed when its record is on disk. If no durable subscription
 * matches it, it is confirmed at once, and the ACK reports that. If a matching subscription lacks it, it is refused
 * with LOG_FAILED or LOG_FULL, while the others store it; a retry under its counter goes only to the subscriptions that
 * lack it. While the disk is behind, the PUBLISH waits, and its connection with it. Without tm_switch_durables it is
 * refused with NO_LOG or confirmed (see tm_switch_not_storing). Consumers get DELIVER frames with SATISFIED (the id
 * of their CONSUME), LOG_POSITION and DELIVERIES, within their credit and unacked_max. C applies and answers ACK (of
 * DELIVER) and CREDIT frames that name a consumer; those that name none or are malformed reach Python as
 * TM_EVENT_FRAME, like all control frames. C also handles redelivery, dead letters, limits, expiry and LOST (with
 * `in_all`), and detaches the consumers of a connection that ends.
 *
 * The start of a router:
 *
 *     tm_log_open, tm_switch_new, tm_switch_durables
 *     tm_log_read of holder TM_DURABLES_CATALOG: its records of kind TM_LOG_OTHER and above are for Python, the rest
 * for C for each durable subscription in them: tm_durable_open, tm_durable_filter for each filter, tm_durable_recover
 *     tm_durable_dead_letter, once all are open
 *
 * A new durable subscription: tm_durables_append (its record), tm_durable_open and tm_durable_filter at once,
 * tm_durables_await, and the answer to the client after TM_EVENT_COMMITTED. The end of one: tm_durable_forget,
 * tm_durables_retire (its record). */

#define TM_DURABLES_CATALOG 0 /* holder number of the catalog; no durable subscription has this number */

/* An event of tm_switch_poll and its variants. `frame` is 8 bytes: the number up to which all records are on disk,
 * which has reached a number that tm_durables_await requested. `code` 1: the log has failed, and records past that
 * number will never be on disk. */
#define TM_EVENT_COMMITTED 11

typedef struct tm_durables_options {
    uint64_t memory_bytes_max; /* of the index (48 B for each stored message), consumers, attempts and frames that were
                                * read from the disk. At the bound durable subscriptions have no room. 0: no bound */
    uint32_t ring_bytes;       /* as in the tm_log_options of the log */
    uint32_t waits_max;        /* confirmations and answers that wait for the disk; past it OVERLOADED. 0: 1,048,576 */
    uint32_t answers_max;      /* answers to ACKs of one connection that wait for the disk, of at most 256 KiB together;
                                * past it the connection ends with OVER_LIMIT. 0: 1,000 */
    uint32_t has_no_thread;    /* for tests: the calling thread reads cold records */
} tm_durables_options;

/* Let the switch store messages in `log`. The log is borrowed, and only the switch may append to it from then on:
 * before closing the log, free the switch or call this with `log` NULL, which detaches the consumers and frees all
 * state here. TM_OK, TM_NO_MEMORY, TM_MISUSED. */
int tm_switch_durables(tm_switch *sw, tm_log *log, const tm_durables_options *options);

/* Set the answer to a PUBLISH with CONFIRM and DURABLE while the switch has no log and thus no durable subscription:
 * refuse it with NO_LOG, whose sentence gives the reason, or confirm it at once as one that no durable subscription
 * matches. */
#define TM_DURABLES_NO_FOLDER 0 /* refuse: the settings name no folder for a log. The initial state */
#define TM_DURABLES_OFF 1       /* refuse: the settings turn the log off */
#define TM_DURABLES_NONE_YET 2  /* confirm: the log is created with the first durable subscription */
int tm_switch_not_storing(tm_switch *sw, int how); /* TM_OK, TM_MISUSED */

/* ---- the catalog: records of Python ---- */

/* Append a record of kind TM_LOG_OTHER or above to the catalog; `*n` is its number. Results as those of
 * tm_log_append. */
int tm_durables_append(tm_switch *sw, uint32_t kind, const uint8_t *body, uint32_t size, uint64_t *n);
/* Retire a record of the catalog. TM_ABSENT: there is none of this number. */
int tm_durables_retire(tm_switch *sw, uint64_t n);
/* Request a TM_EVENT_COMMITTED when record `n` is on disk (0: the last record that was appended). One event answers all
 * requests up to its number. */
int tm_durables_await(tm_switch *sw, uint64_t n);

/* ---- durable subscriptions ---- */

#define TM_DURABLE_BACKOFFS_MAX 16
#define TM_DURABLE_OWNERS_MAX 1048576    /* owner numbers */
#define TM_DURABLE_POOLS_MAX 4096        /* pool numbers, from 0 */
#define TM_DURABLE_POOLS_OF_OWNER_MAX 16 /* pools of one owner */
#define TM_DURABLE_UNACKED_MAX 100000
#define TM_DURABLE_CONSUMERS_MAX 10000         /* consumers of one durable subscription */
#define TM_DURABLE_CONSUMERS_PER_CONNECTION 64 /* consumers of one connection */

#define TM_DURABLE_DROP_OLDEST 0
#define TM_DURABLE_REFUSE 1

/* The policy of a durable subscription: DurablePolicy of protocol/wire/durable_bodies.py, already validated. Names are
 * borrowed for the call. */
typedef struct tm_durable_policy {
    uint64_t bytes_max; /* of stored frames */
    uint64_t count_max; /* 0: no bound */
    uint64_t for_ms;    /* retention after arrival, acknowledged or not; 0: until acknowledged */
    uint64_t copies;    /* a number that all copies at other homes share; 0: there are none */
    const uint8_t *order_by;
    const uint8_t *latest_by;
    uint32_t order_by_size; /* 0: none */
    uint32_t latest_by_size;
    uint32_t ack_wait_ms;
    uint32_t deliveries_max; /* 0: no bound */
    uint32_t unacked_max;    /* 1 to TM_DURABLE_UNACKED_MAX */
    uint32_t backoff_count;
    uint32_t backoff_ms[TM_DURABLE_BACKOFFS_MAX];
    uint8_t overflow;   /* TM_DURABLE_* */
    uint8_t copies_min; /* copies that a message needs to be held; 0: those of all homes */
} tm_durable_policy;

/* Open a durable subscription without filters and messages. `number`, 1 to 2^31 - 1, is its holder number and was never
 * used in this log, unless tm_durable_recover follows. `*subscriber` is its interface of the table, under which
 * tm_switch_subscribed lists its filters. TM_OK, TM_NO_MEMORY, TM_TOO_MANY (subscribers_max) or TM_MISUSED. */
int tm_durable_open(tm_switch *sw, uint32_t number, const tm_durable_policy *policy, uint32_t *subscriber);
/* Assign the subscription to an owner, 1 to TM_DURABLE_OWNERS_MAX, a number that the caller chooses; what it stores is
 * charged to that owner from then on. TM_NO_MEMORY: its owner is unchanged. */
int tm_durable_own(tm_switch *sw, uint32_t number, uint32_t owner);
/* Add one packed filter; messages that satisfy it are stored from then on, if its residual program lets them pass
 * (`program_size` 0: it has none). Results as those of tm_table_add; TM_MALFORMED: that is no program. */
int tm_durable_filter(tm_switch *sw, uint32_t number, const uint8_t *filter, uint32_t size, const uint8_t *program,
                      uint32_t program_size);
/* Fill the subscription with its messages and losses in the log. Records past `since`, the number of the catalog record
 * that created it, which damage has taken are losses, too. This reads the disk, so it is called before the router
 * serves. TM_OK, TM_NO_MEMORY, TM_LOG_DISK. */
int tm_durable_recover(tm_switch *sw, uint32_t number, uint64_t since);
/* Send its dead letters to durable subscription `to` from now on; 0: they are losses. TM_ABSENT: no such
 * subscription. */
int tm_durable_dead_letter(tm_switch *sw, uint32_t number, uint32_t to);
/* Delete the subscription and its messages: detach its consumers and append a REMOVE_DURABLE record. At most `steps`
 * filters are dropped; call this until `*left` is 0. TM_LOG_FAILED, TM_LOG_BUSY: nothing has changed. */
int tm_durable_forget(tm_switch *sw, uint32_t number, uint32_t steps, uint32_t *left);

/* Attach the connection of a client as a consumer under `id`, which none of its subscriptions and consumers has.
 * Deliveries begin at once, `credit` in all. `after`: messages up to this position that are not out at a consumer are
 * skipped and reported as lost. `latest`: retained acknowledged messages are replayed first. All earlier losses are
 * reported before any message. TM_OK, TM_NO_MEMORY, TM_TOO_MANY (consumers of the subscription or of the connection),
 * TM_ABSENT (no such subscription), TM_MISUSED (the connection has ended or uses this id). */
int tm_durable_consume(tm_switch *sw, uint32_t number, uint32_t connection, uint32_t id, uint64_t credit,
                       uint64_t after, uint32_t latest);
/* TM_ABSENT: the connection has no such consumer. */
int tm_durable_cancel(tm_switch *sw, uint32_t connection, uint32_t id);

/* Return in `*n` the position of the newest message whose `latest_by` value is the one in these packed attributes. The
 * message need not be on disk yet, and two values may share a key. TM_ABSENT: no such subscription or message. */
int tm_durable_newest(const tm_switch *sw, uint32_t number, const uint8_t *attributes, size_t size, uint64_t *n);

/* ---- messages that entered at other routers ---- */

#define TM_DURABLES_UNKNOWN 96      /* kind of a record: messages may be missing in the subscriptions that it names */
#define TM_DURABLES_UNKNOWN_MAX 512 /* durable subscriptions in one call */

#define TM_DURABLES_HERE 0xffffffffffffffff /* for `since_ms`: behind all that was appended */

/* Record, as one record, that the durable subscriptions `numbers` may have missed messages which entered at other
 * routers since `since_ms` (Unix time). When a subscription reaches the record, its consumers get LOST with the reason
 * `loss`, `unknowns` 1 and the positions between which the messages would stand; a consumer that attaches later gets it
 * as well, until a message behind it is acknowledged. `loss`: ROUTE_CHANGED, ENTRY_LOST, or CUSTODY_FULL, which comes
 * with how many `messages` are missing; 0: that is unknown. Counts of one place add up, and `first` is kept then. A
 * subscription whose last record of this kind says as much, was not reported and has no message behind it is left
 * unchanged; an unknown number is skipped. Results as those of tm_log_append, TM_NO_MEMORY, TM_MISUSED: nothing is
 * recorded then. */
int tm_durables_unknown(tm_switch *sw, const uint32_t *numbers, size_t count, uint64_t since_ms, uint32_t loss,
                        uint64_t messages);

/* Remove the message at a position from a subscription, as an acknowledgement does, also from what it retains.
 * TM_ABSENT: it has no such message, or the message is at a consumer or waits for its redelivery. */
int tm_durable_purge(tm_switch *sw, uint32_t number, uint64_t n);

/* ---- copies at other homes ---- */

#define TM_DURABLE_RANGE_BYTES 20 /* publisher u64, first counter u64, how many u32; little-endian */

/* Take the numbers of subscriptions with copies in which messages were finished since the last call, at most `room`;
 * return how many there are. */
size_t tm_durables_finished_news(tm_switch *sw, uint32_t *numbers, size_t room);
/* Return ranges of messages that consumers here are done with, from number `*at` on, or from the oldest that is still
 * known, which is then `*at`; at most `room`. TM_OK, TM_ABSENT. */
int tm_durable_finished(tm_switch *sw, uint32_t number, uint64_t *at, uint8_t *out, size_t room, size_t *count);
/* Forget the ranges up to number `upto`: all other homes have them. TM_OK, TM_ABSENT. */
int tm_durable_passed_on(tm_switch *sw, uint32_t number, uint64_t upto);
/* Let the messages leave that consumers at another home are done with, also those that are to come. TM_NO_MEMORY: some
 * did not leave; call this again. TM_ABSENT: there is no such subscription with copies. */
int tm_durable_finish(tm_switch *sw, uint32_t number, const uint8_t *ranges, size_t size);

/* ---- owners ---- */

/* While the log is tight (tm_log_is_tight), treat the subscriptions of an owner that hold more than `bytes` of it as
 * full, each by its own policy. 0, the initial value: shares do not bind. */
int tm_durables_share(tm_switch *sw, uint64_t bytes);
/* Bound what the subscriptions of an owner hold of the log to `bytes`, whether it is tight or not; 0: the common share
 * binds them. What they hold also counts in each of its `pools` (at most TM_DURABLE_POOLS_OF_OWNER_MAX, each once), in
 * place of those before. TM_NO_MEMORY: nothing has changed. TM_ABSENT: the owner never had a subscription. */
int tm_durables_bound(tm_switch *sw, uint32_t owner, uint64_t bytes, const uint32_t *pools, size_t count);
/* Bound what the subscriptions of all owners of a pool hold together; 0: no bound. Results as above. */
int tm_durables_bound_pool(tm_switch *sw, uint32_t pool, uint64_t bytes);
/* Return in `*bytes` what the subscriptions of the owners of a pool hold. TM_ABSENT: there is none. */
int tm_durables_pool_charge(const tm_switch *sw, uint32_t pool, uint64_t *bytes);
/* Return in `*bytes` what the subscriptions of an owner hold of the log: their frames, and 128 bytes for each message.
 * TM_ABSENT: the owner never had a subscription. */
int tm_durables_charge(const tm_switch *sw, uint32_t owner, uint64_t *bytes);

/* ---- seeding a new durable subscription from the log ---- */

/* How far a subscription has taken over messages from the log. Messages that came before `since_us` and those up to
 * number `after` are left out. C uses the other fields, which are zero at first. */
typedef struct tm_durable_start {
    uint64_t since_us;
    uint64_t after;
    uint64_t place;         /* in the memory of the log: records behind it were not on disk at tm_durable_mark */
    uint64_t last;          /* number of the newest message that was taken over */
    const uint8_t *program; /* borrowed: as in tm_log_reach */
} tm_durable_start;

/* A subscription that takes over messages begins without filters. Until tm_durable_join returns TM_OK, repeat:
 *
 *     tm_durable_mark; tm_log_replay with its filters, in a thread that may wait; tm_durable_seed with the records
 * found tm_durable_join once a replay has found all records
 *
 * and call tm_durable_filter at once, before anything else is appended. Each message that is taken over becomes a new
 * record, so positions of the subscription have the order of the messages in the log. */
void tm_durable_mark(tm_switch *sw, tm_durable_start *start);
/* Append some of `records` for the subscription; `*used` is how many of their bytes were appended. TM_OK; TM_LOG_BUSY:
 * call again later with the rest. TM_LOG_FULL: the log, or a subscription that refuses, has no room; TM_LOG_FAILED;
 * TM_NO_MEMORY. */
int tm_durable_seed(tm_switch *sw, uint32_t number, tm_durable_start *start, const uint8_t *records, size_t size,
                    size_t *used);
/* Append the messages that came since tm_durable_mark. TM_OK: the subscription has every message up to now.
 * TM_LOG_BUSY: there were too many: mark, replay and seed again. Other results as those of tm_durable_seed. `wanted` is
 * a table of its filters, which no other thread may use meanwhile. */
int tm_durable_join(tm_switch *sw, uint32_t number, tm_durable_start *start, tm_table *wanted);

/* ---- figures ---- */

typedef struct tm_durable_stats {
    uint64_t appended;  /* messages stored since it was opened, including recovered ones */
    uint64_t open;      /* its depth, of which `out`, `paused` and `ready` are parts */
    uint64_t out;       /* at consumers */
    uint64_t paused;    /* returned, and redelivered after a pause */
    uint64_t ready;     /* returned, and redelivered when a consumer has credit */
    uint64_t past;      /* acknowledged and retained */
    uint64_t bytes;     /* of frames, open and past */
    uint64_t charge;    /* what it holds of the log, as charged to its owner */
    uint64_t oldest;    /* position of the first open message; 0: there is none */
    uint64_t oldest_ms; /* arrival of that message, Unix ms */
    uint64_t acked;
    uint64_t expired; /* this and the following: since the subscription was created */
    uint64_t dropped;
    uint64_t replaced;
    uint64_t dead;
    uint64_t undeliverable;
    uint64_t damaged;       /* the records cannot be read */
    uint64_t skipped;       /* a consumer attached behind the message */
    uint64_t unknowns;      /* unknown ranges: positions that cannot be read, whose messages may have been for the
                             * subscription */
    uint64_t unknown_first; /* first position of all unknown ranges */
    uint64_t unknown_last;  /* last position of all unknown ranges */
    uint64_t refused;       /* messages that found the subscription full */
    uint64_t delivered;     /* this and the following: in this run of the router */
    uint64_t redelivered;   /* of the delivered messages, those delivered again */
    uint64_t consumers;
    uint64_t credit;    /* unused credit of all consumers */
    uint64_t held_back; /* open, and none of the consumers may get them */
} tm_durable_stats;

typedef struct tm_durables_stats {
    uint64_t appended;  /* number of the last record */
    uint64_t committed; /* number of the last record that is on disk */
    uint64_t stored;    /* messages that became records in this run */
    uint64_t acks;      /* records of acknowledged ranges */
    uint64_t confirmed; /* publishes that were confirmed from the disk */
    uint64_t refused;   /* messages refused as LOG_FULL, LOG_FAILED or OVERLOADED */
    uint64_t waits;     /* confirmations and answers that wait for the disk */
    uint64_t cold_reads;
    uint64_t memory_bytes;
    uint64_t commit_us; /* time between append and confirmation of the last confirmed publish */
    uint64_t is_failed;
    uint64_t durables;
    uint64_t consumers;
    uint64_t held;     /* connections whose publishes wait for the disk */
    uint64_t holds;    /* how often the disk fell behind */
    uint64_t ended_ms; /* when the last message of earlier runs of the log arrived, Unix ms; 0: none is known */
} tm_durables_stats;

/* Let a consumer get only messages that a guard (tm_access_api.h) lets pass; the caller keeps the guard while the
 * consumer has it. Messages that no consumer may get are held back, and looked at again now. TM_ABSENT: there is no
 * such consumer; TM_MISUSED: no such connection or guard. */
int tm_durable_guard(tm_switch *sw, uint32_t connection, uint32_t name, uint32_t hand);
/* Look at all messages again that are held back, after guards have changed. */
int tm_durables_look_again(tm_switch *sw);

/* TM_ABSENT: no such subscription. */
int tm_durable_figures(const tm_switch *sw, uint32_t number, tm_durable_stats *out);
int tm_durables_figures(const tm_switch *sw, tm_durables_stats *out);

/* ---- for tests ---- */

/* Check every invariant by walking all structures. TM_MISUSED, and `*reason` (static), if one is broken. */
int tm_durables_validate(const tm_switch *sw, const char **reason);
/* Advance the wall clock, by which messages age and expire, by `wall_ms`; tm_switch_advance advances the steady
 * clock. */
int tm_durables_advance(tm_switch *sw, int64_t wall_ms);
/* Let the n-th allocation from now on fail; 0 turns this off. */
void tm_durables_fail_allocation(tm_switch *sw, uint64_t n);

/* ---- figures of all durable subscriptions ---- */

#define TM_COMMIT_BUCKETS 19
#define TM_COMMIT_BUCKET_LEAST 6

/* Return the sum of tm_durable_figures over all durable subscriptions; `oldest` and `oldest_ms` are those of the oldest
 * message of all. */
int tm_durables_totals(const tm_switch *sw, tm_durable_stats *out);
/* Return how long confirmed publishes waited for the disk. `counts`, TM_COMMIT_BUCKETS of them, has at i those below
 * 2^(i + TM_COMMIT_BUCKET_LEAST) us, the last one all others. `*sum_us` is their total time. */
int tm_durables_commits(const tm_switch *sw, uint64_t *counts, uint64_t *sum_us);
