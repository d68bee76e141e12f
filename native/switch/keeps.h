/* keeps.h - kept subscriptions: what the switch knows of each keep, of its members, and of the log.
 *
 *     keeps.c         a switch gets its log; the book; keeps by number
 *     keep_life.c     a keep is opened, gets its filters and its messages, is forgotten
 *     keep_fill.c     a keep is filled from the log
 *     keep_tally.c    what has left a keep, as the log says
 *     keep_start.c    a new keep takes over what is in the log
 *     keep_tail.c     identities of the last messages, after a start
 *     keep_store.c    a message becomes a record
 *     keep_lack.c     a keep has no room for it
 *     keep_hold.c     publishers wait while the disk is behind
 *     keep_turn.c     what is on disk now, and what that lets happen; what time brings
 *     keep_members.c  attachments
 *     keep_frames.c   ACK and CREDIT frames of members
 *     keep_answers.c  answers to ACKs
 *     keep_give.c     who gets which message
 *     keep_bodies.c   the frame of a message, from the memory of the log or from its files
 *     keep_leave.c    a message leaves: acknowledged, lost, dead
 *     keep_damage.c   what the damage of a log may have taken
 *     keep_elsewhere.c what may be missing of messages that entered elsewhere
 *     keep_bounds.c   what has to leave by the terms of a keep
 *     keep_owners.c   what the keeps of each owner hold of the log
 *     keep_record.c   what becomes of a message, into the records
 *     keep_figures.c  counters for people, and every invariant
 *
 * Law: what a client is told waits until the record that says it is on disk. Places in arrays (`slot`, `member`, a try)
 * are small numbers. The row of a keep stays where it is; pointers to other rows hold until something is added. A keep
 * that never had a message takes little memory: what others need beside their rows is its account, made with the first.
 */
#ifndef TM_SWITCH_KEEPS_H
#define TM_SWITCH_KEEPS_H

#include "base/idset.h"
#include "keeps/cold.h"
#include "keeps/incomplete.h"
#include "keeps/index.h"
#include "keeps/said.h"
#include "keeps/terms.h"
#include "keeps/times.h"
#include "keeps/tries.h"
#include "keeps/waits.h"
#include "switch/message.h"
#include "tm_keeps.h"

#define KEEP_NONE UINT32_MAX
#define MEMBER_NONE UINT32_MAX
#define KEEP_BOOK 0U   /* slot */
#define KEEP_NOBODY 0U /* of owners */
/* What a message of a keep is charged beside its frame: its row, the head of its record, its places in the indexes of
 * the log and its part of a batch. */
#define KEEP_ROW_CHARGE 128U
/* Bit of a claimant: what a keep that keeps on what is acknowledged has that is not. Such a keep is two claimants of
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
 * version has fewer ways (keep_tally.c). */
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
    uint32_t tries; /* first of those that it has or had last */
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
    uint32_t try_count;
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
    uint32_t *wanted;       /* owned, room for twice as many as there are: claimants of the message at hand */
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
    tm_tries tries;
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
/* It gets what is past before anything else. */
static inline bool keep_is_replaying(const tm_member *member) {
    return member->replayed_to != UINT64_MAX;
}
static inline bool keep_keeps_past(const tm_keep *keep) {
    return keep->terms->for_ms > 0 || keep->terms->latest_by_size > 0;
}

/* ---- keeps.c ---- */

/* The account of a keep; of one that has none, zeros. */
const tm_keep_account *keep_account(const tm_keep *keep);
/* Let it have one; false: no memory. */
bool keep_open_account(tm_switch *sw, tm_keep *keep);
/* The slot of a keep; KEEP_NONE: there is none. */
uint32_t keep_slot(const tm_switch *sw, uint32_t number);
/* Unix time in milliseconds. */
uint64_t keep_wall_ms(const tm_switch *sw);
/* Append a record and note its number and its place: the results of tm_log_append. */
int keep_append(tm_switch *sw, const tm_log_entry *entry, uint64_t *n);
/* Append a record for the book; `done` may be in its body. */
int keep_append_book(tm_switch *sw, uint32_t kind, const void *body, uint32_t size, uint64_t *n);
/* KEEP_NONE: no memory. */
uint32_t keep_new_slot(tm_switch *sw, uint32_t number);
void keep_free_slot(tm_switch *sw, uint32_t slot);
bool keep_numbers_are_sound(const tm_switch *sw);
/* A record of the book is done with, if it is there. */
void keep_retire_book(tm_switch *sw, uint64_t n);
/* It has something to do in the next turn. */
void keep_make_due(tm_switch *sw, uint32_t slot);
/* It has messages that are not on disk yet. */
void keep_make_unwritten(tm_switch *sw, uint32_t slot);
void keep_wake(tm_switch *sw);

