/* tm_switch_api.h - the switch, as C and Python share it. It builds on tm_api.h, and cffi reads it unchanged.
 *
 * Law: that of tm_api.h.
 */

/* ---- the switch: bytes in, bytes out ---- */

/* The switch reads and writes sockets, matches whole data frames and copies them into the output of each connection
 * that wants them; only control frames and ends of connections reach Python, as events. A subscriber (an interface of
 * the table, with filters and a queue) is separate from the connection that serves it. One thread at a time. */

typedef struct tm_switch tm_switch;

#define TM_CONNECTIONS_MAX 1048576
#define TM_CONNECTION_NONE 4294967295U
#define TM_SUBSCRIBER_NONE 4294967295U

typedef struct tm_switch_options {
    uint64_t memory_bytes_max; /* of buffers and subscriptions, without the table; 0: no bound */
    uint64_t hash_seed;        /* like that of tm_options */
    uint64_t match_steps;      /* steps of one message in all tables together; 0: TM_MATCH_STEPS */
    uint64_t number;           /* of this router, with its epoch; stamped where a message enters */
    uint64_t epoch;
    uint32_t connections_max;    /* above it tm_switch_open returns TM_TOO_MANY */
    uint32_t subscribers_max;    /* with or without a connection; 0: connections_max */
    uint32_t frame_bytes_max;    /* of a received frame */
    uint32_t greeting_bytes_max; /* all bytes that a peer may send before admission */
    uint32_t publishers_max;     /* publishers whose message ids are remembered */
    uint8_t hop_limit;           /* stamped where a message enters */
} tm_switch_options;

/* Make a switch in `*made`, which the caller frees. It borrows `table` for local clients and is the only one to add and
 * remove filters there. Returns TM_OK, TM_MISUSED or TM_NO_MEMORY. */
int tm_switch_new(const tm_switch_options *options, tm_table *table, tm_switch **made);
void tm_switch_free(tm_switch *sw); /* closes every socket; NULL is allowed */

/* Return the descriptor that is readable when tm_switch_poll has work; borrowed. */
int tm_switch_descriptor(const tm_switch *sw);

/* Open a connection that has yet to greet: every frame of it becomes an event. On TM_OK the switch owns the
 * non-blocking socket `fd`. With -1 its bytes enter by tm_switch_feed and leave by tm_switch_output. */
int tm_switch_open(tm_switch *sw, int fd, uint32_t *connection);

/* Policies for a connection whose queue is full. */
#define TM_SLOW_DROP_NEWEST 0
#define TM_SLOW_DROP_OLDEST 1 /* spares a partly sent frame */
#define TM_SLOW_DISCONNECT 2
#define TM_SLOW_BLOCK 3 /* no new credit for publishers for block_ms at most, then DROP_NEWEST */

typedef struct tm_admission {
    uint64_t number;          /* of the client's name: the origin of its messages */
    uint64_t queue_bytes_max; /* of frames that wait for the socket */
    uint64_t credit_bytes;    /* publishing window in bytes; the next field is in frames. 0: it may not publish */
    uint32_t credit_frames;
    uint32_t frame_bytes_max; /* longest frame that the peer accepts */
    uint64_t table_bytes_max; /* of its filters, as counted by tm_table_used */
    uint32_t filters_max;
    uint32_t unindexed_max; /* of its subscriptions with a residual program and a filter that every message satisfies */
    uint32_t hold_ms;       /* after this silence: TM_EVENT_SILENT */
    uint32_t ping_ms;       /* after this time without output: a PING */
    uint32_t block_ms;
    uint8_t policy;  /* TM_SLOW_* */
    uint8_t version; /* of the wire, as negotiated by the session */
    uint8_t is_link; /* a link, whose `number` is that of the neighbour: only after tm_switch_join, without credit or
                        filters, with TM_SLOW_DROP_NEWEST */
    uint8_t takes_route;   /* of a link: the neighbour accepts the extension ROUTE */
    uint8_t takes_set;     /* the neighbour accepts its mode SET */
    uint8_t takes_tree;    /* the neighbour accepts its mode TREE */
    uint8_t takes_keys;    /* the neighbour accepts its mode KEYS */
    uint32_t traces_per_s; /* traces and dry runs that it may request; 0: no bound */
    uint32_t traces_burst; /* most of them at once */
    uint32_t bucket;       /* from which its credit is granted (tm_access_api.h); 0: at once */
} tm_admission;

