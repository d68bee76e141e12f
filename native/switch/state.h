/* state.h - the switch: one struct with all the state that its rooms share.
 *
 * Law: what a peer sends affects that peer alone. Frames that do not fit are dropped whole, counted by reason and
 * reported to the receiver.
 */
#ifndef TM_SWITCH_STATE_H
#define TM_SWITCH_STATE_H

#include "model/shape.h"
#include "model/wire.h"
#include "network/publishers.h"
#include "records/records.h"
#include "switch/connections/connection.h"
#include "switch/forwarding/net.h"
#include "switch/matching/fold.h"
#include "switch/matching/small_plan.h"
#include "switch/matching/validate.h"
#include "switch/observe/unmatched.h"
#include "switch/subscribers/subscriber.h"
#include "switch/subscribers/subscriptions.h"
#include "tm.h"

#define SWITCH_RECEIVE_BYTES (256U << 10) /* of one read; a larger buffer would leave the second-level cache */
#define SWITCH_EVENTS_MIN 64U
#define SWITCH_EVENT_BYTES_MAX (4U << 20) /* control frames of one poll; beyond it, sockets wait for the next poll */
#define SWITCH_RANGES_MAX 64U             /* ranges of counters in one ACK */
#define SWITCH_TIMED_EVERY 256U
#define SWITCH_SLICE_NS UINT64_C(4000000) /* duration of the work on filters in one call */
#define SWITCH_WAITS_FOR_STEP 1U
#define SWITCH_WAITS_FOR_LOG 2U
#define SWITCH_FORMS 8U /* shapes of messages that are remembered at once */

/* Lists of confirmed runs of counters, by tm_storage. The list with the number of STORED_UNKNOWN holds every confirmed
 * run. */
#define CONFIRMED STORED_UNKNOWN
#define CONFIRMED_LISTS (STORED + 1)

/* Counters to confirm to the publisher whose frames are being processed. */
typedef struct tm_confirmations {
    uint8_t counts[4]; /* by list; one 4-byte store clears all of them */
    uint64_t first[CONFIRMED_LISTS][SWITCH_RANGES_MAX];
    uint64_t last[CONFIRMED_LISTS][SWITCH_RANGES_MAX];
} tm_confirmations;

_Static_assert(SWITCH_RANGES_MAX <= UINT8_MAX && CONFIRMED_LISTS <= 4, "counts fit");
_Static_assert(CONFIRMED_LISTS * SWITCH_RANGES_MAX * 19 + 64 <= WIRE_CONTROL_BYTES_MAX, "an ACK fits");

#define TRAIL_LISTS (TM_TRACE_LISTS + 1)
#define TRAIL_DROPPED TM_TRACE_LISTS /* (client or neighbour, its connection or CONNECTION_NONE) of lost copies */

typedef struct tm_trail_list {
    tm_trace_row *rows; /* owned */
    uint32_t capacity;
    uint32_t count;
} tm_trail_list;

/* Observations about one message, for a tm_trace, for the records, or for both. */
typedef struct tm_trail {
    tm_trace head; /* its counts are unused until switch_trace fills them from the lists */
    tm_trail_list lists[TRAIL_LISTS];
    uint32_t matched; /* local filters that match */
    uint8_t here;     /* drop reason for all local clients, or TM_TRACE_NOT_DROPPED */
    bool is_traced;
    bool is_recorded;
    bool is_whole; /* false: memory for some rows was missing */
} tm_trail;

/* Rows of a match; `next` links the rows of one subscriber. */
typedef struct tm_rows {
    uint32_t *groups;
    uint32_t *handles;
    uint32_t *next;
    uint32_t capacity;
} tm_rows;

/* State cached for messages of one shape. */
typedef struct tm_form {
    tm_shape shape;
    tm_small_plan plan;
    tm_fit fit;
    tm_fold_plan folds;
    uint64_t by_set; /* shape version at the last message that was forwarded by its set (reuse.c) */
    uint32_t number; /* position among the forms of the switch */
} tm_form;

/* A bug that a test has planted (plant.c). */
typedef struct tm_plant {
    uint32_t bug; /* TM_PLANT_* */
    uint64_t every;
    uint64_t deliveries;
} tm_plant;

typedef struct tm_bucket tm_bucket;           /* connections/rate.h */
typedef struct tm_guards tm_guards;           /* access/guard.h */
typedef struct tm_guarded tm_guarded;         /* subscribers/guarded.h */
typedef struct tm_message tm_message;         /* message.h */
typedef struct tm_durable_ops tm_durable_ops; /* durable.h */
typedef struct tm_durables tm_durables;
typedef struct tm_remotes tm_remotes; /* remote_rows.h */

/* Match a message against the local filters into `rows` (matching/local.h). */
typedef int tm_local_match(tm_switch *sw, const tm_message *message, size_t *count);

/* Note that a connection that is a far end has output. */
typedef void tm_far_has_output(tm_switch *sw, uint32_t connection);

