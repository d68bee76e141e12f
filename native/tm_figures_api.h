/* tm_figures_api.h - figures of the switch and of messages: counters, losses, traces, unmatched messages.
 *
 * Law: that of tm_api.h. It builds on tm_switch_api.h, and cffi reads it unchanged.
 */

/* ---- counters ---- */

#define TM_DROP_REASONS 24
#define TM_DROP_QUEUE_FULL 0 /* the receiver's queue was full; newest or oldest */
#define TM_DROP_TOO_LARGE 1  /* longer than the receiver's frame_bytes_max */
#define TM_DROP_EXPIRED 2
#define TM_DROP_DUPLICATE 3 /* the publisher sent it before */
#define TM_DROP_DRAINING 4
#define TM_DROP_UNMATCHED 5      /* no subscription matched it */
#define TM_DROP_EXTENSION 6      /* unknown extension that must be understood */
#define TM_DROP_CLOSED 7         /* queued for a connection that ended */
#define TM_DROP_MEMORY 8         /* no memory for the queue */
#define TM_DROP_HOPS 9           /* no hop was left */
#define TM_DROP_PARENT 10        /* from a neighbour that is no parent in the tree of its source */
#define TM_DROP_TRANSIT 11       /* arrived before on this path */
#define TM_DROP_NO_ROUTE 12      /* its source has no route */
#define TM_DROP_NO_LINK 13       /* its neighbour had no link */
#define TM_DROP_TOO_OLD 14       /* its counter is older than the remembered window of its publisher */
#define TM_DROP_TOO_FAR_AHEAD 15 /* its counter is more than a day ahead of the clock */
#define TM_DROP_NOT_IN_STEP 16   /* confirmed publish while this router and its neighbours are not in step */
#define TM_DROP_COSTLY 17        /* matching exceeded match_steps: no receiver gets it */
#define TM_DROP_EPOCH 18         /* its source's epoch was rejected */
#define TM_DROP_NO_MEMBER 19     /* chosen for a worker group that has no member at any reachable router */
#define TM_DROP_SPACE 20         /* violates the space that it names */
#define TM_DROP_NOT_STORED 21    /* a durable subscription lacks it, or this router stores nothing */
#define TM_DROP_NOT_ALLOWED 22   /* the rules do not let it enter from its client, or a border over its link */
#define TM_DROP_DIRECTED 23      /* a DIRECTED that cannot go on: its entry router sends it again */

#define TM_MATCH_BUCKETS 24 /* bucket i: sampled matches of less than 2^(i + 6) ns; the last one: all others */

typedef struct tm_switch_stats {
    uint64_t messages_in; /* well-formed */
    uint64_t bytes_in;    /* of everything received */
    uint64_t deliveries;  /* frames queued for clients */
    uint64_t forwarded;   /* frames queued for links */
    uint64_t bytes_out;   /* sent */
    uint64_t dropped[TM_DROP_REASONS];
    uint64_t drop_bytes[TM_DROP_REASONS];
    uint64_t faults;
    uint64_t traces_refused;             /* traces and dry runs past a client's rate */
    uint64_t match_ns[TM_MATCH_BUCKETS]; /* one match in 256 is timed */
    uint64_t match_ns_sum;
    uint64_t matches_timed;
    uint64_t steps;         /* of all messages, in all tables and plans (tm_stats) */
    uint64_t sets_written;  /* messages that entered here and got the set of matching routers */
    uint64_t sets_believed; /* messages that were forwarded by their set, without a match */
    uint64_t sets_stale;    /* messages with a set that were matched, because other tables made it */
    uint64_t keys_written;  /* messages that were matched here for keys, which their copies got */
    uint64_t keys_believed; /* messages of which at least one copy was sent by keys, without a match */
    uint64_t keys_stale;    /* messages with keys that were matched for all links, because other tables made them */
    uint64_t in_vain;       /* messages from links for which neither this router nor one behind it had a filter */
    uint64_t residual_candidates;  /* messages that a residual program was asked about, for each program */
    uint64_t residual_passed;      /* those that it let pass */
    uint64_t residual_over_budget; /* those that it had too few steps for */
    uint64_t memory_bytes;         /* without the table */
    uint64_t queued_bytes;         /* in all queues */
    uint32_t connections;          /* with or without a socket */
    uint32_t subscriptions;
    uint32_t filters;
    uint32_t publishers;     /* remembered */
    uint32_t routers;        /* in use, this one included */
    uint32_t remote_filters; /* filters of other routers */
    uint32_t generations;    /* of routes, in force */
} tm_switch_stats;

/* Return the counters of the switch. */
void tm_switch_figures(const tm_switch *sw, tm_switch_stats *out);

typedef struct tm_connection_stats {
    uint64_t number;
    uint64_t messages_in;
    uint64_t bytes_in;
    uint64_t deliveries;
    uint64_t bytes_out;
    uint64_t dropped; /* frames lost to its queue, for any reason */
    uint64_t queued_bytes;
    uint64_t queued_peak; /* most bytes that ever waited */
    uint64_t table_bytes; /* of its filters */
    uint32_t subscriptions;
    uint32_t filters;
    uint32_t silent_ms; /* since bytes were received */
    uint8_t state;      /* 0 free, 1 greeting, 2 open, 3 closing, 4 closed */
    uint8_t is_blocked; /* true if its credit is withheld */
} tm_connection_stats;

/* Return the counters of a connection. TM_ABSENT: there is none of this id. */
int tm_switch_connection(const tm_switch *sw, uint32_t connection, tm_connection_stats *out);
/* Sum the counters of all connections that serve a client and have not ended; fields that are no sums are 0. */
void tm_switch_clients(const tm_switch *sw, tm_connection_stats *out);

