/* tm_figures_api.h - what the switch says of itself and of messages: counters, losses, traces, what nobody wanted.
 *
 * Law: that of tm_api.h. It stands on tm_switch_api.h, and cffi reads it as it is, too.
 */

/* ---- counters ---- */

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
#define TM_LINK_DROP_ROWS 64
typedef struct tm_link_drops {
    uint64_t neighbour; /* its number: somebody behind it; 0: anybody, clients of this router too */
    uint64_t source;    /* number of the router where they entered; 0: of several */
    uint64_t messages;
    uint64_t bytes;
    uint16_t reason; /* loss reason of wire.md */
} tm_link_drops;

/* Those since this was last asked, at most TM_LINK_DROP_ROWS, which `out` has room for; returns how many. */
uint32_t tm_switch_link_drops(tm_switch *sw, tm_link_drops *out);

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

/* ---- traces ---- */

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