/* End the greeting: data frames are accepted from here on, and the first credit is sent. A link replaces older ones as
 * the output for the neighbour's messages. Any other connection gets a subscriber of its own, which ends with it.
 * TM_NO_MEMORY, TM_TOO_MANY: it is still greeting. */
int tm_switch_admit(tm_switch *sw, uint32_t connection, const tm_admission *admission);

/* Return the subscriber that a connection serves; TM_SUBSCRIBER_NONE: none. */
uint32_t tm_switch_subscriber_of(const tm_switch *sw, uint32_t connection);
/* Return the number of the durable subscription that a subscriber stands for; 0: it is a client. */
uint32_t tm_switch_durable_of(const tm_switch *sw, uint32_t subscriber);

/* Make a subscriber without a connection, with the limits of an admission other than a link's: TM_OK, TM_NO_MEMORY or
 * TM_TOO_MANY. It may subscribe, and frames wait for it up to its queue_bytes_max; further ones are handled by its
 * policy (TM_SLOW_DISCONNECT drops the newest, without a connection). It is kept until tm_switch_subscriber_free. */
int tm_switch_subscriber_new(tm_switch *sw, const tm_admission *admission, uint32_t *subscriber);
/* Keep a subscriber beyond the end of its connection: the frames that wait then, except for a partly sent one, wait for
 * the next connection. TM_NO_MEMORY: nothing has changed. */
int tm_switch_keep(tm_switch *sw, uint32_t subscriber);
/* Admit a connection to serve a subscriber that has none: like tm_switch_admit, but waiting frames are sent behind what
 * is queued. The limits are those of `admission` from here on; its number must be the subscriber's, its frame_bytes_max
 * not less than before. */
int tm_switch_attach(tm_switch *sw, uint32_t connection, const tm_admission *admission, uint32_t subscriber);
/* Free a subscriber without a connection, in steps like tm_switch_forget. */
int tm_switch_subscriber_free(tm_switch *sw, uint32_t subscriber, uint32_t steps, uint32_t *left);

#define TM_LANE_ORDERED 0 /* behind the queue */
#define TM_LANE_URGENT 1  /* at the next frame boundary */

/* Queue whole frames for a connection (copied) and try to send them. TM_TOO_MANY: the queue is full; nothing is queued.
 */
int tm_switch_send(tm_switch *sw, uint32_t connection, const uint8_t *frames, size_t size, int lane);

/* Stop reading, send what is queued, then close the socket; TM_EVENT_CLOSED follows. `now`: drop the queue. */
int tm_switch_close(tm_switch *sw, uint32_t connection, bool now);

/* End a fed connection whose peer has gone: like tm_switch_close with `now`, and for each of its consumers one attempt
 * of its oldest message in flight has failed. */
int tm_switch_lose(tm_switch *sw, uint32_t connection);

/* Pause or resume reading. */
int tm_switch_pause(tm_switch *sw, uint32_t connection, bool paused);

/* Release a connection after TM_EVENT_CLOSED: remove at most `steps` filters of its subscriber, for a few milliseconds.
 * When `*left` is 0 both ids may be reused. */
int tm_switch_forget(tm_switch *sw, uint32_t connection, uint32_t steps, uint32_t *left);

/* Return the highest counter known of a publisher's messages, among those not too far ahead; 0: none. */
uint64_t tm_switch_newest(const tm_switch *sw, uint64_t publisher);

/* Refuse new publishes of all clients as DRAINING, or accept them again. */
void tm_switch_drain(tm_switch *sw, bool draining);

/* ---- events ---- */

#define TM_EVENT_FRAME 0 /* a control frame: `frame`, `size` bytes */
/* The peer broke a rule: `code` of wire.md, frame `kind`; nothing more is read. Send an ERROR and close, unless the
 * code is not fatal. */
#define TM_EVENT_FAULT 1
#define TM_EVENT_CLOSED 2 /* the socket is closed; `code` is an errno, or 0 for an orderly end */
#define TM_EVENT_SILENT 3 /* no bytes were received for its hold_ms */
#define TM_EVENT_SLOW 4   /* its queue is full and its policy is to disconnect */
#define TM_EVENT_OUTPUT 5 /* of a connection without a socket: it has output */
/* A data frame from a link whose source has no route in some generation: set the route, then pass the frame in again
 * with tm_switch_retake, or drop it. */
