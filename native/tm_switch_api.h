/* tm_switch_api.h - the switch, as C and Python share it. It stands on tm_api.h, and cffi reads it as it is, too.
 *
 * Law: that of tm_api.h.
 */

/* ---- the switch: bytes in, bytes out ---- */

/* Sockets are read and written here, whole data frames are matched and copied into the output of each connection that
 * wants them; only control frames and ends of connections go up, as events. A subscriber (an interface of the table,
 * with filters and what waits for it) is apart from the connection that it is served by. One thread at a time. */

typedef struct tm_switch tm_switch;

#define TM_CONNECTIONS_MAX 1048576
#define TM_CONNECTION_NONE 4294967295U
#define TM_SUBSCRIBER_NONE 4294967295U

typedef struct tm_switch_options {
    uint64_t memory_bytes_max; /* of buffers and subscriptions, the table apart; 0: no bound */
    uint64_t hash_seed;        /* as in tm_options */
    uint64_t match_steps;      /* that one message may take in all tables together; 0: TM_MATCH_STEPS */
    uint64_t number;           /* of this router, and its epoch: where messages enter */
    uint64_t epoch;
    uint32_t connections_max;    /* tm_switch_open answers TM_TOO_MANY past it */
    uint32_t subscribers_max;    /* with a connection or without; 0: as many as connections_max */
    uint32_t frame_bytes_max;    /* of a frame that is received */
    uint32_t greeting_bytes_max; /* all that a peer may send before it is admitted */
    uint32_t publishers_max;     /* whose message ids are remembered */
    uint8_t hop_limit;           /* stamped where a message enters */
} tm_switch_options;

/* A new switch in `*made`, yours to free. It borrows `table` for local clients, whose handles it alone gives out: add
 * and remove through the switch. */
int tm_switch_new(const tm_switch_options *options, tm_table *table, tm_switch **made);
void tm_switch_free(tm_switch *sw); /* closes every socket; NULL is allowed */

/* The descriptor that is readable when tm_switch_poll has something to do; borrowed. */
int tm_switch_descriptor(const tm_switch *sw);

/* A new connection that still has to greet: every frame of it goes up. The switch owns the non-blocking socket `fd`
 * from here on, on TM_OK. With -1 its bytes come by tm_switch_feed and go by tm_switch_output. */
int tm_switch_open(tm_switch *sw, int fd, uint32_t *connection);

/* What happens to a connection whose queue is full. */
#define TM_SLOW_DROP_NEWEST 0
#define TM_SLOW_DROP_OLDEST 1 /* never a frame of which a byte was sent */
#define TM_SLOW_DISCONNECT 2
#define TM_SLOW_BLOCK 3 /* publishers get no new credit for at most block_ms, then as drop-newest */

typedef struct tm_admission {
    uint64_t number;          /* of the client's name: the origin of its messages */
    uint64_t queue_bytes_max; /* of frames that wait for the socket */
    uint64_t credit_bytes;    /* window of what it may publish ahead, in bytes and frames; 0: nothing at all */
    uint32_t credit_frames;
    uint32_t frame_bytes_max; /* longest frame the peer takes */
    uint64_t table_bytes_max; /* of its filters, as tm_table_used counts them */
    uint32_t filters_max;
    uint32_t hold_ms; /* silent for so long: TM_EVENT_SILENT */
    uint32_t ping_ms; /* nothing sent for so long: a PING goes out */
    uint32_t block_ms;
    uint8_t policy;        /* TM_SLOW_* */
    uint8_t version;       /* of the wire, as the session chose it */
    uint8_t is_link;       /* a neighbour, whose `number` is that of the router: after tm_switch_join, without credit or
                              filters, and dropping the newest */
    uint8_t takes_route;   /* a link whose neighbour knows the extension ROUTE */
    uint8_t takes_set;     /* and its mode SET */
    uint8_t takes_tree;    /* and its mode TREE */
    uint32_t traces_per_s; /* traces and dry runs that it may ask for; 0: as many as it likes */
    uint32_t traces_burst; /* and at once */
} tm_admission;

