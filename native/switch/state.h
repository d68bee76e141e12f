/* state.h - what the parts of the switch share.
 *
 * What each file of the switch is for stands at its top; docs/design/files.md lists them all. The steps of a message
 * are in message.h.
 *
 * Law: whatever a peer sends costs that peer alone. Frames that do not fit are dropped whole, counted by reason and
 * told to the receiver.
 */
#ifndef TM_SWITCH_H
#define TM_SWITCH_H

#include "model/shape.h"
#include "model/wire.h"
#include "network/publishers.h"
#include "records/records.h"
#include "switch/connections/connection.h"
#include "switch/forwarding/net.h"
#include "switch/matching/fit.h"
#include "switch/matching/small_plan.h"
#include "switch/observe/unmatched.h"
#include "switch/subscribers/subscriber.h"
#include "switch/subscribers/subscriptions.h"
#include "tm.h"

#define SWITCH_RECEIVE_BYTES (256U << 10) /* one read: larger ones leave the second-level cache */
#define SWITCH_EVENTS_MIN 64U
#define SWITCH_EVENT_BYTES_MAX (4U << 20) /* control frames of one poll; then sockets wait for the next */
#define SWITCH_RANGES_MAX 64U             /* confirmations in one ACK */
#define SWITCH_TIMED_EVERY 256U
#define SWITCH_SLICE_NS UINT64_C(4000000) /* of work on filters, in one call */
#define SWITCH_HOLD_STEP 1U
#define SWITCH_HOLD_LOG 2U
#define SWITCH_FORMS 8U /* kinds of messages that may take turns */

/* Runs of counters, by tm_stored: in place of those of which nothing is said stand all that are confirmed. */
#define CONFIRMED STORED_UNKNOWN
#define CONFIRMED_LISTS (STORED + 1)

/* Counters to confirm to the publisher whose frames are being walked. */
typedef struct tm_confirmations {
    uint8_t counts[4]; /* by list; one store empties all */
    uint64_t first[CONFIRMED_LISTS][SWITCH_RANGES_MAX];
    uint64_t last[CONFIRMED_LISTS][SWITCH_RANGES_MAX];
} tm_confirmations;

_Static_assert(SWITCH_RANGES_MAX <= UINT8_MAX && CONFIRMED_LISTS <= 4, "counts fit");
_Static_assert(CONFIRMED_LISTS * SWITCH_RANGES_MAX * 19 + 64 <= WIRE_CONTROL_BYTES_MAX, "an ACK fits");

#define TRAIL_LISTS (TM_TRACE_LISTS + 1)
#define TRAIL_DROPPED TM_TRACE_LISTS /* (client or neighbour, connection or CONNECTION_NONE) it was dropped for */

typedef struct tm_trail_list {
    tm_trace_row *rows; /* owned */
    uint32_t capacity;
    uint32_t count;
} tm_trail_list;

/* What is noted about one message: for a tm_trace, for the records, or both. */
typedef struct tm_trail {
    tm_trace head; /* counts are in the lists */
    tm_trail_list lists[TRAIL_LISTS];
    uint32_t matched; /* local filters */
    uint8_t here;     /* why local clients got nothing, or TM_TRACE_NOT_DROPPED */
    bool is_traced;
    bool is_recorded;
    bool is_whole; /* there was memory for all of it */
} tm_trail;

/* Rows of a match, and for each the next one of the same subscriber. */
typedef struct tm_rows {
    uint32_t *groups;
    uint32_t *handles;
    uint32_t *next;
    uint32_t capacity;
} tm_rows;

/* Messages of one kind. */
typedef struct tm_form {
    tm_shape shape;
    tm_small_plan plan;
    tm_fit fit;
    uint64_t by_set; /* version of the shape of the last message that went on by its set (reuse.c) */
} tm_form;

/* A bug that a test has planted. */
typedef struct tm_plant {
    uint32_t bug; /* TM_PLANT_* */
    uint64_t every;
    uint64_t deliveries;
} tm_plant;