#define TM_EVENT_UNROUTED 6
#define TM_EVENT_TRACED 7 /* a message with a trace id was handled: `frame` is a tm_trace */
/* A delivery failed on purpose: `frame` is the message's header, `code` the connection that got it instead. */
#define TM_EVENT_PLANTED 8
#define TM_EVENT_WAITS 9    /* of a connection without a socket: stop feeding it */
#define TM_EVENT_GOES_ON 10 /* of a connection without a socket: feed it again */

typedef struct tm_event {
    const uint8_t *frame; /* `size` bytes, borrowed until the next call to the switch */
    const char *text;     /* TM_EVENT_FAULT: a description, static */
    uint32_t size;
    uint32_t connection;
    uint32_t code;
    uint8_t type; /* TM_EVENT_* */
    uint8_t kind;
} tm_event;

/* Serve the sockets that are ready, for about `budget_us`; `*events` are borrowed until the next call to the switch.
 * Never blocks. */
int tm_switch_poll(tm_switch *sw, uint32_t budget_us, const tm_event **events, size_t *count);

/* Process bytes that arrived for a connection without a socket; events are returned like those of tm_switch_poll. */
int tm_switch_feed(tm_switch *sw, uint32_t connection, const uint8_t *bytes, size_t size, const tm_event **events,
                   size_t *count);
/* Return the next output of a connection without a socket: `*size` bytes at `*bytes`, borrowed until the next call. */
int tm_switch_output(tm_switch *sw, uint32_t connection, const uint8_t **bytes, size_t *size);
/* Remove the first `size` bytes of that output, which were sent. */
int tm_switch_sent(tm_switch *sw, uint32_t connection, size_t size);

/* Do periodic work: PINGs, silence, withheld credit, unused buffers. Call it about ten times a second. */
int tm_switch_tick(tm_switch *sw, const tm_event **events, size_t *count);

/* Treatment of a confirmed publish while this router and its neighbours may be out of step. */
#define TM_STEP_IN 0     /* they are in step: it is accepted */
#define TM_STEP_WAIT 1   /* it waits, and its connection is not read; other publishes continue */
#define TM_STEP_REFUSE 2 /* it is refused as NOT_IN_STEP */
int tm_switch_step(tm_switch *sw, int step);
/* Set the treatment of a publish that is to be confirmed as stored, where it is stricter than that of other confirmed
 * ones: this router may not know yet what durable subscriptions elsewhere want (C14). */
int tm_switch_step_stored(tm_switch *sw, int step);
/* Resume connections whose publish need not wait now, or all while draining, for about `budget_us`; repeat the call
 * until `*left` is 0. */
int tm_switch_resume(tm_switch *sw, uint32_t budget_us, uint32_t *left, const tm_event **events, size_t *count);

#define TM_PLANT_NONE 0
#define TM_PLANT_DROP 1   /* a delivery is left out */
#define TM_PLANT_TWICE 2  /* a delivery is made twice */
#define TM_PLANT_ASTRAY 3 /* a delivery goes to another client */

/* ---- spaces ---- */

#define TM_SPACES_MAX 256
#define TM_SPACE_ATTRIBUTES_MAX 63 /* of one space: one bit each, and the naming attribute */
#define TM_SPACE_VALUES_MAX 256    /* of one ordered enumeration */

/* Reasons of a violation; the numbers of protocol/spaces/domains.py. */
#define TM_VIOLATION_NONE 0
#define TM_VIOLATION_MISSING 1
#define TM_VIOLATION_UNDECLARED 2
#define TM_VIOLATION_KIND 3
#define TM_VIOLATION_OUTSIDE 4
#define TM_VIOLATION_TOO_FINE 5
#define TM_VIOLATION_NOT_LISTED 6
#define TM_VIOLATION_NO_SPACE 7

typedef struct tm_space_stats {
    uint64_t checked; /* messages that named it */
    uint64_t refused;
} tm_space_stats;

/* Replace the spaces (packed by native/spaces.py, copied); with `size` 0 there are none. From here on a client's
 * message that names one of them is refused if it violates it. TM_MALFORMED, TM_NO_MEMORY: nothing has changed. */
int tm_switch_spaces(tm_switch *sw, const uint8_t *packed, size_t size);
/* Return the counters of the space at this position; TM_ABSENT: there is none. */
int tm_switch_space(const tm_switch *sw, uint32_t number, tm_space_stats *out);