/* ---- keep_life.c ---- */

/* Give back what a keep owns. */
void keep_clear(tm_switch *sw, tm_keep *keep);
/* A row for a message whose frame is given, and its keys; it is not in the index yet. */
tm_kept keep_row(const tm_switch *sw, const tm_keep *keep, uint64_t n, uint64_t at_ms, const uint8_t *frame,
                 uint32_t size, tm_kept_keys *keys);
/* Room for one more row; NULL: it is for no message. false: no memory. */
bool keep_reserve(tm_switch *sw, tm_keep *keep, const uint8_t *frame);
/* ... for a row that has keys or none. */
bool keep_reserve_row(tm_switch *sw, tm_keep *keep, bool has_keys);
/* After keep_reserve. */
void keep_put(tm_switch *sw, uint32_t slot, const tm_kept *row, const tm_kept_keys *keys);
/* The row of a position leaves, and is not the newest of its value any more. */
void keep_forget_latest(tm_keep *keep, const tm_kept *row);

/* ---- keep_fill.c ---- */

/* Read all that the log has for a keep, or for the book. */
int keep_fill(tm_switch *sw, uint32_t slot);

/* ---- keep_tally.c ---- */

/* Note what a record of the book says, if it is a tally: for a keep that is still to be opened. false: no memory. */
bool keep_note_tally(tm_switch *sw, const tm_log_record *record, const uint8_t *body);
/* A keep is opened, and takes the newest tally that there is. false: no memory. */
bool keep_take_tally(tm_switch *sw, tm_keep *keep);
/* A start finds a dead letter in the keep that got it: the one that it left counts it, if its tally does not. false: no
 * memory. */
bool keep_fold_letter(tm_switch *sw, const tm_log_record *record, const uint8_t *body, uint32_t size);

/* ---- keep_tail.c ---- */

/* Read the end of the log; TM_OK or TM_NO_MEMORY. */
int keep_read_tail(tm_switch *sw);

/* ---- keep_lack.c ---- */

/* NULL: no keep is known to lack it. Borrowed until the next one is noted. */
const tm_incomplete *keep_find_incomplete(const tm_switch *sw, const parts *message);
/* A keep lacks a message, and these have it, beside those that were noted before. */
void keep_note_incomplete(tm_switch *sw, tm_message_name name, const uint32_t *numbers, uint32_t count);
/* The message at hand was stored where there was room: remember who lacks it, or that nobody does. */
void keep_take_lack(tm_switch *sw, const parts *message);

/* ---- keep_hold.c ---- */

/* Something was appended: is the disk behind? */
void keep_note_load(tm_switch *sw);

/* ---- keep_answers.c ---- */

/* What an ACK of a connection says is noted for keep `slot`: answer it when all of that is on disk. The connection ends
 * where too many of its answers wait. */
void keep_promise(tm_switch *sw, uint32_t connection, uint32_t slot, const uint8_t *frame, const tm_said_ack *said);
/* An answer that has waited for dead letters waits for the disk from now on. */
void keep_release_answers(tm_switch *sw, tm_keep *keep);
/* What is said is on disk (`is_written`), or will never be: answer so, where the connection is still there. Frees the
 * answer. */
void keep_end_answer(tm_switch *sw, const tm_wait *wait, bool is_written);
/* The keep goes, and nobody is answered. */
void keep_drop_answers(tm_switch *sw, tm_keep *keep);

/* ---- keep_members.c ---- */

