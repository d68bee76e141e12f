/* state.h - durable subscriptions: the state that the switch keeps of each of them, of its consumers and of the log.
 *
 * Law: a client receives nothing before the record on which it rests is on disk. Positions in arrays (`slot`, `member`,
 * the id of an attempt) are small numbers. The row of a durable subscription never moves; a pointer to any other row is
 * valid until a row is added. A subscription that never had a message takes little memory: its account is allocated
 * with the first message.
 */
#ifndef TM_DURABLE_STATE_H
#define TM_DURABLE_STATE_H

#include "base/idset.h"
#include "durable/custody/chains.h"
#include "durable/custody/homes.h"
#include "durable/tables/attempts.h"
#include "durable/tables/cold.h"
#include "durable/tables/held.h"
#include "durable/tables/incomplete.h"
#include "durable/tables/index.h"
#include "durable/tables/policy.h"
#include "durable/tables/said.h"
#include "durable/tables/times.h"
#include "durable/tables/waits.h"
#include "switch/durable.h"
#include "tm_durables.h"

#define DURABLE_NONE UINT32_MAX
#define CONSUMER_NONE UINT32_MAX
#define DURABLE_CATALOG 0U     /* slot of the catalog */
#define DURABLE_HOMES 0U       /* in a list of those that have a message: all homes that want it */
#define DURABLE_NO_CONSUMER 0U /* owner number of subscriptions that have no owner */
/* Bytes that a stored message is charged beside its frame: its row, the head of its record, its entries in the indexes
 * of the log and its part of a batch. */
#define DURABLE_ROW_CHARGE 128U
/* Bit of a holder number. A subscription that retains acknowledged messages is two holders of the log: a message is
 * open for its plain number while the subscription stores it, and for the number with this bit until it is
 * acknowledged. */
#define DURABLE_UNACKED 0x80000000U
#define DURABLE_LANES 8192U /* for order_by: twice the rows that are examined */
#define DURABLE_ORDER_ROWS 4096U
#define DURABLE_COLD_BYTES (256U << 10)
#define DURABLE_GIVEN_MAX 1024U /* frames of one subscription in one turn */
/* Bytes by which a DELIVER is longer than the stored frame: SATISFIED with one id, LOG_POSITION, DELIVERIES. */
#define DURABLE_DELIVER_BYTES (8U + 12U + 9U)

typedef enum {
    LEFT_ACKED,
    LEFT_EXPIRED,
    LEFT_DROPPED,
    LEFT_REPLACED,
    LEFT_DEAD,
    LEFT_UNDELIVERABLE,
    LEFT_DAMAGED, /* the record cannot be read */
    LEFT_SKIPPED, /* a consumer attached behind the message */
    LEFT_WAYS
} tm_leaving;

/* true if an outcome is a loss, which is counted on disk and reported to consumers. */
static inline bool durable_is_loss(tm_leaving how) {
    return how == LEFT_EXPIRED || how == LEFT_DROPPED || how == LEFT_UNDELIVERABLE || how == LEFT_DAMAGED ||
           how == LEFT_SKIPPED;
}

/* How many messages have left a subscription, by outcome, and the bytes of their frames. On disk it follows the
 * tm_log_done of a record of kind TM_LOG_DEAD_LETTER that the catalog holds, so that the counts and the lost range are
 * one record. Counts of an earlier version have fewer outcomes (counts.c). */
typedef struct tm_durable_counts {
    uint64_t durable; /* number of the subscription */
    uint64_t left[LEFT_WAYS];
    uint64_t bytes[LEFT_WAYS];
    uint64_t unknowns;      /* unknown ranges: missing positions whose messages may have been for the subscription */
    uint64_t unknown_first; /* first position of all unknown ranges */
    uint64_t unknown_last;  /* last position of all unknown ranges */
} tm_durable_counts;

/* Counts that were read from the catalog, where they are record `n`. */
typedef struct tm_catalog_counts {
    tm_durable_counts counts;
    uint64_t n;
} tm_catalog_counts;

/* Dead letters of a subscription that is not open yet and whose counts do not include them, because of a crash. */
typedef struct tm_catalog_dead_letters {
    uint64_t durable; /* number of the subscription */
    uint64_t count;
    uint64_t bytes;
} tm_catalog_dead_letters;

