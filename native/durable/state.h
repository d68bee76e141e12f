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
#include "durable/tables/attempts.h"
#include "durable/tables/cold.h"
#include "durable/tables/incomplete.h"
#include "durable/tables/index.h"
#include "durable/tables/said.h"
#include "durable/tables/terms.h"
#include "durable/tables/times.h"
#include "durable/tables/waits.h"
#include "switch/durable.h"
#include "tm_keeps.h"

#define KEEP_NONE UINT32_MAX
#define MEMBER_NONE UINT32_MAX
#define KEEP_BOOK 0U   /* slot of the catalog */
#define KEEP_NOBODY 0U /* owner number of subscriptions that have no owner */
/* Bytes that a stored message is charged beside its frame: its row, the head of its record, its entries in the indexes
 * of the log and its part of a batch. */
#define KEEP_ROW_CHARGE 128U
/* Bit of a holder number. A subscription that retains acknowledged messages is two holders of the log: a message is
 * open for its plain number while the subscription stores it, and for the number with this bit until it is
 * acknowledged. */
#define KEEP_UNACKED 0x80000000U
#define KEEP_LANES 8192U /* for order_by: twice the rows that are examined */
#define KEEP_ORDER_ROWS 4096U
#define KEEP_COLD_BYTES (256U << 10)
#define KEEP_GIVEN_MAX 1024U /* frames of one subscription in one turn */
/* Bytes by which a DELIVER is longer than the stored frame: SATISFIED with one id, LOG_POSITION, DELIVERIES. */
#define KEEP_DELIVER_BYTES (8U + 12U + 9U)

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
static inline bool keep_is_loss(tm_leaving how) {
    return how == LEFT_EXPIRED || how == LEFT_DROPPED || how == LEFT_UNDELIVERABLE || how == LEFT_DAMAGED ||
           how == LEFT_SKIPPED;
}

/* How many messages have left a subscription, by outcome, and the bytes of their frames. On disk it follows the
 * tm_log_done of a record of kind TM_LOG_DEAD_LETTER that the catalog holds, so that the counts and the lost range are
 * one record. Counts of an earlier version have fewer outcomes (tally.c). */
typedef struct tm_keep_tally {
    uint64_t keep; /* number of the subscription */
    uint64_t left[LEFT_WAYS];
    uint64_t bytes[LEFT_WAYS];
    uint64_t doubts;      /* unknown ranges: missing positions whose messages may have been for the subscription */
    uint64_t doubt_first; /* first position of all unknown ranges */
    uint64_t doubt_last;  /* last position of all unknown ranges */
} tm_keep_tally;

/* Counts that were read from the catalog, where they are record `n`. */
typedef struct tm_book_tally {
    tm_keep_tally tally;
    uint64_t n;
} tm_book_tally;

/* Dead letters of a subscription that is not open yet and whose counts do not include them, because of a crash. */
typedef struct tm_book_letters {
    uint64_t keep; /* number of the subscription */
    uint64_t count;
    uint64_t bytes;
} tm_book_letters;

/* Follows the tm_log_done of a dead letter; the reason and then the frame follow it. */
typedef struct tm_keep_letter {
    uint64_t at_ms; /* when the message arrived, Unix time */
    uint32_t deliveries;
    uint32_t reason_size;
} tm_keep_letter;

/* Lost numbers, and the counts after that loss. */
typedef struct tm_keep_loss {
    uint64_t first;
    uint64_t last;
    tm_leaving how;
    tm_keep_tally tally;
} tm_keep_loss;

typedef struct tm_member {
    uint64_t credit;
    uint64_t sent;
    uint64_t replayed_to; /* past rows behind this position are still to be replayed; UINT64_MAX: none are */
    uint32_t keep;        /* slot; KEEP_NONE: the row is free */
    uint32_t connection;
    uint32_t id;
    uint32_t attempts; /* first of the attempts that the consumer has or had last */
    uint32_t next_of_keep;
    uint32_t next_of_connection; /* + 1, as the list in tm_connection */
    uint32_t next_free;
} tm_member;

/* An answer that waits until dead letters are written. */
typedef struct tm_keep_answer {
    struct tm_keep_answer *next;
    tm_wait wait;
} tm_keep_answer;