/* The attachment of a connection by its id; MEMBER_NONE: it has none. */
uint32_t keep_member_of(const tm_switch *sw, uint32_t connection, uint32_t id);
void keep_detach(tm_switch *sw, uint32_t member);
/* Tell a member what its keep has lost in all, by one way. */
void keep_tell_lost(tm_switch *sw, uint32_t member, tm_leaving how);

/* ---- keep_bodies.c ---- */

typedef enum { BODY_FOUND, BODY_LATER, BODY_MISSING } tm_body_result;

typedef struct tm_body {
    const uint8_t *frame; /* borrowed until the next append */
    uint32_t size;
    uint64_t at_ms;
} tm_body;

/* The frame that a record of kind message or dead letter holds; false: it holds none. */
bool keep_frame_of(const tm_log_record *record, tm_body *body);
/* The frame of a row; LATER: it is being read, and the keep becomes due then. */
tm_body_result keep_body(tm_switch *sw, uint32_t slot, tm_kept *row, tm_body *body);
/* Reads that are done come back to their keeps. */
void keep_collect_cold(tm_switch *sw);
void keep_drop_cold(tm_switch *sw, tm_keep *keep);

/* ---- keep_give.c ---- */

void keep_hand_out(tm_switch *sw, uint32_t slot);
/* What a member has comes back; `delay_ms` 0: by the terms. It may go to the dead letters for it. */
void keep_take_back(tm_switch *sw, uint32_t slot, tm_kept *row, uint32_t delay_ms, const uint8_t *reason,
                    uint32_t reason_size);
/* One more attempt with a row that is out has failed; true: it was the last, and the row goes to the dead letters. */
bool keep_fail(tm_switch *sw, uint32_t slot, tm_kept *row, const uint8_t *reason, uint32_t reason_size);
/* A try that is out or paused is ready. */
void keep_make_ready(tm_switch *sw, uint32_t slot, uint32_t id);
/* A try is no longer its holder's. */
void keep_unhold(tm_switch *sw, uint32_t id);

/* ---- keep_leave.c ---- */

/* The row at a place of the index leaves, and is no loss. */
void keep_leave(tm_switch *sw, uint32_t slot, uint32_t at, tm_leaving how);
/* Room to note one more loss; false: no memory. */
bool keep_reserve_loss(tm_switch *sw, tm_keep *keep);
/* Have the tally written as it is, with no range; after keep_reserve_loss. It is not told. */
void keep_note_tally_due(tm_switch *sw, tm_keep *keep);
/* It is lost; false: no memory to note it, and it stays. */
bool keep_lose(tm_switch *sw, uint32_t slot, uint32_t at, tm_leaving how);
/* A message that the keep wants could not be stored for it: it has no position. This needs no memory; what was lost is
 * written once a tick at most, so that a full log is not filled by it, and a crash takes back what was not. */
void keep_lose_unstored(tm_switch *sw, uint32_t slot, uint32_t size, tm_leaving how);
/* It is open, and the owner has passed over it: as keep_lose, but it is kept on where what is acknowledged is. */
bool keep_skip(tm_switch *sw, uint32_t slot, uint32_t at);
/* It goes to the dead letters, or is lost: as soon as its frame is there. */
void keep_kill(tm_switch *sw, uint32_t slot, tm_kept *row, const uint8_t *reason, uint32_t size);
/* Write the letters whose frames are there; false: some wait. */
bool keep_write_letters(tm_switch *sw, uint32_t slot);
/* Room to note one more range that is done with; false: no memory, or too many wait for the log. */
bool keep_reserve_done(tm_switch *sw);
/* A claimant is done with numbers, to be appended; without room for them they come again after a start. */
void keep_note_done(tm_switch *sw, uint32_t claimant, uint64_t first, uint64_t last);
/* Append what is done with, and what is lost. */
void keep_flush_done(tm_switch *sw);
void keep_flush_losses(tm_switch *sw, uint32_t slot);

/* ---- keep_damage.c ---- */

/* Note what may have been lost of records past `since`; the keep has its rows. TM_OK or TM_NO_MEMORY. */
int keep_doubt(tm_switch *sw, uint32_t slot, uint64_t since);

/* ---- keep_elsewhere.c ---- */