/* The greeting is over: data frames are taken from here on, and the first credit goes out. A link is where the
 * neighbour's messages go from now on, whatever link it had before. Any other connection gets a subscriber of its own,
 * whose end is its own. TM_NO_MEMORY, TM_TOO_MANY: it greets still. */
int tm_switch_admit(tm_switch *sw, uint32_t connection, const tm_admission *admission);

/* The subscriber that a connection serves; TM_SUBSCRIBER_NONE: none. */
uint32_t tm_switch_subscriber_of(const tm_switch *sw, uint32_t connection);
/* The number of the keep that a subscriber is; 0: it is none. */
uint32_t tm_switch_keep_of(const tm_switch *sw, uint32_t subscriber);

/* A subscriber without a connection, on the terms of an admission that is no link's: TM_OK, TM_NO_MEMORY or
 * TM_TOO_MANY. It may subscribe, and frames wait for it up to its queue_bytes_max, with its policy where no more fit
 * (nobody is there to be disconnected: as drop-newest). It is kept until tm_switch_subscriber_free. */
int tm_switch_subscriber_new(tm_switch *sw, const tm_admission *admission, uint32_t *subscriber);
/* The end of its connection is not that of the subscriber any more: frames that wait then, but for one that is partly
 * sent, wait for the next connection. TM_NO_MEMORY: it is as it was. */
int tm_switch_keep(tm_switch *sw, uint32_t subscriber);
/* As tm_switch_admit, for a client whose subscriber there is, without a connection: what waits for it goes out behind
 * what is queued. The terms are those of `admission` from here on; its number must be the subscriber's, its
 * frame_bytes_max not less than before. */
int tm_switch_attach(tm_switch *sw, uint32_t connection, const tm_admission *admission, uint32_t subscriber);
/* The end of one without a connection: as tm_switch_forget. */
int tm_switch_subscriber_free(tm_switch *sw, uint32_t subscriber, uint32_t steps, uint32_t *left);

#define TM_LANE_ORDERED 0 /* behind what is queued */
#define TM_LANE_URGENT 1  /* at the next frame boundary */

/* Queue whole frames for a connection (copied) and try to send. TM_TOO_MANY: past what may wait; nothing is queued. */
int tm_switch_send(tm_switch *sw, uint32_t connection, const uint8_t *frames, size_t size, int lane);

/* Read nothing more, send what is queued, then close the socket; TM_EVENT_CLOSED follows. `now`: throw the queue away.
 */
int tm_switch_close(tm_switch *sw, uint32_t connection, bool now);

/* The peer of a fed connection has gone: as tm_switch_close with `now`, and of what keeps have given it the first
 * message has failed once. */
int tm_switch_lose(tm_switch *sw, uint32_t connection);

/* Stop or go on reading. */
int tm_switch_pause(tm_switch *sw, uint32_t connection, bool paused);

/* After TM_EVENT_CLOSED: drop at most `steps` filters of its subscriber, for a few milliseconds. When `*left` is 0 both
 * ids are free to be given out. */
int tm_switch_forget(tm_switch *sw, uint32_t connection, uint32_t steps, uint32_t *left);

/* The highest counter of a message that is known of a publisher, if it is not too far ahead; 0: none. */
uint64_t tm_switch_newest(const tm_switch *sw, uint64_t publisher);

/* New publishes of all clients are refused as DRAINING. */
void tm_switch_drain(tm_switch *sw, bool draining);

/* ---- what goes up ---- */

#define TM_EVENT_FRAME 0 /* a control frame: `frame`, `size` bytes */
/* The peer broke the rules: `code` of wire.md, frame `kind`; nothing more is read. Send an ERROR and close, unless the
 * code is not fatal. */