typedef struct tm_durable tm_durable; /* durable.h */
typedef struct tm_keeps tm_keeps;

struct tm_switch {
    tm_memory memory;
    tm_table *table; /* borrowed */
    tm_net *net;     /* owned; NULL: alone */
    tm_keeps *keeps; /* owned by native/durable/, as is all in it; there while `durable` is */
    tm_switch_options options;
    int epoll; /* owned */
    bool is_draining;
    uint8_t step;           /* TM_STEP_* */
    uint8_t keeps_nothing;  /* TM_KEEPS_*, while `keeps` is NULL */
    uint8_t holds;          /* SWITCH_HOLD_*: why publishes may have to wait */
    uint32_t waiting_count; /* connections that wait for it */
    uint32_t ordered_count; /* links that wait for messages by another way */

    tm_connection *connections; /* owned */
    uint32_t connection_count;  /* high-water mark of ids */
    uint32_t connection_capacity;
    uint32_t connection_live;
    uint32_t connection_free;
    uint64_t connection_serial; /* of the one that was opened last */
    uint32_t blocked_count;

    tm_subscriber *subscribers; /* owned; by interface of the table */
    uint32_t subscriber_count;  /* high-water mark of ids */
    uint32_t subscriber_capacity;
    uint32_t subscriber_live; /* in use */
    uint32_t subscriber_free;

    tm_subscriptions subscriptions;
    tm_publishers publishers;
    uint64_t counter_max; /* of a message: a day ahead of the clock, as it was when it was looked at last */

    uint8_t *receive;         /* owned: SWITCH_RECEIVE_BYTES */
    tm_attribute *attributes; /* owned; of the message at hand */
    tm_form forms[SWITCH_FORMS];
    tm_rows rows;
    tm_work work;      /* what the message at hand has cost in all tables */
    uint32_t *touched; /* subscribers that a message is for; room for all */
    uint32_t *dirty;   /* connections with fresh output; room for all */
    uint32_t dirty_count;
    tm_confirmations confirmations;
    wire_writer writer;
    tm_trail *trail;     /* owned; NULL until somebody asks */
    tm_records *records; /* borrowed; NULL: none are kept */
    tm_spaces *spaces;   /* owned; NULL: none are known */
    unmatched_ring unmatched;

    tm_event *events;
    uint32_t event_count;
    uint32_t event_capacity;
    uint8_t *event_bytes;
    uint32_t event_size;
    uint32_t event_bytes_capacity;
    bool events_are_out; /* the caller has them */

    uint64_t now_ms;
    uint64_t ahead_ms; /* of the system's clock: for tests */
    uint64_t transit;  /* counter of messages that entered here */
    uint32_t stamp;
    uint32_t ticks;
    tm_plant plant;
    tm_switch_stats stats;
    const tm_durable *durable; /* borrowed: what is done for kept messages; NULL: it keeps nothing */
    uint32_t ended;            /* list of connections that have ended in this call, or CONNECTION_NONE */
};

static inline tm_connection *switch_at(tm_switch *sw, uint32_t connection) {
    return &sw->connections[connection];
}
static inline tm_subscriber *switch_subscriber(tm_switch *sw, uint32_t id) {
    return &sw->subscribers[id];
}
/* Where frames wait for it. */
static inline tm_outbox *switch_outbox_of(const tm_switch *sw, tm_subscriber *subscriber) {
    return subscriber->connection != CONNECTION_NONE ? &sw->connections[subscriber->connection].outbox
                                                     : subscriber->waiting;
}

/* Forget what was to be confirmed: its connection may have ended. */
static inline void switch_drop_confirmations(tm_switch *sw) {
    memset(sw->confirmations.counts, 0, sizeof sw->confirmations.counts);
}

/* What was queued for it is sent by the next switch_flush_dirty. */
static inline void switch_mark_dirty(tm_switch *sw, uint32_t id) {
    tm_connection *connection = switch_at(sw, id);
    if (!connection->is_dirty) {
        connection->is_dirty = true;
        sw->dirty[sw->dirty_count++] = id;
    }
}

