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
#define TM_MISFIT_NONE 0
#define TM_MISFIT_MISSING 1
#define TM_MISFIT_UNDECLARED 2
#define TM_MISFIT_KIND 3
#define TM_MISFIT_OUTSIDE 4
#define TM_MISFIT_TOO_FINE 5
#define TM_MISFIT_NOT_LISTED 6
#define TM_MISFIT_NO_SPACE 7

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

/* ---- other routers ---- */

/* What the others want is a second table, whose interfaces are routers; where they are is in the routes. Neither knows
 * of the other: a change of topology touches no filter. Routers go by their number, which is never 0. */

#define TM_ROUTERS_MAX 65536   /* that a switch knows at a time */
#define TM_NEIGHBOURS_MAX 1024 /* as many as an LSA can list */

/* By which messages go between routers (switch/forward.h). */
#define TM_FORWARD_WANTED 0       /* where the table knows somebody who wants them */
#define TM_FORWARD_FLOOD 1        /* the same, without asking the table while each router wants everything or nothing */
#define TM_FORWARD_MATCH_FIRST 2  /* matched where they enter: they list the routers they go to, if these are few */
#define TM_FORWARD_DESTINATIONS 3 /* matched where they enter: they carry the set of routers that want them */
#define TM_FORWARD_BY_ROOT 4      /* along the tree of the root of their class, which they name where they enter */
#define TM_FORWARDINGS 5
#define TM_ROUTE_ROUTERS 32 /* routers that TM_FORWARD_MATCH_FIRST lists until it is told otherwise */
#define TM_ROUTE_ROUTERS_MAX 64
#define TM_ROUTE_SET_ROUTERS_MAX 4096 /* that a set counts */
#define TM_DIGEST_BYTES 16
#define TM_CLASSES_MAX 64 /* of messages, those in none apart */

/* The switch is one of several from here on. It borrows `network`, an empty table, whose handles it alone gives out.
 * `sources_max`: routers whose messages in transit are remembered (8 KiB each), the one quiet longest going first.
 * `forwarding` is one of TM_FORWARD_*, for good. */
int tm_switch_join(tm_switch *sw, tm_table *network, uint32_t sources_max, uint32_t forwarding);
/* A message for more routers than this, 1 to TM_ROUTE_ROUTERS_MAX, lists none: it is matched at each hop. */
int tm_switch_list_routers(tm_switch *sw, uint32_t destinations_max);
/* What the network table holds, for TM_FORWARD_DESTINATIONS: `digest` (TM_DIGEST_BYTES) is that over what `routers`
 * want, this one among them, whose numbers ascend (copied; NULL: those before). NULL for the digest: the table is about
 * to change, or does not hold all of it, so no set is written or believed, as at first. TM_OK, TM_NO_MEMORY or (more
 * than TM_ROUTE_SET_ROUTERS_MAX, or in no order) TM_MISUSED: none is, either. */
int tm_switch_tables(tm_switch *sw, const uint8_t *digest, const uint64_t *routers, size_t count);
/* Classes of messages, for TM_FORWARD_BY_ROOT, once: the filters of class i are those of interface i of `classes`, of
 * `count`. The switch borrows that table, whose filters are there and do not change any more. A message
 * is of the first class that it satisfies a filter of. */
int tm_switch_classify(tm_switch *sw, tm_table *classes, uint32_t count);
/* The number of the root of each class from now on, and behind them that of messages in no class (copied); `count` 0:
 * none is known, so messages go by the trees of their sources, as at first. */
int tm_switch_roots(tm_switch *sw, const uint64_t *roots, size_t count);
/* The tree of messages that enter here, for TM_FORWARD_DESTINATIONS: they come to routers[i] by before[i], another of
 * `routers`, which ascend, or this one (both copied). From then on a message gets a set where that costs all routers
 * together less, by what this one measures; without a tree (`count` 0), as at first, each one does. TM_OK; without a
 * tree TM_NO_MEMORY or (more than TM_ROUTE_SET_ROUTERS_MAX, or in no order) TM_MISUSED. */