typedef struct tm_subscriber_stats {
    uint64_t number; /* of the client's name */
    uint64_t queued_bytes;
    uint64_t table_bytes; /* of its filters */
    uint64_t dropped;     /* frames lost to its queue, for any reason */
    uint32_t subscriptions;
    uint32_t filters;
    uint32_t connection; /* the one that serves it, or TM_CONNECTION_NONE */
} tm_subscriber_stats;

/* Return the counters of a subscriber. TM_ABSENT: there is none of this id. */
int tm_switch_subscriber(const tm_switch *sw, uint32_t subscriber, tm_subscriber_stats *out);

/* Counters that a connection has gained since the last query. */
typedef struct tm_increment {
    uint64_t messages_in;
    uint64_t messages_out; /* queued */
    uint64_t bytes_in;
    uint64_t bytes_out;
    uint64_t queued_bytes; /* current value */
    uint32_t connection;
    uint32_t dropped[TM_DROP_REASONS]; /* meant for this connection */
    uint32_t refused[TM_DROP_REASONS]; /* received by it and dropped */
} tm_increment;

/* Write the connections from `*first` to before `end` that have gained anything to `out`, at most `capacity`; `*first`
 * is the next one to query, at least `end` or past the last connection when all are done. */
int tm_switch_increments(tm_switch *sw, uint32_t *first, uint32_t end, tm_increment *out, size_t capacity,
                         size_t *count);

/* Messages for a neighbour that had no link. */
typedef struct tm_unlinked {
    uint64_t neighbour; /* its number */
    uint64_t messages;
} tm_unlinked;

/* Return those since the last query, of at most `capacity` neighbours; `*count` is 0 when none are left. */
int tm_switch_unlinked(tm_switch *sw, tm_unlinked *out, size_t capacity, size_t *count);

/* Messages dropped between routers, by the routers that miss them. */
#define TM_LINK_DROP_ROWS 64
typedef struct tm_link_drops {
    uint64_t neighbour; /* number of the neighbour towards the losers; 0: any router, this one included */
    uint64_t source;    /* number of the router where they entered; 0: several */
    uint64_t messages;
    uint64_t bytes;
    uint16_t reason; /* loss reason of wire.md */
} tm_link_drops;

/* Write the drops since the last query to `out`, which has room for TM_LINK_DROP_ROWS; returns the number of rows. */
uint32_t tm_switch_link_drops(tm_switch *sw, tm_link_drops *out);

/* Return a neighbour's clock offset, by the heartbeat with the shortest round trip since the last query; TM_ABSENT:
 * there was none. While messages are recorded, heartbeats leave each second. */
int tm_switch_clock(tm_switch *sw, uint32_t connection, int64_t *offset_us, uint64_t *round_trip_us);

/* Check every invariant of the switch: TM_OK, or TM_MISUSED and `*reason` (static text). */
int tm_switch_validate(const tm_switch *sw, const char **reason);
/* Make the n-th allocation from now fail, like tm_table_fail_allocation. */
void tm_switch_fail_allocation(tm_switch *sw, uint64_t n);
/* Advance the clock of the switch by `ms`, for tests. */
void tm_switch_advance(tm_switch *sw, uint64_t ms);

/* ---- unmatched messages ---- */

/* A message that entered here and matched no subscription of a client or another router. Its payload is not kept. */
typedef struct tm_unmatched {
    uint64_t n; /* from 1 on, in order of arrival; missing numbers are no longer kept */
    uint64_t t_ns;
    uint64_t origin;
    uint64_t number;
    const uint8_t *attributes; /* packed; borrowed until the next call to the switch */
    uint32_t attribute_bytes;
    uint32_t payload_bytes;
    uint32_t connection; /* that it came from; the id may have been reused */
} tm_unmatched;

#define TM_UNMATCHED_BYTES_MIN 65536

/* Keep the latest unmatched messages in `bytes` bytes, a multiple of 8 and TM_UNMATCHED_BYTES_MIN at least; 0: none.
 * They are those whose mix (records.h) is below `share`; UINT64_MAX: all. If `bytes` differs, the kept ones are
 * dropped. TM_NO_MEMORY: nothing has changed. */
int tm_switch_keep_unmatched(tm_switch *sw, uint64_t share, uint32_t bytes);
/* Return the stored messages with a number above `after`, the oldest first, at most `capacity`. Returns the number of
 * the latest sampled message, kept or not. */
uint64_t tm_switch_unmatched(const tm_switch *sw, uint64_t after, tm_unmatched *rows, uint32_t capacity,
                             uint32_t *count);

/* ---- traces ---- */

/* The handling of a traced message or a dry run at this router. Five lists of tm_trace_row follow it: */
#define TM_TRACE_LISTS 5
#define TM_TRACE_SATISFIED 0 /* (client, subscription id) that the message satisfies, or would */
#define TM_TRACE_MATCHED 1   /* (router, filter id) of one matching filter of each router that it goes to */
#define TM_TRACE_LINKS 2     /* (neighbour, its connection) it was queued for */
#define TM_TRACE_CLIENTS 3   /* (client, its connection) it was queued for */
#define TM_TRACE_DURABLES 4  /* (durable subscription, 0) that has it, or would */
#define TM_TRACE_ROWS 256    /* most rows of each list; `counts` count all */
#define TM_TRACE_NOT_DROPPED 255
#define TM_TRACE_UNTRACED 254 /* its publisher exceeded its rate of traces: it went on without its trace */

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
    uint32_t rows[TM_TRACE_LISTS]; /* rows that follow */
    uint8_t hop_limit;             /* on arrival */
    uint8_t reason;                /* TM_DROP_*, or TM_TRACE_NOT_DROPPED */
    uint8_t is_dry;
} tm_trace;