/* Is it an id that names anything? */
static inline bool switch_knows(const tm_switch *sw, uint32_t connection) {
    return sw != NULL && connection < sw->connection_count && sw->connections[connection].state != CONNECTION_FREE;
}
static inline bool switch_knows_subscriber(const tm_switch *sw, uint32_t id) {
    return sw != NULL && id < sw->subscriber_count && sw->subscribers[id].state != SUBSCRIBER_FREE;
}
static inline void switch_count_drop(tm_switch *sw, unsigned reason, uint64_t frames, uint64_t bytes) {
    sw->stats.dropped[reason] += frames;
    sw->stats.drop_bytes[reason] += bytes;
}

/* ---- switch.c ---- */

/* Start a call: the clock is read and events of the last call are forgotten. */
void switch_begin(tm_switch *sw);
int switch_end(tm_switch *sw, const tm_event **events, size_t *count);
/* Append an event to what the caller gets. false: no memory; there is always room for a connection's end. */
bool switch_tell(tm_switch *sw, tm_event event);
/* Append an event with room for `size` bytes, which the caller fills at once; NULL: no memory. */
uint8_t *switch_tell_bytes(tm_switch *sw, tm_event event, uint32_t size);
/* Append an event of `type` with a copy of a frame; false: no memory. */
bool switch_tell_frame(tm_switch *sw, uint32_t connection, unsigned type, const uint8_t *frame, uint32_t size);
/* The peer broke a rule. Nothing more is read from it, unless the code is not fatal. */
void switch_fault(tm_switch *sw, uint32_t connection, wire_error code, const uint8_t *frame, const char *text);

/* ---- connection.c ---- */

/* End a connection: its socket has failed with `error`, or is to be closed (0). From here on nothing is read from it
 * and nothing sent to it; the rest is done by switch_finish_ended. */
void switch_shut(tm_switch *sw, uint32_t connection, int error);
/* As switch_shut, where it was the peer that went away. */
void switch_lose(tm_switch *sw, uint32_t connection, int error);
/* Give back what it owns. */
void switch_clear_connection(tm_switch *sw, tm_connection *connection);

/* ---- read.c ---- */

void switch_read(tm_switch *sw, uint32_t connection);
void switch_take(tm_switch *sw, uint32_t connection, const uint8_t *bytes, size_t size);

/* Go on with what was kept when a connection began to wait. */
void switch_take_kept(tm_switch *sw, uint32_t connection);
/* A message that went up comes back and waits, behind others that did and in front of what came later. false: no
 * memory. */
bool switch_put_back(tm_switch *sw, uint32_t connection, const uint8_t *frame, uint32_t size);

/* ---- lifecycle.c ---- */

/* Close the connections that have ended: what they owned, waited for or served is given back, and Python is told. */
void switch_finish_ended(tm_switch *sw);
/* End a call: send what is queued, and close what has ended, until neither is left. */
void switch_finish(tm_switch *sw);

/* ---- resume.c ---- */

/* Take the frames that need not wait for an older way any more. */
void switch_catch_up(tm_switch *sw);

/* ---- step.c ---- */

/* Take a frame of this connection, and all behind it, later. */
void switch_wait(tm_switch *sw, uint32_t connection);
/* End the wait of a connection, whatever it waited for. */
void switch_wait_no_more(tm_switch *sw, uint32_t connection);
/* Stop or resume reading a connection; where Python feeds it (tm_switch_feed), Python is told. */
void switch_stop_reading(tm_switch *sw, uint32_t connection);
void switch_go_on_reading(tm_switch *sw, uint32_t connection);

/* ---- order.c ---- */

/* Must the message of a link wait for those that went the old way of its source? */
bool switch_must_follow(tm_switch *sw, uint32_t connection, const uint8_t *frame, size_t size);
void switch_follow(tm_switch *sw, uint32_t connection);
/* End the wait for the old way, whatever is still missing. */
void switch_follow_no_more(tm_switch *sw, uint32_t connection);