struct tm_switch {
    tm_memory memory;
    tm_table *table;                   /* borrowed */
    tm_net *net;                       /* owned; NULL: the router has no network */
    tm_durables *durables;             /* owned by native/durable/ with its contents; not NULL while `durable` is set */
    tm_remotes *remotes;               /* owned; NULL until there is a remote session */
    tm_far_has_output *far_has_output; /* set with them (remote_rows.c) */
    tm_switch_options options;
    int epoll;     /* owned; of admitted peers, of the log, and of `strangers` */
    int strangers; /* owned; the epoll set of peers that are not admitted */
    bool is_draining;
    bool has_door;          /* true if there are spaces or guards, which messages of clients are checked by */
    uint8_t step;           /* TM_STEP_*, of confirmed publishes */
    uint8_t stored_step;    /* TM_STEP_*, of those that are to be stored; the stricter one counts */
    uint8_t not_storing;    /* TM_DURABLES_*: why no messages are stored while `durables` is NULL */
    uint8_t holds;          /* SWITCH_HOLD_*: reasons why publishes may have to wait */
    uint32_t waiting_count; /* connections that wait for routers to be in step */
    uint32_t ordered_count; /* links that wait for messages by an older route */

    tm_connection *connections; /* owned */
    uint32_t connection_count;  /* high-water mark of ids */
    uint32_t connection_capacity;
    uint32_t connection_live;
    uint32_t connection_free;
    uint64_t connection_serial; /* serial of the connection that was opened last */
    uint32_t blocked_count;

    tm_bucket *buckets; /* owned; bucket i is row i - 1 */
    uint32_t bucket_count;
    uint32_t bucket_capacity;
    uint32_t bucket_free; /* first free row + 1; 0: none */
    uint32_t rated_count; /* open connections that draw from buckets */

    tm_subscriber *subscribers; /* owned; by interface of the table */
    uint32_t subscriber_count;  /* high-water mark of ids */
    uint32_t subscriber_capacity;
    uint32_t subscriber_live; /* ids in use */
    uint32_t subscriber_free;

    tm_subscriptions subscriptions;
    tm_publishers publishers;
    uint64_t counter_max; /* highest counter of a message: one day ahead of the clock when it was last read */

    uint8_t *receive;         /* owned: SWITCH_RECEIVE_BYTES */
    tm_attribute *attributes; /* owned; attributes of the current message, and its folded texts behind them */
    uint8_t *folded_texts;    /* owned; the bytes of these */
    uint32_t folded_bytes;
    tm_form forms[SWITCH_FORMS];
    tm_rows rows;
    tm_work work;      /* steps that the current message has cost in all tables */
    uint32_t *touched; /* receivers of the current message; has room for all subscribers */
    uint32_t *dirty;   /* connections with unsent output; has room for all connections */
    uint32_t dirty_count;
    tm_confirmations confirmations;
    wire_writer writer;
    tm_trail *trail;     /* owned; NULL until a message is traced or recorded */
    tm_records *records; /* borrowed; NULL: recording is off */
    tm_spaces *spaces;   /* owned; NULL: there are none */
    tm_guards *guards;   /* owned; NULL: there have been none */
    /* what switch_match calls: match_allowed from the first client with a guard at the hand on (access/access.c) */
    tm_local_match *match;
    /* until then transit looks at each message: others wait for it, or (UINT64_MAX) a link has a guard */
    uint64_t looks_until_ms;
    unmatched_ring unmatched;

    tm_event *events;
    uint32_t event_count;
    uint32_t event_capacity;
    uint8_t *event_bytes;
    uint32_t event_size;
    uint32_t event_bytes_capacity;
    bool events_are_out; /* true if the caller has read the events */

    uint64_t now_ms;
    uint64_t ahead_ms;  /* offset added to the system's clock, for tests */
    uint64_t ticked_ms; /* time of the last tick, or when the switch was made */
    uint64_t transit;   /* counter of the last message that entered the network here */
    uint32_t stamp;
    uint32_t ticks;
    tm_plant plant;
    tm_switch_stats stats;
    const tm_durable_ops *durable; /* borrowed: functions for durable subscriptions; NULL: no messages are stored */
    uint32_t ended;                /* first of the connections that have ended in this call, or CONNECTION_NONE */
    tm_kept_names kept_names;      /* of all guards and residual programs that there have been */
};

static inline tm_connection *switch_at(tm_switch *sw, uint32_t connection) {
    return &sw->connections[connection];
}
static inline tm_subscriber *switch_subscriber(tm_switch *sw, uint32_t id) {
    return &sw->subscribers[id];
}
/* Return the queue of frames for a subscriber: its connection's, or its own while it has no connection. */
static inline tm_outbox *switch_outbox_of(const tm_switch *sw, tm_subscriber *subscriber) {
    return subscriber->connection != CONNECTION_NONE ? &sw->connections[subscriber->connection].outbox
                                                     : subscriber->waiting;
}

/* Clear the pending confirmations; their connection may have ended. */
static inline void switch_drop_confirmations(tm_switch *sw) {
    memset(sw->confirmations.counts, 0, sizeof sw->confirmations.counts);
}

/* Mark a connection so that the next switch_flush_dirty sends its queue. */
static inline void switch_mark_dirty(tm_switch *sw, uint32_t id) {
    tm_connection *connection = switch_at(sw, id);
    if (__builtin_expect(connection->is_far_end, 0)) {
        sw->far_has_output(sw, id);
    }
    if (!connection->is_dirty) {
        connection->is_dirty = true;
        sw->dirty[sw->dirty_count++] = id;
    }
}

/* true if the id is in use */
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