#define TM_EVENT_FAULT 1
#define TM_EVENT_CLOSED 2 /* the socket is gone; `code` an errno, or 0 for an orderly end */
#define TM_EVENT_SILENT 3 /* nothing came for its hold_ms */
#define TM_EVENT_SLOW 4   /* its queue is full and its policy is to disconnect */
#define TM_EVENT_OUTPUT 5 /* of a connection without a socket: there is output to fetch */
/* A data frame from a link whose source has no route in some generation: set it, then hand the frame in again with
 * tm_switch_retake; or let it go. */
#define TM_EVENT_UNROUTED 6
#define TM_EVENT_TRACED 7 /* what became of a message with a trace id: `frame` is a tm_trace */
/* A delivery went wrong on purpose: `frame` is the message's header, `code` who else got it. */
#define TM_EVENT_PLANTED 8
#define TM_EVENT_WAITS 9    /* of a connection without a socket: it is to be fed no more */
#define TM_EVENT_GOES_ON 10 /* the same: it may be fed again */

typedef struct tm_event {
    const uint8_t *frame; /* `size` bytes, borrowed until the next call to the switch */
    const char *text;     /* TM_EVENT_FAULT: what is wrong; static */
    uint32_t size;
    uint32_t connection;
    uint32_t code;
    uint8_t type; /* TM_EVENT_* */
    uint8_t kind;
} tm_event;

/* Serve the sockets that are ready, for about `budget_us`; returns what goes up in `*events` (borrowed until the next
 * call to the switch). Never blocks. */
int tm_switch_poll(tm_switch *sw, uint32_t budget_us, const tm_event **events, size_t *count);

/* Take bytes that arrived for a connection without a socket, as tm_switch_poll takes those of a socket; returns what it
 * returns. */
int tm_switch_feed(tm_switch *sw, uint32_t connection, const uint8_t *bytes, size_t size, const tm_event **events,
                   size_t *count);
/* What a connection without a socket has to send: `*size` bytes at `*bytes`, borrowed until the next call. */
int tm_switch_output(tm_switch *sw, uint32_t connection, const uint8_t **bytes, size_t *size);
int tm_switch_sent(tm_switch *sw, uint32_t connection, size_t size);

/* What time alone brings: PINGs, silence, credit that was withheld, buffers given back. Call it about ten times a
 * second. */
int tm_switch_tick(tm_switch *sw, const tm_event **events, size_t *count);

/* What happens to a publish that asks for a confirmation while a linked neighbour lacks something. */
#define TM_STEP_IN 0     /* none does: it is taken */
#define TM_STEP_WAIT 1   /* its connection is not read any more, and the publish taken later; plain ones go on */
#define TM_STEP_REFUSE 2 /* it is refused as NOT_IN_STEP */
int tm_switch_step(tm_switch *sw, int step);
/* After any other than TM_STEP_WAIT, or a drain: go on with connections that wait, for about `budget_us`; `*left` of
 * them wait still. */
int tm_switch_resume(tm_switch *sw, uint32_t budget_us, uint32_t *left, const tm_event **events, size_t *count);

#define TM_PLANT_NONE 0
#define TM_PLANT_DROP 1   /* a delivery is left out */
#define TM_PLANT_TWICE 2  /* is made twice */
#define TM_PLANT_ASTRAY 3 /* goes to another client */

/* ---- spaces ---- */

#define TM_SPACES_MAX 256
#define TM_SPACE_ATTRIBUTES_MAX 63 /* of one space: each has a bit, and one attribute names the space */
#define TM_SPACE_VALUES_MAX 256    /* of one ordered enumeration */

/* Why an attribute does not fit; the numbers of protocol/spaces/domains.py. */
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

/* From now on a message of a client that names one of these spaces (packed by native/spaces.py, copied) is refused
 * unless it fits; those that the switch had are forgotten, and with `size` 0 there are none. TM_MALFORMED,
 * TM_NO_MEMORY: nothing has changed. */