/* The doubt at a place of the index leaves. */
void keep_drop_doubt(tm_switch *sw, uint32_t slot, uint32_t at);
/* The message at a place is acknowledged, and with it the doubt in front of it, if members were told. */
void keep_pass_doubt(tm_switch *sw, uint32_t slot, uint32_t at);
/* The turn of the doubt at a place has come: tell all members. false: no memory, again later. */
bool keep_tell_doubt(tm_switch *sw, uint32_t slot, uint32_t at);
/* Tell a member that comes of the doubts that others were told. false: no memory. */
bool keep_tell_doubts(tm_switch *sw, uint32_t member);
/* A doubt of the log is the keep's: TM_OK or TM_NO_MEMORY. */
int keep_fill_doubt(tm_switch *sw, uint32_t slot, const tm_log_record *record);

/* ---- keep_bounds.c ---- */

/* Is there room for a frame of `size` bytes in a keep that refuses, and in the share of its owner? */
bool keep_has_room(const tm_switch *sw, const tm_keep *keep, uint32_t size);
/* Is there in the keep, for one that another keep of its owner lets go? */
bool keep_has_room_of_own(const tm_keep *keep, uint32_t size);
/* ... by its terms, or by the share of its owner. */
bool keep_is_past_bounds(const tm_switch *sw, const tm_keep *keep);
/* Has its time, or that of its keep, run out? */
bool keep_is_over(const tm_switch *sw, const tm_keep *keep, const tm_kept *row);
/* A message that came is over at `end_ms`, by Unix time; UINT64_MAX: never. */
void keep_note_end(const tm_switch *sw, tm_keep *keep, uint64_t end_ms);
void keep_hold_to_terms(tm_switch *sw, uint32_t slot);

/* ---- keep_owners.c ---- */

/* Room for those that have no owner; false: no memory. */
bool keep_make_owners(tm_switch *sw);
/* What a keep holds of the log, as its owner is charged. */
uint64_t keep_charge_of(const tm_keep *keep);
/* Messages of so many bytes together have come into a keep; or have left it. */
void keep_charge(tm_switch *sw, const tm_keep *keep, uint64_t rows, uint64_t bytes);
void keep_discharge(tm_switch *sw, const tm_keep *keep, uint64_t rows, uint64_t bytes);
/* A keep has no owner any more. */
void keep_disown(tm_switch *sw, tm_keep *keep);
/* ... and nothing. */
void keep_end_charge(tm_switch *sw, tm_keep *keep);
/* May a keep get a frame of `size` bytes as far as its owner's share goes, once what it has past gives way? */
bool keep_share_has_room(const tm_switch *sw, const tm_keep *keep, uint32_t size);
/* Is its owner past its share, so that this keep gives way if it can? */
bool keep_is_past_share(const tm_switch *sw, const tm_keep *keep);
bool keep_owners_are_sound(const tm_switch *sw);

/* ---- keep_record.c ---- */

/* Is what becomes of the message of a frame noted? */
bool keep_is_recorded(const tm_switch *sw, const uint8_t *frame);
/* ... and of every message, so that of one whose frame cannot be read, too? */
bool keep_are_all_recorded(const tm_switch *sw);
/* ... of some, so that it takes the frame to say of which? */
bool keep_are_some_recorded(const tm_switch *sw);

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

/* A keep has a message; the row has its position. */
void keep_record_kept(tm_switch *sw, const tm_keep *keep, const tm_kept *row, const tm_kept_keys *keys, tm_kept_id id,
                      tm_kept_source source);
/* It was written to a member; `deliveries` 0: replayed. */
void keep_record_given(tm_switch *sw, const tm_member *member, const tm_kept *row, tm_kept_id id, uint32_t deliveries,
                       bool maybe_duplicate);
/* It is about to leave; its try and the tally are those from before. */
void keep_record_left(tm_switch *sw, const tm_keep *keep, const tm_kept *row, tm_leaving how);
/* A member is told what its keep has lost in all, by one way. */
void keep_record_told(tm_switch *sw, const tm_keep *keep, tm_leaving how, uint32_t connection);

/* ---- keep_totals.c ---- */

/* Count publishes that waited so long for the disk. */
void keep_count_commits(tm_keeps *keeps, uint64_t us, uint32_t count);

#endif