/* What has happened to the messages of a subscription. */
typedef struct tm_keep_account {
    tm_keep_tally tally;
    uint64_t tally_n;         /* position of the counts in the catalog; 0: there are none */
    uint64_t told[LEFT_WAYS]; /* losses that are on disk */
    uint64_t told_doubts;     /* unknown ranges that are on disk */
    uint64_t delivered;
    uint64_t redelivered;
    uint64_t past_bytes;
    uint64_t looked_to;   /* position at which the expiry scan continues; 0: no scan is under way */
    uint64_t again_ms;    /* earliest expiry of the rows that the scan has passed, Unix ms */
    tm_idset latest;      /* words: positions, by latest_key */
    tm_keep_loss *losses; /* owned: losses that are not appended yet; loss_count of the subscription is their number */
    uint32_t loss_capacity;
} tm_keep_account;

typedef struct tm_keep {
    uint32_t number;
    uint32_t subscriber;  /* SUBSCRIBER_NONE: the row is the catalog */
    uint32_t dead_letter; /* number of the subscription for dead letters; 0: none */
    uint32_t next_free;
    bool is_live;
    bool is_due;                /* listed in `due` of tm_keeps */
    bool is_unwritten;          /* listed in `unwritten` of tm_keeps */
    bool is_closing;            /* deleted, but filters remain */
    bool is_blocked;            /* the output queue of a consumer is full */
    uint8_t unstored_how;       /* tm_leaving of the messages counted in `unstored` */
    uint8_t doubt_rows;         /* rows that are unknown ranges */
    uint64_t stamp;             /* `stamp` of tm_keeps when the subscription was last collected */
    const tm_keep_terms *terms; /* reference to a row of `terms` of tm_keeps; NULL: the row is the catalog */
    tm_keep_account *account;   /* owned; NULL: no message came yet. keep_account accepts either case */
    tm_index index;
    tm_heap ready;
    uint32_t attempt_count;
    uint32_t out;
    uint32_t paused;
    uint32_t dying;
    uint32_t members; /* first consumer */
    uint32_t member_count;
    uint32_t open;
    uint32_t past;
    uint64_t bytes;
    uint64_t look_ms; /* when to scan for expired messages, Unix ms */
    uint64_t appended;
    uint64_t refused;
    tm_keep_answer *answers; /* owned */
    tm_cold_read *cold;      /* owned; the reading thread has it while is_asked is set */
    uint64_t cold_again_ms;  /* when to read again after the disk could not be read, steady clock */
    uint32_t cold_at;        /* offset of the next record in the bytes of `cold` */
    uint32_t loss_count;     /* losses that are not appended yet */
    uint32_t unstored;       /* messages that found no room: losses that are not in the counts yet */
    uint32_t unstored_bytes; /* bytes of these messages; the sum saturates */
    uint64_t doubt_n;        /* position of the newest unknown range, if there is one */
    uint32_t owner;          /* KEEP_NOBODY: no owner */
} tm_keep;

_Static_assert(sizeof(tm_keep) <= 232, "there may be ten thousand that wait for their first message");

/* The storage result of the current message: the first `stored` of `wanted_slots` have stored it, the others have
 * not. */
typedef struct tm_keep_lack {
    uint32_t stored;
    uint32_t had; /* subscriptions that stored an earlier publish of the message and are not in `wanted_slots` */
    int why;      /* result of the log; TM_OK: the subscriptions that lack the message have no room */
} tm_keep_lack;

/* What the subscriptions of one owner take of the log. */
typedef struct tm_keep_owner {
    uint64_t charge;   /* bytes of all its subscriptions */
    uint64_t refusing; /* bytes of those that refuse rather than drop */
    uint64_t seen;     /* scratch of tm_keeps_validate */
    uint32_t droppers; /* number of its subscriptions that drop */
} tm_keep_owner;

/* A value of order_by that an earlier row of the scan has, and the consumer of that row. */
typedef struct tm_keep_lane {
    uint64_t key;
    uint64_t stamp;
    uint32_t holder; /* MEMBER_NONE: the row waits */
} tm_keep_lane;