/* For tests of checkers: from here on make each `every`th delivery fail, with an event. */
int tm_switch_plant(tm_switch *sw, uint32_t bug, uint64_t every);

/* ---- subscriptions ---- */

typedef struct tm_refusal {
    uint32_t id;     /* of the subscription */
    uint32_t offset; /* in the frame, of the packed filter or the program at fault, with its size; 0: none is */
    uint32_t size;
    uint16_t code; /* refusal code of wire.md */
} tm_refusal;

/* A SUBSCRIBE frame in processing: fill it with tm_subscribe_open, then call tm_subscribe_some until `left` is 0. The
 * caller owns it and keeps the frame in place. */
typedef struct tm_subscribe {
    const uint8_t *frame; /* borrowed */
    uint32_t size;
    uint32_t at;   /* offset of the next subscription */
    uint32_t left; /* subscriptions not processed yet */
    uint32_t request;
    uint32_t count; /* all subscriptions */
    uint8_t own_messages;
    uint8_t wait;
    uint8_t durable;
    const uint8_t *group;  /* borrowed: the name of the worker group */
    uint32_t group_size;   /* 0: there is none */
    uint32_t group_number; /* of the group's name between routers, set by the caller; 0: unknown, and the group gets no
                              message of another router */
} tm_subscribe;

/* Parse a SUBSCRIBE frame; returns TM_OK, TM_MALFORMED, or TM_TOO_MANY if a count or a size exceeds its limit. */
int tm_subscribe_open(const uint8_t *frame, size_t size, tm_subscribe *out);
/* A subscription may have a residual program (tm_residual_api.h), unless it is of a worker group: it then gets those
 * messages that its filters match and the program lets pass.
 *
 * Add subscriptions until about `filters` filters or 16 KiB of them were added, or all are processed; at least one.
 * Refused ones are written to `refusals`, which has room for `count` (the number of subscriptions in the frame is
 * always enough); `*refused` is their number. */
int tm_subscribe_some(tm_switch *sw, uint32_t subscriber, tm_subscribe *subscribe, uint32_t filters,
                      tm_refusal *refusals, uint32_t count, uint32_t *refused);
/* Remove a subscription; TM_ABSENT: the subscriber has none with this id. */
int tm_switch_unsubscribe(tm_switch *sw, uint32_t subscriber, uint32_t id);

/* One subscribed filter. */
typedef struct tm_subscribed {
    const uint8_t *filter; /* packed; borrowed until the table changes */
    uint32_t size;
    uint32_t handle;
    uint32_t subscriber;
    uint32_t connection; /* of the subscriber, or TM_CONNECTION_NONE */
    uint32_t subscription;
    uint32_t durable; /* durable subscription that the subscriber stands for; 0: it is a client */
    uint8_t own_messages;
    const uint8_t *program; /* residual program of the subscription; borrowed as the filter is. NULL: none */
    uint32_t program_size;
    uint64_t candidates;    /* messages that the program was asked about */
    uint64_t passed;        /* those that it let pass */
    bool is_folded;         /* the filter is one for the index, which may have conditions on folded texts */
    const uint8_t *dialect; /* name of the dialect that the predicate was written in; borrowed as the filter is */
    uint8_t dialect_size;   /* 0: it was written in none */
} tm_subscribed;

/* Return the filter with the lowest handle from `handle` on; TM_ABSENT: there are no more. */
int tm_switch_subscribed(const tm_switch *sw, uint32_t handle, tm_subscribed *out);
/* Return whether a filter of the index has a condition on the folded text of an attribute. */
bool tm_switch_folds(const tm_switch *sw, const uint8_t *name, uint32_t length);

/* ---- the client's side: DELIVER frames ---- */

/* Scan the frames at the beginning of `bytes` as long as each is a complete, valid DELIVER frame that either satisfies
 * one subscription and has no other extension than SATISFIED with one id, or belongs to a durable subscription
 * (SATISFIED with one id, LOG_POSITION, DELIVERIES); nearly all frames do. ends[i] is the end of frame i, ids[i] its
 * subscription or consumer, positions[i] its log position, or 0 without one. Stops before the first other frame,
 * after `capacity` frames (the room of each array), or at `size`, which is at most UINT32_MAX. Returns the number of
 * frames; never fails. Attributes are not read. */
size_t tm_deliveries_walk(const uint8_t *bytes, size_t size, uint32_t *ends, uint32_t *ids, uint64_t *positions,
                          size_t capacity);