int tm_switch_tree(tm_switch *sw, const uint64_t *routers, const uint64_t *before, size_t count);
/* Messages that enter here are stamped with this epoch from now on, and counted from 1 again. */
void tm_switch_raise_epoch(tm_switch *sw, uint64_t epoch);
/* Messages of later epochs of their sources are not taken; UINT64_MAX at first. */
void tm_switch_bound_epochs(tm_switch *sw, uint64_t epoch_max);
/* Nothing is known of a router any more: its next life may count its messages anew, from any epoch on. */
void tm_switch_forget_source(tm_switch *sw, uint64_t router);
/* For messages of one source this takes the place of that bound, until it is bounded anew or forgotten; UINT64_MAX: it
 * has none of its own. What was taken of later epochs is forgotten. TM_OK, TM_NO_MEMORY, TM_TOO_MANY or TM_MISUSED. */
int tm_switch_bound_source(tm_switch *sw, uint64_t router, uint64_t epoch_max);

/* Is each filter of wire form bytes[offsets[i] .. offsets[i+1]) one? results[i] says as tm_table_add would;
 * TM_NO_MEMORY if nothing could be looked at. */
int tm_filters_check(const uint8_t *bytes, const uint64_t *offsets, size_t count, uint8_t *results);

/* Install filters of a router under the ids that it gave them: filter i is bytes[offsets[i] .. offsets[i+1]) (copied).
 * results[i] says as tm_table_add does, or TM_MISUSED where the id is in use; the others are installed all the same.
 * TM_NO_MEMORY or TM_TOO_MANY: the router is one too many. */
int tm_switch_install(tm_switch *sw, uint64_t router, const uint8_t *bytes, const uint64_t *offsets,
                      const uint64_t *ids, size_t count, uint8_t *results);
/* results[i] is TM_OK, or TM_ABSENT where the router has no filter of that id. */
/* Of a filter of a worker group: the number of the group, and how many members want it; neither is 0. */
typedef struct tm_shared_filter {
    uint32_t group;
    uint32_t members;
} tm_shared_filter;
/* Hold filters of worker groups in `shared`, an empty table that the switch takes over; they are matched apart. Once,
 * after tm_switch_join; without it no such filter is installed. */
int tm_switch_share(tm_switch *sw, tm_table *shared);
/* Install filters of worker groups as tm_switch_install does others; rows[i] says what filter i is. Ids of a router
 * differ from those of its other filters, which is not looked at. */
int tm_switch_install_shared(tm_switch *sw, uint64_t router, const uint8_t *bytes, const uint64_t *offsets,
                             const uint64_t *ids, const tm_shared_filter *rows, size_t count, uint8_t *results);
/* Of both kinds. */
int tm_switch_uninstall(tm_switch *sw, uint64_t router, const uint64_t *ids, size_t count, uint8_t *results);
/* Uninstall at most `steps` filters of a router; `*left` says how many remain. */
int tm_switch_forget_router(tm_switch *sw, uint64_t router, uint32_t steps, uint32_t *left);
/* Write the numbers of the routers by the interface of their filters in the network table, 0 where an interface is
 * free: `capacity` of them at most. `*count` says how many there are. */
int tm_switch_router_numbers(const tm_switch *sw, uint64_t *numbers, uint32_t capacity, uint32_t *count);

/* A new generation of routes, to be filled by tm_switch_route and put in force by tm_switch_commit; `*generation` names
 * it. One that was not put in force is thrown away. `hop_limit`, from 1, is stamped where a message enters. */
int tm_switch_begin_routes(tm_switch *sw, uint8_t hop_limit, uint32_t *generation);
/* Set (or replace) the route of a source in a generation that is in force or to be: `parent` is the neighbour from
 * which its messages are taken (0: none), and router issuers[i] lies behind neighbour children[i]. This router is the
 * source of what enters here. TM_ABSENT: no such generation any more. */
int tm_switch_route(tm_switch *sw, uint32_t generation, uint64_t source, uint64_t parent, const uint64_t *issuers,
                    const uint64_t *children, size_t count);
/* The same for the tree of a root, along which messages of any source go that name it: router routers[i] lies on the
 * tree behind neighbour ways[i], so messages of it come from there, and all go towards the root. */