/* Follows the tm_log_done of a dead letter; the reason and then the frame follow it. */
typedef struct tm_dead_letter {
    uint64_t at_ms; /* when the message arrived, Unix time */
    uint32_t deliveries;
    uint32_t reason_size;
} tm_dead_letter;

/* Lost numbers, and the counts after that loss. */
typedef struct tm_durable_loss {
    uint64_t first;
    uint64_t last;
    tm_leaving how;
    tm_durable_counts counts;
} tm_durable_loss;

typedef struct tm_copied tm_copied; /* core/copied.h */

typedef struct tm_consumer {
    uint64_t credit;
    uint64_t sent;
    uint64_t replayed_to; /* past rows behind this position are still to be replayed; UINT64_MAX: none are */
    uint32_t durable;     /* slot; DURABLE_NONE: the row is free */
    uint32_t connection;
    uint32_t id;
    uint32_t hand;     /* guard of the messages that it may get; the one who sets it keeps it */
    bool may_get;      /* whether the row that is being delivered may go to it */
    uint32_t attempts; /* first of the attempts that the consumer has or had last */
    uint32_t next_of_durable;
    uint32_t next_of_connection; /* + 1, as the list in tm_connection */
    uint32_t next_free;
} tm_consumer;

/* An answer that waits until dead letters are written. */
typedef struct tm_durable_answer {
    struct tm_durable_answer *next;
    tm_wait wait;
} tm_durable_answer;

/* What has happened to the messages of a subscription. */
typedef struct tm_durable_account {
    tm_durable_counts counts;
    uint64_t counts_n;        /* position of the counts in the catalog; 0: there are none */
    uint64_t told[LEFT_WAYS]; /* losses that are on disk */
    uint64_t told_unknowns;   /* unknown ranges that are on disk */
    uint64_t delivered;
    uint64_t redelivered;
    uint64_t past_bytes;
    uint64_t looked_to; /* position at which the expiry scan continues; 0: no scan is under way */
    uint64_t again_ms;  /* earliest expiry of the rows that the scan has passed, Unix ms */
    uint64_t again_n;   /* rows from this position on that were held back are looked at again; 0: none are */
    bool has_held;      /* a row may be held back (consumers/hands.h) */
    tm_idset latest;    /* words: positions, by latest_key */
    tm_durable_loss
        *losses; /* owned: losses that are not appended yet; loss_count of the subscription is their number */
    uint32_t loss_capacity;
    tm_copied *copied; /* owned; NULL: there are no copies at other homes, or no message came yet */
} tm_durable_account;

typedef struct tm_durable {
    uint32_t number;
    uint32_t subscriber;  /* SUBSCRIBER_NONE: the row is the catalog */
    uint32_t dead_letter; /* number of the subscription for dead letters; 0: none */
    uint32_t next_free;
    bool is_live;
    bool is_due;                     /* listed in `due` of tm_durables */
    bool is_unwritten;               /* listed in `unwritten` of tm_durables */
    bool is_closing;                 /* deleted, but filters remain */
    bool is_blocked;                 /* the output queue of a consumer is full */
    uint8_t unstored_how;            /* tm_leaving of the messages counted in `unstored` */
    uint8_t unknown_rows;            /* rows that are unknown ranges */
    uint64_t stamp;                  /* `stamp` of tm_durables when the subscription was last collected */
    const tm_durable_policy *policy; /* reference to a row of `policy` of tm_durables; NULL: the row is the catalog */
    tm_durable_account *account;     /* owned; NULL: no message came yet. durable_account accepts either case */
    tm_index index;
    tm_heap ready;
    uint32_t attempt_count;
    uint32_t out;
    uint32_t paused;
    uint32_t dying;
    uint32_t consumers; /* first consumer */
    uint32_t consumer_count;
    uint32_t open;
    uint32_t past;
    uint64_t bytes;
    uint64_t look_ms; /* when to scan for expired messages, Unix ms */
    uint64_t appended;
    uint64_t refused;
    tm_durable_answer *answers; /* owned */
    tm_cold_read *cold;         /* owned; the reading thread has it while is_asked is set */
    uint64_t cold_again_ms;     /* when to read again after the disk could not be read, steady clock */
    uint32_t cold_at;           /* offset of the next record in the bytes of `cold` */
    uint32_t loss_count;        /* losses that are not appended yet */
    uint32_t unstored;          /* messages that found no room: losses that are not in the counts yet */
    uint32_t unstored_bytes;    /* bytes of these messages; the sum saturates */
    uint64_t unknown_n;         /* position of the newest unknown range, if there is one */
    uint32_t owner;             /* DURABLE_NO_CONSUMER: no owner */
} tm_durable;

