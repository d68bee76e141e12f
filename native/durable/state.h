/* state.h - durable subscriptions: what the switch knows of each keep, of its members, and of the log.
 *
 * Law: what a client is told waits until the record that says it is on disk. Places in arrays (`slot`, `member`, a try)
 * are small numbers. The row of a keep stays where it is; pointers to other rows hold until something is added. A keep
 * that never had a message takes little memory: what others need beside their rows is its account, made with the first.
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
#define KEEP_BOOK 0U   /* slot */
#define KEEP_NOBODY 0U /* of owners */
/* What a message of a keep is charged beside its frame: its row, the head of its record, its places in the indexes of
 * the log and its part of a batch. */
#define KEEP_ROW_CHARGE 128U
/* Bit of a holder: what a keep that keeps on what is acknowledged has that is not. Such a keep is two holders of
 * the log: a message is open for its number while it is kept, and for this one until it is acknowledged. */
#define KEEP_UNACKED 0x80000000U
#define KEEP_LANES 8192U /* of order_by: twice as many as rows that are looked at */
#define KEEP_ORDER_ROWS 4096U
#define KEEP_COLD_BYTES (256U << 10)
#define KEEP_GIVEN_MAX 1024U /* frames of one keep in one turn */
/* Bytes that a DELIVER has more than what is kept: SATISFIED with one id, LOG_POSITION, DELIVERIES. */
#define KEEP_DELIVER_BYTES (8U + 12U + 9U)

typedef enum {
    LEFT_ACKED,
    LEFT_EXPIRED,
    LEFT_DROPPED,
    LEFT_REPLACED,
    LEFT_DEAD,
    LEFT_UNDELIVERABLE,
    LEFT_DAMAGED, /* its record cannot be read */
    LEFT_SKIPPED, /* somebody attached behind it */
    LEFT_WAYS
} tm_leaving;

/* Is it a loss, which is counted on disk and told? */
static inline bool keep_is_loss(tm_leaving how) {
    return how == LEFT_EXPIRED || how == LEFT_DROPPED || how == LEFT_UNDELIVERABLE || how == LEFT_DAMAGED ||
           how == LEFT_SKIPPED;
}

/* How many have left a keep, by how, and the bytes of their frames; on disk behind the tm_log_done of a record of kind
 * TM_LOG_DEAD_LETTER that is kept for the book: that, and the loss of the range, are one record. A tally of an earlier
 * version has fewer ways (tally.c). */
typedef struct tm_keep_tally {
    uint64_t keep; /* its number */
    uint64_t left[LEFT_WAYS];
    uint64_t bytes[LEFT_WAYS];
    uint64_t doubts;      /* stretches of positions that are missing, of which nobody knows what was for the keep */
    uint64_t doubt_first; /* all of them are from here */
    uint64_t doubt_last;  /* to here */
} tm_keep_tally;

/* One that was read from the book, where it is record `n`. */
typedef struct tm_book_tally {
    tm_keep_tally tally;
    uint64_t n;
} tm_book_tally;

/* Dead letters of a keep that is still to be opened, which its tally does not count: a crash came before that. */
typedef struct tm_book_letters {
    uint64_t keep; /* its number */
    uint64_t count;
    uint64_t bytes;
} tm_book_letters;

/* Behind the tm_log_done of other dead letters; then the reason, then the frame. */
typedef struct tm_keep_letter {
    uint64_t at_ms; /* when the message came */
    uint32_t deliveries;
    uint32_t reason_size;
} tm_keep_letter;

/* Numbers that are lost, and how the tally stands with them. */
typedef struct tm_keep_loss {
    uint64_t first;
    uint64_t last;
    tm_leaving how;
    tm_keep_tally tally;
} tm_keep_loss;