int tm_switch_route_tree(tm_switch *sw, uint32_t generation, uint64_t root, const uint64_t *routers,
                         const uint64_t *ways, size_t way_count, const uint64_t *issuers, const uint64_t *children,
                         size_t count);
/* In force from now on; the one before it for `hold_ms` more, four generations at most. For `wait_ms` messages that
 * come by the new way of their source wait for those by an earlier one; 0 where an earlier way has broken. */
int tm_switch_commit(tm_switch *sw, uint32_t hold_ms, uint32_t wait_ms);

/* The frame of a TM_EVENT_UNROUTED once more; what it causes goes up later. Without a route still, it is dropped. */
int tm_switch_retake(tm_switch *sw, uint32_t connection, const uint8_t *frame, size_t size);

/* What happened to a message with a trace id, or to a dry run. Behind it stand five lists of tm_trace_row: */
#define TM_TRACE_LISTS 5
#define TM_TRACE_SATISFIED 0 /* (client, subscription id) that the message satisfies, or would */
#define TM_TRACE_MATCHED 1   /* (router, filter id) of one matching filter of each router that it is sent on to */
#define TM_TRACE_LINKS 2     /* (neighbour, its connection) it was queued for */
#define TM_TRACE_CLIENTS 3   /* (client, its connection) it was queued for */
#define TM_TRACE_KEEPS 4     /* (keep, 0) that has it, or would */
#define TM_TRACE_ROWS 256    /* of each list, at most; counts go on */
#define TM_TRACE_NOT_DROPPED 255
#define TM_TRACE_UNTRACED 254 /* its publisher has asked for too many traces: the message went on without its trace */

typedef struct tm_trace_row {
    uint64_t number;
    uint64_t id;
} tm_trace_row;

typedef struct tm_trace {
    uint64_t trace;
    uint64_t source; /* number of the router where it entered */
    uint64_t came_from;
    uint64_t arrived_ns; /* Unix time */
    uint64_t match_ns;
    uint64_t queued_ns; /* Unix time */
    uint32_t counts[TM_TRACE_LISTS];
    uint32_t rows[TM_TRACE_LISTS]; /* how many stand behind */
    uint8_t hop_limit;             /* as it arrived */
    uint8_t reason;                /* TM_DROP_*, or TM_TRACE_NOT_DROPPED */
    uint8_t is_dry;
} tm_trace;

/* ---- figures ---- */

#define TM_DROP_REASONS 22
#define TM_DROP_QUEUE_FULL 0 /* the receiver's queue was full, newest or oldest */
#define TM_DROP_TOO_LARGE 1  /* for the receiver's frame_bytes_max */
#define TM_DROP_EXPIRED 2
#define TM_DROP_DUPLICATE 3 /* the publisher sent it before */
#define TM_DROP_DRAINING 4
#define TM_DROP_UNMATCHED 5      /* no subscription wanted it */
#define TM_DROP_EXTENSION 6      /* an extension that must be understood */
#define TM_DROP_CLOSED 7         /* queued for a connection that ended */
#define TM_DROP_MEMORY 8         /* no memory for the queue */
#define TM_DROP_HOPS 9           /* no hop left */
#define TM_DROP_PARENT 10        /* from a neighbour that is no parent in the tree of its source */
#define TM_DROP_TRANSIT 11       /* came this way before */
#define TM_DROP_NO_ROUTE 12      /* from a source that nobody has set a route for */
#define TM_DROP_NO_LINK 13       /* for a neighbour that has no link just now */
#define TM_DROP_TOO_OLD 14       /* its counter is older than what is remembered of its publisher */
#define TM_DROP_TOO_FAR_AHEAD 15 /* its counter is more than a day ahead of the clock */
#define TM_DROP_NOT_IN_STEP 16   /* it asked for a confirmation, and a neighbour that is linked lacks something */
#define TM_DROP_COSTLY 17        /* matching it took more than match_steps: it is for nobody */
#define TM_DROP_EPOCH 18         /* of an epoch of its source that is not believed */
#define TM_DROP_NO_MEMBER 19     /* this router was chosen for a worker group, and no router in reach has a member */
#define TM_DROP_SPACE 20         /* it does not fit the space that it names */
#define TM_DROP_NOT_KEPT 21      /* refused, as a keep that wants it lacks it, or this router keeps nothing */