int tm_switch_spaces(tm_switch *sw, const uint8_t *packed, size_t size);
/* What became of messages of the space with this number, which is its place; TM_ABSENT: there is none. */
int tm_switch_space(const tm_switch *sw, uint32_t number, tm_space_stats *out);

/* For tests of those who look for such bugs: from now on each `every`th delivery goes wrong, and is told. */
int tm_switch_plant(tm_switch *sw, uint32_t bug, uint64_t every);

/* ---- subscriptions ---- */

typedef struct tm_refusal {
    uint32_t id;     /* of the subscription */
    uint32_t offset; /* in the frame, of the packed filter that is at fault, and its size; 0: none is */
    uint32_t size;
    uint16_t code; /* refusal code of wire.md */
} tm_refusal;

/* A SUBSCRIBE frame being worked through: fill it with tm_subscribe_open, then call tm_subscribe_some until it says
 * that none are left. All of it is the caller's; the frame stays where it is. */
typedef struct tm_subscribe {
    const uint8_t *frame; /* borrowed */
    uint32_t size;
    uint32_t at;   /* offset of the next subscription */
    uint32_t left; /* subscriptions to come */
    uint32_t request;
    uint32_t count; /* subscriptions in all */
    uint8_t own_messages;
    uint8_t wait;
    uint8_t durable;
    const uint8_t *group;  /* borrowed: the name of the group that shares the messages */
    uint32_t group_size;   /* 0: there is none */
    uint32_t group_number; /* of that name between routers, which the caller writes; 0: unknown, and no message of
                              another router is for the group */
} tm_subscribe;

/* TM_OK, TM_MALFORMED, or TM_TOO_MANY where a count or a size is past its limit. */
int tm_subscribe_open(const uint8_t *frame, size_t size, tm_subscribe *out);
/* Take subscriptions until about `filters` filters or 16 KiB of them were added, or all is done; one at least. The
 * refused go to `refusals`, which has room for `count` of them (as many as the frame has subscriptions is always
 * enough); `*refused` counts them. */
int tm_subscribe_some(tm_switch *sw, uint32_t subscriber, tm_subscribe *subscribe, uint32_t filters,
                      tm_refusal *refusals, uint32_t count, uint32_t *refused);
/* TM_ABSENT: the subscriber has no such subscription. */
int tm_switch_unsubscribe(tm_switch *sw, uint32_t subscriber, uint32_t id);

/* One subscribed filter. */
typedef struct tm_subscribed {
    const uint8_t *filter; /* packed; borrowed until the table changes */
    uint32_t size;
    uint32_t handle;
    uint32_t subscriber;
    uint32_t connection; /* of the subscriber, or TM_CONNECTION_NONE */
    uint32_t subscription;
    uint32_t keep; /* that the subscriber is; 0: it is a client */
    uint8_t own_messages;
} tm_subscribed;

/* The filter with the lowest handle from `handle` on; TM_ABSENT: there are no more. */
int tm_switch_subscribed(const tm_switch *sw, uint32_t handle, tm_subscribed *out);

/* ---- the client's side: DELIVER frames ---- */

/* Walk the frames at the beginning of `bytes` as long as each is a whole, sound DELIVER frame that satisfies one
 * subscription and says nothing else of itself (SATISFIED with one id is its only extension), or is one of a keep
 * (SATISFIED with one id, LOG_POSITION, DELIVERIES): nearly all are. ends[i] is where frame i ends, ids[i] the
 * subscription or attachment, positions[i] the position, 0 of one that is of no keep. Stops before the first other
 * frame, after `capacity` (the room of each of the three), or past `size`, which is at most UINT32_MAX. Returns how
 * many; never fails. Attributes are not looked into. */
size_t tm_deliveries_walk(const uint8_t *bytes, size_t size, uint32_t *ends, uint32_t *ids, uint64_t *positions,
                          size_t capacity);