_Static_assert(sizeof(tm_durable) <= 232, "ten thousand may exist without a message");

/* The storage result of the current message: the first `stored` of `wanted_slots` have stored it, the next `lost` have
 * lost it and are not offered it again, the others turn it away. */
typedef struct tm_durable_lack {
    uint32_t stored;
    uint32_t lost;
    uint32_t had;       /* subscriptions that stored an earlier publish of the message and are not in `wanted_slots` */
    uint32_t homes;     /* that want the message and do not have it from an earlier publish */
    uint32_t full;      /* homes that want it, and have no room for it: it is refused */
    uint32_t full_home; /* slot of one of these */
    bool lacks_homes;   /* these lack it, as the log did not take it */
    int why;            /* result of the log; TM_OK: the subscriptions that lack the message have no room */
} tm_durable_lack;

/* What the subscriptions of one owner, or of the owners of one pool, take of the log. */
typedef struct tm_durable_owner {
    uint64_t charge;    /* bytes of all its subscriptions */
    uint64_t refusing;  /* bytes of those that refuse rather than drop */
    uint64_t seen;      /* scratch of tm_durables_validate */
    uint64_t most;      /* bytes that it may hold; 0: an owner has the common share, a pool no bound */
    uint32_t droppers;  /* number of its subscriptions that drop */
    uint8_t pool_count; /* of a pool: 0 */
    uint32_t pools[TM_DURABLE_POOLS_OF_OWNER_MAX];
} tm_durable_owner;

/* A value of order_by that an earlier row of the scan has, and the consumer of that row. */
typedef struct tm_durable_lane {
    uint64_t key;
    uint64_t stamp;
    uint32_t holder; /* CONSUMER_NONE: the row waits */
} tm_durable_lane;