#define TM_MATCH_BUCKETS 24 /* bucket i: sampled matches of less than 2^(i + 6) ns, the last one all others */

typedef struct tm_switch_stats {
    uint64_t messages_in; /* well-formed */
    uint64_t bytes_in;    /* of everything received */
    uint64_t deliveries;  /* frames queued for clients */
    uint64_t forwarded;   /* frames queued for links */
    uint64_t bytes_out;   /* sent */
    uint64_t dropped[TM_DROP_REASONS];
    uint64_t drop_bytes[TM_DROP_REASONS];
    uint64_t faults;
    uint64_t traces_refused;             /* traces and dry runs past what a client may ask for */
    uint64_t match_ns[TM_MATCH_BUCKETS]; /* one match in 256 is timed */
    uint64_t match_ns_sum;
    uint64_t matches_timed;
    uint64_t steps;         /* of all messages, in all tables and plans (tm_stats) */
    uint64_t sets_written;  /* messages that entered here and got the set of routers that want them */
    uint64_t sets_believed; /* messages that went on by the set that they brought, without a match */
    uint64_t sets_stale;    /* that brought one and were matched, as it was made of other tables */
    uint64_t memory_bytes;  /* the table apart */
    uint64_t queued_bytes;  /* in all queues */
    uint32_t connections;   /* with a socket, or fed */
    uint32_t subscriptions;
    uint32_t filters;
    uint32_t publishers;     /* remembered */
    uint32_t routers;        /* that are spoken of, this one included */
    uint32_t remote_filters; /* of routers */
    uint32_t generations;    /* of routes, in force */
} tm_switch_stats;

void tm_switch_figures(const tm_switch *sw, tm_switch_stats *out);

typedef struct tm_connection_stats {
    uint64_t number;
    uint64_t messages_in;
    uint64_t bytes_in;
    uint64_t deliveries;
    uint64_t bytes_out;
    uint64_t dropped; /* frames lost to its queue, whatever the reason */
    uint64_t queued_bytes;
    uint64_t queued_peak; /* the most that ever waited */
    uint64_t table_bytes; /* of its filters */
    uint32_t subscriptions;
    uint32_t filters;
    uint32_t silent_ms; /* since a byte came */
    uint8_t state;      /* 0 free, 1 greeting, 2 open, 3 closing, 4 closed */
    uint8_t is_blocked; /* its credit is withheld */
} tm_connection_stats;

int tm_switch_connection(const tm_switch *sw, uint32_t connection, tm_connection_stats *out);
/* The sums over all connections that serve a client and have not ended; what is no sum is 0. */
void tm_switch_clients(const tm_switch *sw, tm_connection_stats *out);

typedef struct tm_subscriber_stats {
    uint64_t number; /* of the client's name */
    uint64_t queued_bytes;
    uint64_t table_bytes; /* of its filters */
    uint64_t dropped;     /* frames lost to its queue, whatever the reason */
    uint32_t subscriptions;
    uint32_t filters;
    uint32_t connection; /* that it is served by, or TM_CONNECTION_NONE */
} tm_subscriber_stats;

int tm_switch_subscriber(const tm_switch *sw, uint32_t subscriber, tm_subscriber_stats *out);

/* What a connection's counters have gained since they were last asked for. */
typedef struct tm_increment {
    uint64_t messages_in;
    uint64_t messages_out; /* queued */
    uint64_t bytes_in;
    uint64_t bytes_out;
    uint64_t queued_bytes; /* now */
    uint32_t connection;
    uint32_t dropped[TM_DROP_REASONS]; /* meant for it */
    uint32_t refused[TM_DROP_REASONS]; /* came by it and went no further */
} tm_increment;

/* Of the connections from `*first` to before `end` that have gained anything, at most `capacity`, in `out`; `*first`
 * is where to go on, `end` or past the last connection when all are done. */
