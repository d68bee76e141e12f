/* connection.h - the state of one connection: its socket, its greeting, its credit and its output.
 *
 * Law: an id is free, greeting, open, closing, ended, closed, free again, in this order; steps may be left out and are
 * never reversed. Data frames are accepted only from an open connection and sent only to an open one. A connection that
 * has ended is in a list and is closed at the end of the call (lifecycle.c); until then it keeps what it owns.
 */
#ifndef TM_CONNECTION_H
#define TM_CONNECTION_H

#include "switch/connections/outbox.h"
#include "switch/forwarding/net.h"
#include "switch/subscribers/subscriber.h"
#include "tm.h"

#define CONNECTION_NONE TM_CONNECTION_NONE
#define STRANGERS_EPOLL_ID (UINT32_MAX - 1) /* marks the set of strangers in the other, in place of a connection */
#define BLOCKERS_MAX 4U /* receivers tracked for one publisher; with more it waits for all that block */

/* The values before CONNECTION_ENDED are the numbers of tm_connection_stats. */
typedef enum {
    CONNECTION_FREE,
    CONNECTION_GREETING,
    CONNECTION_OPEN,
    CONNECTION_CLOSING,
    CONNECTION_CLOSED,
    CONNECTION_ENDED
} tm_state;

/* Events that were reported and are not to be repeated yet. */
typedef struct tm_told {
    bool silent;
    bool output;    /* TM_EVENT_OUTPUT was reported */
    bool extension; /* reported in this tick */
    bool untraced;  /* reported in this tick */
} tm_told;

/* Received bytes that are not processed: the beginning of a frame, or all input of a waiting connection. */
typedef struct tm_partial {
    uint8_t *bytes; /* owned */
    uint32_t capacity;
    uint32_t size;
    uint32_t put_back; /* bytes at the front: messages that Python returned (tm_switch_retake) and that wait */
} tm_partial;

/* The peer's publishing credit, in totals, and the receivers that withhold it. */
typedef struct tm_credit {
    uint64_t used_frames;
    uint64_t used_bytes;
    uint64_t granted_frames;
    uint64_t granted_bytes;
    uint32_t blockers[BLOCKERS_MAX]; /* subscribers */
    uint8_t blocker_count;           /* above BLOCKERS_MAX: every subscriber that blocks */
} tm_credit;

/* Rate limit of the traces that the peer requests. */
typedef struct tm_traces {
    uint64_t spent;       /* used part of the burst, in thousandths of a trace */
    uint64_t reckoned_ms; /* when `spent` was last updated */
} tm_traces;

/* Traffic in both directions, in totals. */
typedef struct tm_traffic {
    uint64_t messages_in;
    uint64_t bytes_in;
    uint64_t deliveries;
    uint64_t bytes_out;
    uint64_t dropped;
    uint64_t queued_peak;
    tm_increment told; /* totals at the last report; of drops, those since then */
} tm_traffic;

/* Times of heartbeats, and the clock of a link's neighbour as they show it. */
typedef struct tm_clocks {
    uint64_t received_ms;
    uint64_t sent_ms;
    uint64_t pinged_ms;     /* when the last PING left */
    int64_t offset_us;      /* by the best heartbeat since tm_switch_clock last returned one */
    uint64_t round_trip_us; /* of that heartbeat; UINT64_MAX: there was none */
} tm_clocks;

typedef struct tm_border tm_border; /* access/border.h */

typedef struct tm_connection {
    int fd; /* owned; -1: none */
    uint8_t state;
    bool is_admitted; /* its socket is in the epoll set of admitted peers */
    bool is_fed;      /* true if the caller passes its bytes in and out (tm_switch_feed), without a socket */
    bool is_deaf;     /* true after a fault or while closing: the switch processes no further input of the peer */
    bool is_paused;
    bool waits_for_step; /* true while a publish in `partial` waits for routers to be in step, with all input behind it
                          */
    bool waits_for_log;  /* true while a publish to be stored waits for the disk */
    bool is_storing;     /* true if it has published messages to be stored, or requested storage */
    bool waits_for_way;  /* on a link: true while a message in `partial` waits for an older route (order.c), with all
                            input behind it */
    bool has_drained;    /* the peer has sent DRAIN */
    bool is_dirty;       /* has output that no flush has tried to send */
    bool waits_to_write;
    tm_told told;
    uint32_t greeting_left; /* bytes left to it before authentication */
    tm_admission admission;
    uint32_t onward_bytes_max; /* on a link: of copies that are queued without a question; 0 if its border asks */
    tm_border *border;         /* owned; NULL: whatever comes over the link, or leaves by it, may */
    tm_border_stats kept_back; /* by the border */
    tm_partial partial;
    tm_outbox outbox;
    tm_credit credit;
    tm_traces traces;
    tm_traffic traffic;
    tm_clocks clocks;
    uint32_t publisher_row;
    uint32_t neighbour;  /* on a link: its place in tm_net; on a client: NEIGHBOUR_NONE */
    uint32_t subscriber; /* the one that it serves; on a link, and before admission: SUBSCRIBER_NONE */
    uint32_t consumers;  /* first of its consumers (durable/state.h), + 1; 0: none */
    uint32_t answers;    /* to its ACKs, waiting for the disk */
    uint32_t answer_bytes;
    uint32_t remotes; /* row + 1 of the first end of a remote session (switch/remote_rows.h); 0: none */
    bool is_far_end;  /* of one, which shuts a closing connection when the other end has taken all */
    uint64_t serial;  /* unique among all connections, including earlier ones of this id */
    uint32_t next;    /* in the list of free ids, or of ended connections */
    uint16_t error;   /* errno of the socket that ended it, or 0 */
    bool is_lost;     /* true if the peer went away while it was open */
} tm_connection;

static inline bool switch_is_link(const tm_connection *connection) {
    return connection->neighbour != NEIGHBOUR_NONE;
}
static inline bool switch_waits(const tm_connection *connection) {
    return connection->waits_for_step || connection->waits_for_way || connection->waits_for_log;
}
static inline bool switch_is_blocked(const tm_connection *connection) {
    return connection->credit.blocker_count > 0;
}
static inline bool switch_is_alive(const tm_connection *connection) {
    return connection->state >= CONNECTION_GREETING && connection->state <= CONNECTION_CLOSING;
}

/* End a connection because its socket failed with `error`, or to close it (0). From here on nothing is read from it or
 * sent to it; switch_finish_ended does the rest. */
void switch_shut(tm_switch *sw, uint32_t connection, int error);
/* End a connection that the peer has left; otherwise like switch_shut. */
void switch_lose(tm_switch *sw, uint32_t connection, int error);
/* Release what a connection owns. */
void switch_clear_connection(tm_switch *sw, tm_connection *connection);
/* Set the epoll events of the socket from the connection's state. */
void switch_watch(tm_switch *sw, uint32_t connection);
/* Move the socket to the epoll set of admitted peers; a socket that the system does not watch ends. */
void switch_watch_admitted(tm_switch *sw, uint32_t connection);

#endif