struct tm_keeps {
    tm_memory memory;
    tm_keeps_options options;
    tm_log *log; /* borrowed */
    int wakes;   /* owned: an eventfd */
    tm_cold cold;
    tm_keep **rows; /* owned, with every row; the first row is the catalog */
    uint32_t count;
    uint32_t capacity;
    uint32_t free;
    uint32_t live;          /* without the catalog */
    tm_idset numbers;       /* of slots + 1 */
    uint32_t *wanted;       /* owned, two entries for each row: holders of the current message */
    uint32_t *wanted_slots; /* owned, one entry for each row: subscriptions that are to store it */
    uint32_t wanted_count;
    tm_keep_lack lack;
    tm_incompletes incomplete;
    uint32_t *due; /* owned, two entries for each row: slots */
    uint32_t due_count;
    uint32_t *unwritten; /* owned, one entry for each row: slots */
    uint32_t unwritten_count;
    tm_member *members; /* owned */
    uint32_t member_count;
    uint32_t member_capacity;
    uint32_t member_free;
    uint32_t member_live;
    tm_all_terms terms;
    tm_keep_owner *owners; /* owned, by number */
    uint32_t owner_capacity;
    uint64_t share_bytes; /* of the log, for each owner; 0: shares do not bind */
    tm_attempts attempts;
    tm_waits waits;
    tm_keep_lane *lanes; /* owned; NULL: no subscription has order_by */
    uint64_t stamp;
    uint8_t *frame; /* owned: the current message in its stored form */
    uint32_t frame_capacity;
    tm_log_done *done; /* owned: acknowledged ranges that are not appended yet */
    uint32_t done_count;
    uint32_t done_capacity;
    uint32_t losses; /* of all subscriptions, not appended yet; a done range may reach over them, so done ranges wait
                      * for them */
    tm_book_tally *tallies; /* owned: counts from the catalog, for subscriptions that are not open yet */
    uint32_t tally_count;
    uint32_t tally_capacity;
    tm_book_letters *letters; /* owned: dead letters from the log for these subscriptions, ascending */
    uint32_t letter_count;
    uint32_t letter_capacity;
    bool has_order;        /* `tallies` ascend by subscription and then by `n` */
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
    tm_keeps_stats stats;
    uint64_t commits[TM_COMMIT_BUCKETS];
    uint64_t commits_us;
};

static inline tm_keep *keep_at(const tm_switch *sw, uint32_t slot) {
    return sw->keeps->rows[slot];
}
static inline tm_member *keep_member(const tm_switch *sw, uint32_t member) {
    return &sw->keeps->members[member];
}
static inline tm_attempt *keep_attempt(const tm_switch *sw, uint32_t id) {
    return &sw->keeps->attempts.rows[id];
}
/* true if a consumer is still to receive past messages, which come before all others. */
static inline bool keep_is_replaying(const tm_member *member) {
    return member->replayed_to != UINT64_MAX;
}
static inline bool keep_keeps_past(const tm_keep *keep) {
    return keep->terms->for_ms > 0 || keep->terms->latest_by_size > 0;
}

typedef enum { BODY_FOUND, BODY_LATER, BODY_MISSING } tm_body_result;

typedef struct tm_body {
    const uint8_t *frame; /* borrowed until the next append */
    uint32_t size;
    uint64_t at_ms;
} tm_body;

typedef struct tm_kept_id {
    uint64_t origin;
    uint64_t number;
} tm_kept_id;

/* Return the publisher and the number of the message in a frame; to be read before a record is appended. */
static inline tm_kept_id keep_id_of(const uint8_t *frame) {
    return (tm_kept_id){tm_load64(frame + WIRE_ORIGIN), tm_load64(frame + WIRE_COUNTER)};
}

/* Decode the attributes of a stored frame into room for TM_ATTRIBUTES_MAX of them and return their number. Names and
 * values are borrowed from the frame. */
static inline size_t keep_attributes_of(const uint8_t *frame, tm_attribute *attributes) {
    size_t count = 0;
    size_t used;
    uint32_t extensions = tm_load16(frame + WIRE_EXTENSION_SIZE);
    tm_attributes_decode(frame + WIRE_HEADER_BYTES + extensions, tm_load32(frame + WIRE_ATTRIBUTE_SIZE), attributes,
                         &count, &used);
    return count;
}

#endif