/* ---- beat.c ---- */

/* Answer a PING or note a PONG in its canonical encoding; false: another encoding, which Python decodes. */
bool switch_beat(tm_switch *sw, uint32_t connection, const uint8_t *frame, uint32_t size);

/* ---- publish.c ---- */

void switch_publish(tm_switch *sw, uint32_t connection, const uint8_t *frame, uint32_t size);

/* ---- counters.c ---- */

/* The highest counter that a message may have now: a day ahead of the later of this router's clock and its epoch. */
uint64_t switch_counter_max(const tm_switch *sw);

/* ---- net.c ---- */

/* Admit a connection as a link: TM_OK, TM_NO_MEMORY, TM_TOO_MANY or TM_MISUSED. */
int switch_join_neighbour(tm_switch *sw, uint32_t connection, uint64_t number);
/* The link has ended. */
void switch_leave_neighbour(tm_switch *sw, uint32_t connection);
/* End the holds of old ways whose time is over. */
void switch_expire_routes(tm_switch *sw);

/* ---- credit.c ---- */

/* More credit where half of it is used up and nothing blocks. */
void switch_grant(tm_switch *sw, uint32_t connection);
/* The queue of a subscriber is half full: the publisher, a connection, gets no more credit until it is a quarter full.
 * Is it so? */
bool switch_block(tm_switch *sw, uint32_t receiver, uint32_t publisher);
/* Grant credit again to the publishers whose receivers block no longer. */
void switch_unblock(tm_switch *sw);

/* ---- control.c ---- */

/* Queue the control frame in `sw->writer`; false: no room. */
bool switch_queue_control(tm_switch *sw, uint32_t connection, int lane);
/* Queue it before all others; a peer that has stopped reading what it asks for is cut off. */
void switch_send_urgent(tm_switch *sw, uint32_t connection);
void switch_confirm(tm_switch *sw, uint32_t connection, uint64_t counter);
/* Confirm all from counter `first` to `last`, and say whether they are stored. */
void switch_confirm_run(tm_switch *sw, uint32_t connection, uint64_t first, uint64_t last, tm_stored stored);
void switch_send_confirmations(tm_switch *sw, uint32_t connection);
/* Refuse a message; `newest`: the highest counter that is known of its publisher, or 0. */
void switch_refuse(tm_switch *sw, uint32_t connection, uint64_t counter, wire_refusal code, const char *text,
                   uint64_t newest);

/* ---- queue.c ---- */

/* Room for a data frame of `size` bytes in the queue of a subscriber. Where the policy is to hold publishers back,
 * `publisher` (a connection) is held back for it. NULL: the message is dropped, counted, and the subscriber is told. */
uint8_t *switch_queue_delivery(tm_switch *sw, uint32_t subscriber, uint32_t size, uint32_t publisher);
/* Room for a data frame of `size` bytes in the queue of a link; NULL: the copy is dropped and counted, and Python tells
 * the neighbour (shed.c). */
uint8_t *switch_queue_onward(tm_switch *sw, uint32_t link, uint32_t size);
/* Tell a subscriber of losses that it has not been told of: where the gap is, if there is room. */
void switch_tell_losses(tm_switch *sw, uint32_t subscriber);
/* Tell a subscriber of its losses if they may be told before anything more is queued. */
void switch_tell_due_losses(tm_switch *sw, uint32_t subscriber);
/* Do what a shorter queue allows, after a part of it was sent: tell losses, unblock publishers. */
void switch_note_shorter(tm_switch *sw, uint32_t subscriber);

/* ---- write.c ---- */

/* `sent` bytes of what waits for a connection have gone. */
void switch_note_sent(tm_switch *sw, uint32_t connection, uint64_t sent);
void switch_flush(tm_switch *sw, uint32_t connection);
void switch_flush_dirty(tm_switch *sw);
/* Set what the socket is watched for. */
void switch_watch(tm_switch *sw, uint32_t connection);

#endif