int tm_switch_increments(tm_switch *sw, uint32_t *first, uint32_t end, tm_increment *out, size_t capacity,
                         size_t *count);

/* Messages for a neighbour that had no link just then. */
typedef struct tm_unlinked {
    uint64_t neighbour; /* its number */
    uint64_t messages;
} tm_unlinked;

/* Those since this was last asked for, of at most `capacity` neighbours; 0 in `*count`: of no more. */
int tm_switch_unlinked(tm_switch *sw, tm_unlinked *out, size_t capacity, size_t *count);

/* Messages that were dropped between routers, by whom they are missed. */
#define TM_SHED_ROWS 64
typedef struct tm_shed {
    uint64_t neighbour; /* its number: somebody behind it; 0: anybody, clients of this router too */
    uint64_t source;    /* number of the router where they entered; 0: of several */
    uint64_t messages;
    uint64_t bytes;
    uint16_t reason; /* loss reason of wire.md */
} tm_shed;

/* Those since this was last asked, at most TM_SHED_ROWS, which `out` has room for; returns how many. */
uint32_t tm_switch_shed(tm_switch *sw, tm_shed *out);

/* A neighbour's clock beside this router's, by the heartbeat with the shortest round trip since this was last asked;
 * TM_ABSENT: there was none. Heartbeats go each second where messages are recorded. */
int tm_switch_clock(tm_switch *sw, uint32_t connection, int64_t *offset_us, uint64_t *round_trip_us);

/* TM_OK if every invariant of the switch holds; otherwise TM_MISUSED and `*reason` (static text). */
int tm_switch_validate(const tm_switch *sw, const char **reason);
/* As tm_table_fail_allocation. */
void tm_switch_fail_allocation(tm_switch *sw, uint64_t n);
/* Let the clock of the switch run ahead by so much more: for tests. */
void tm_switch_advance(tm_switch *sw, uint64_t ms);

/* ---- messages that nobody wanted ---- */

/* A message that entered here and that neither a client nor another router asked for. Its payload is not kept. */
typedef struct tm_unmatched {
    uint64_t n; /* from 1 on, in the order they came; a number that is missing is not kept any more */
    uint64_t t_ns;
    uint64_t origin;
    uint64_t number;
    const uint8_t *attributes; /* packed; borrowed until the next call to the switch */
    uint32_t attribute_bytes;
    uint32_t payload_bytes;
    uint32_t connection; /* from which it came; by now it may be another's */
} tm_unmatched;

#define TM_UNMATCHED_BYTES_MIN 65536

/* Keep the latest messages that nobody wanted in `bytes` bytes, a multiple of 8 and TM_UNMATCHED_BYTES_MIN at least; 0:
 * none. They are those whose mix (records.h) is below `share`; UINT64_MAX: all. What was kept is forgotten if `bytes`
 * differs. TM_NO_MEMORY: it is as it was. */
int tm_switch_keep_unmatched(tm_switch *sw, uint64_t share, uint32_t bytes);
/* Those that are kept with a number above `after`, the oldest first, `capacity` of them at most. Returns the number of
 * the latest that was sampled, kept or not. */
uint64_t tm_switch_unmatched(const tm_switch *sw, uint64_t after, tm_unmatched *rows, uint32_t capacity,
                             uint32_t *count);

/* ---- the client's side: DELIVER frames ---- */

/* Walk the frames at the beginning of `bytes` as long as each is a whole, sound DELIVER frame that satisfies one
 * subscription and says nothing else of itself (SATISFIED with one id is its only extension), or is one of a keep
 * (SATISFIED with one id, LOG_POSITION, DELIVERIES): nearly all are. ends[i] is where frame i ends, ids[i] the
 * subscription or attachment, positions[i] the position, 0 of one that is of no keep. Stops before the first other
 * frame, after `capacity` (the room of each of the three), or past `size`, which is at most UINT32_MAX. Returns how
 * many; never fails. Attributes are not looked into. */
size_t tm_deliveries_walk(const uint8_t *bytes, size_t size, uint32_t *ends, uint32_t *ids, uint64_t *positions,
                          size_t capacity);