typedef struct tm_member {
    uint64_t credit;
    uint64_t sent;
    uint64_t replayed_to; /* what is past of higher positions is still to be replayed; UINT64_MAX: nothing */
    uint32_t keep;        /* slot; KEEP_NONE: the place is free */
    uint32_t connection;
    uint32_t id;
    uint32_t attempts; /* first of those that it has or had last */
    uint32_t next_of_keep;
    uint32_t next_of_connection; /* as the list in tm_connection: + 1 */
    uint32_t next_free;
} tm_member;

/* An answer that waits for dead letters to be written. */
typedef struct tm_keep_answer {
    struct tm_keep_answer *next;
    tm_wait wait;
} tm_keep_answer;

/* What has become of the messages of a keep. */
typedef struct tm_keep_account {
    tm_keep_tally tally;
    uint64_t tally_n;         /* position in the book; 0: there is none */
    uint64_t told[LEFT_WAYS]; /* losses that are on disk */
    uint64_t told_doubts;     /* the same */
    uint64_t delivered;
    uint64_t redelivered;
    uint64_t past_bytes;
    uint64_t looked_to;   /* position from which on it is being looked for messages that are over; 0: it is not */
    uint64_t again_ms;    /* when one of those before it is over, by Unix time */
    tm_idset latest;      /* words: positions, by latest_key */
    tm_keep_loss *losses; /* owned: not appended yet; loss_count of the keep says how many */
    uint32_t loss_capacity;
} tm_keep_account;

typedef struct tm_keep {
    uint32_t number;
    uint32_t subscriber;  /* SUBSCRIBER_NONE: it is the book */
    uint32_t dead_letter; /* number; 0: none */
    uint32_t next_free;
    bool is_live;
    bool is_due;                /* it is in the list of those that have something to do */
    bool is_unwritten;          /* it is in the list of those that have messages on their way to the disk */
    bool is_closing;            /* forgotten; filters are left */
    bool is_blocked;            /* the queue of a member is full */
    uint8_t unstored_how;       /* tm_leaving of what is unstored */
    uint8_t doubt_rows;         /* rows that are doubts */
    uint64_t stamp;             /* of the last message that it wants */
    const tm_keep_terms *terms; /* held, of `terms` below; NULL: it is the book, which has none */
    tm_keep_account *account;   /* owned; NULL: no message came yet. keep_account reads it in either case */
    tm_index index;
    tm_heap ready;
    uint32_t attempt_count;
    uint32_t out;
    uint32_t paused;
    uint32_t dying;
    uint32_t members; /* first */
    uint32_t member_count;
    uint32_t open;
    uint32_t past;
    uint64_t bytes;
    uint64_t look_ms; /* when to look for messages that are over, by Unix time */
    uint64_t appended;
    uint64_t refused;
    tm_keep_answer *answers; /* owned */
    tm_cold_read *cold;      /* owned, or lent to the thread */
    uint64_t cold_again_ms;  /* after the disk could not be read */
    uint32_t cold_at;        /* where in the bytes of `cold` the next record is */
    uint32_t loss_count;     /* losses that are not appended yet */
    uint32_t unstored;       /* messages that it wanted and had no room for: losses that are not in its tally yet */
    uint32_t unstored_bytes; /* of them; at its end it stays there */
    uint64_t doubt_n;        /* position of the newest doubt, if there is one */
    uint32_t owner;          /* KEEP_NOBODY: it has none */
} tm_keep;

_Static_assert(sizeof(tm_keep) <= 232, "there may be ten thousand that wait for their first message");

/* Of the message at hand: of the keeps in `wanted_slots`, the first `stored` have it, and the others lack it. */
typedef struct tm_keep_lack {
    uint32_t stored;
    uint32_t had; /* keeps that have it of an earlier try, and are not in `wanted_slots` */
    int why;      /* the result of the log; TM_OK: keeps that lack it have no room */
} tm_keep_lack;

