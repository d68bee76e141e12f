/* state.h - a switch: all that its rooms share, in one struct.
 *
 * Law: whatever a peer sends costs that peer alone. Frames that do not fit are dropped whole, counted by reason and
 * told to the receiver.
 */
#ifndef TM_SWITCH_STATE_H
#define TM_SWITCH_STATE_H

#include "model/shape.h"
#include "model/wire.h"
#include "network/publishers.h"
#include "records/records.h"
#include "switch/connections/connection.h"
#include "switch/forwarding/net.h"
#include "switch/matching/small_plan.h"
#include "switch/matching/validate.h"
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

#endif