struct tm_durables {
    tm_memory memory;
    tm_durables_options options;
    tm_log *log; /* borrowed */
    int wakes;   /* owned: an eventfd */
    tm_cold cold;
    tm_durable **rows; /* owned, with every row; the first row is the catalog */
    uint32_t count;
    uint32_t capacity;
    uint32_t free;
    uint32_t live;          /* without the catalog */
    tm_idset numbers;       /* of slots + 1 */
    uint32_t *wanted;       /* owned, two entries for each row: holders of the current message */
    uint32_t *wanted_slots; /* owned, one entry for each row: subscriptions that are to store it */
    uint32_t wanted_count;
    tm_durable_lack lack;
    tm_incompletes incomplete;
    tm_arrivals arrivals;        /* chains of other routers */
    tm_homes homes;              /* chains of this router */
    tm_custody_ids copied_early; /* messages that other homes have finished, and that are to come here */
    tm_copied *copied_news;      /* borrowed: first of those that have finished messages since they were asked */
    uint32_t copied_ranges;      /* of all subscriptions */
    bool is_finishing;           /* what leaves now was finished at another home */
    uint32_t *due;               /* owned, two entries for each row: slots */
    uint32_t due_count;
    uint32_t *unwritten; /* owned, one entry for each row: slots */
    uint32_t unwritten_count;
    tm_consumer *consumers; /* owned */
    uint32_t consumer_count;
    uint32_t consumer_capacity;
    uint32_t consumer_free;
    uint32_t consumer_live;
    tm_all_policy policy;
    tm_durable_owner *owners; /* owned, by number */
    uint32_t owner_capacity;
    tm_durable_owner *pools; /* owned, by number */
    uint32_t pool_capacity;
    uint64_t share_bytes; /* of the log, for each owner; 0: shares do not bind */
    tm_attempts attempts;
    tm_waits waits;
    tm_held_all held;
    tm_held_queue written;  /* of messages in `held`: their records here */
    tm_durable_lane *lanes; /* owned; NULL: no subscription has order_by */
    uint64_t stamp;
    uint8_t *frame; /* owned: the current message in its stored form */
    uint32_t frame_capacity;
    tm_log_done *done; /* owned: acknowledged ranges that are not appended yet */
    uint32_t done_count;
    uint32_t done_capacity;
    uint32_t losses; /* of all subscriptions, not appended yet; a done range may reach over them, so done ranges wait
                      * for them */
    tm_catalog_counts *counts; /* owned: counts from the catalog, for subscriptions that are not open yet */
    uint32_t counts_count;
    uint32_t counts_capacity;
    tm_catalog_dead_letters *dead_letters; /* owned: dead letters from the log for these subscriptions, ascending */
    uint32_t dead_letter_count;
    uint32_t dead_letter_capacity;
    bool has_order;        /* `counts` ascend by subscription and then by `n` */
    uint64_t recovered_to; /* numbers up to it are of earlier runs of the router */
    tm_times times;        /* which number the log had reached at which time */
    uint64_t ended_ms;     /* when the last message of earlier runs arrived, Unix ms; 0: there was none */
    uint64_t last_n;
    uint64_t committed;
    uint32_t hold_at;       /* connection that resumes next */
    uint64_t last_place;    /* place of the last appended record in the memory of the log */
    uint64_t awaited_least; /* lowest number that Python waits for; 0: it waits for none */
    uint64_t awaited_most;
    int64_t wall_ahead_ms;
    uint64_t turn_us; /* start of the current call, steady clock */
    uint64_t turn_ms; /* start of the current call, Unix time: messages of the call have this time */
    bool has_failed;
    bool is_done_forgotten; /* a done range could not be recorded */
    bool is_woken;
    bool is_unflushed;
    tm_durables_stats stats;
    uint64_t commits[TM_COMMIT_BUCKETS];
    uint64_t commits_us;
};

static inline tm_durable *durable_at(const tm_switch *sw, uint32_t slot) {
    return sw->durables->rows[slot];
}
static inline tm_consumer *durable_consumer(const tm_switch *sw, uint32_t consumer) {
    return &sw->durables->consumers[consumer];
}
static inline tm_attempt *durable_attempt(const tm_switch *sw, uint32_t id) {
    return &sw->durables->attempts.rows[id];
}
/* true if a consumer is still to receive past messages, which come before all others. */
static inline bool durable_is_replaying(const tm_consumer *consumer) {
    return consumer->replayed_to != UINT64_MAX;
}
static inline bool durable_stores_past(const tm_durable *durable) {
    return durable->policy->for_ms > 0 || durable->policy->latest_by_size > 0;
}

typedef enum { BODY_FOUND, BODY_LATER, BODY_MISSING } tm_body_result;

typedef struct tm_body {
    const uint8_t *frame; /* borrowed until the next append */
    uint32_t size;
    uint64_t at_ms;
} tm_body;

typedef struct tm_stored_id {
    uint64_t origin;
    uint64_t number;
} tm_stored_id;

/* Return the publisher and the number of the message in a frame; to be read before a record is appended. */
static inline tm_stored_id durable_id_of(const uint8_t *frame) {
    return (tm_stored_id){tm_load64(frame + WIRE_ORIGIN), tm_load64(frame + WIRE_COUNTER)};
}

/* Decode the attributes of a stored frame into room for TM_ATTRIBUTES_MAX of them and return their number. Names and
 * values are borrowed from the frame. */
static inline size_t durable_attributes_of(const uint8_t *frame, tm_attribute *attributes) {
    size_t count = 0;
    size_t used;
    uint32_t extensions = tm_load16(frame + WIRE_EXTENSION_SIZE);
    tm_attributes_decode(frame + WIRE_HEADER_BYTES + extensions, tm_load32(frame + WIRE_ATTRIBUTE_SIZE), attributes,
                         &count, &used);
    return count;
}

#endif