/* Who made keeps. */
typedef struct tm_keep_owner {
    uint64_t charge;   /* bytes that all its keeps hold of the log */
    uint64_t refusing; /* of these, those that do not drop */
    uint64_t seen;     /* by tm_keeps_validate */
    uint32_t droppers; /* its keeps that drop */
} tm_keep_owner;

/* A value of order_by that stands in front, and who has that message. */
typedef struct tm_keep_lane {
    uint64_t key;
    uint64_t stamp;
    uint32_t holder; /* MEMBER_NONE: it waits */
} tm_keep_lane;

struct tm_keeps {
    tm_memory memory;
    tm_keeps_options options;
    tm_log *log; /* borrowed */
    int wakes;   /* owned: an eventfd */
    tm_cold cold;
    tm_keep **rows; /* owned, as each of them is; the first one is the book */
    uint32_t count;
    uint32_t capacity;
    uint32_t free;
    uint32_t live;          /* without the book */
    tm_idset numbers;       /* of slots + 1 */
    uint32_t *wanted;       /* owned, room for twice as many as there are: holders of the message at hand */
    uint32_t *wanted_slots; /* owned, room for all: keeps that it is to be stored for */
    uint32_t wanted_count;
    tm_keep_lack lack;
    tm_incompletes incomplete;
    uint32_t *due; /* owned, room for all: slots */
    uint32_t due_count;
    uint32_t *unwritten; /* owned, room for all: slots */
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
    tm_keep_lane *lanes; /* owned; NULL: no keep has order_by */
    uint64_t stamp;
    uint8_t *frame; /* owned: the message at hand as it is kept */
    uint32_t frame_capacity;
    tm_log_done *done; /* owned: acknowledged, and not appended yet */
    uint32_t done_count;
    uint32_t done_capacity;
    uint32_t losses; /* of all keeps, not appended yet: a range of what is done may reach over them, so it waits */
    tm_book_tally *tallies; /* owned: from the book, for keeps that are to be opened */
    uint32_t tally_count;
    uint32_t tally_capacity;
    tm_book_letters *letters; /* owned: from the log, the same, ascending */
    uint32_t letter_count;
    uint32_t letter_capacity;
    bool has_order;        /* they ascend by keep, and those of one keep by `n` */
    uint64_t recovered_to; /* numbers up to it are of earlier lives */
    tm_times times;        /* which number the log had reached at which time */
    uint64_t ended_ms;     /* when the last message of earlier lives came; 0: none did */
    uint64_t last_n;
    uint64_t committed;
    uint32_t hold_at;       /* connection that goes on next */
    uint64_t last_place;    /* in the memory of the log: of the record that was appended last */
    uint64_t awaited_least; /* number that is to be told when it is on disk; 0: nobody waits */
    uint64_t awaited_most;
    int64_t wall_ahead_ms;
    uint64_t turn_us; /* when the call at hand began, by the steady clock */
    uint64_t turn_ms; /* and by Unix time: messages that come in it have this time */
    bool has_failed;
    bool is_done_forgotten; /* something that was done with could not be noted */
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
/* It gets what is past before anything else. */
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

/* Who published the message of a frame, and its number; to be read before a record is appended. */
static inline tm_kept_id keep_id_of(const uint8_t *frame) {
    return (tm_kept_id){tm_load64(frame + WIRE_ORIGIN), tm_load64(frame + WIRE_COUNTER)};
}

/* Decode the attributes of a frame that is kept into room for TM_ATTRIBUTES_MAX of them, and return how many there are.
 * Their names and values stay the frame's. */
static inline size_t keep_attributes_of(const uint8_t *frame, tm_attribute *attributes) {
    size_t count = 0;
    size_t used;
    uint32_t extensions = tm_load16(frame + WIRE_EXTENSION_SIZE);
    tm_attributes_decode(frame + WIRE_HEADER_BYTES + extensions, tm_load32(frame + WIRE_ATTRIBUTE_SIZE), attributes,
                         &count, &used);
    return count;
}

#endif
