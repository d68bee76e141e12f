/* connection.h - what the switch knows of one connection: its socket, its greeting, what it may send.
 *
 * Law: an id is free, greeting, open, closing, ended, closed, free again, in this order, steps left out but never back.
 * Only an open connection's data frames are looked at and only to an open one is any sent. One that has ended is in a
 * list, and is closed where a call ends (lifecycle.c): until then what it owns stays as it is.
 */
#ifndef TM_CONNECTION_H
#define TM_CONNECTION_H

#include "switch/connections/outbox.h"
#include "switch/forwarding/net.h"
#include "switch/subscribers/subscriber.h"
#include "tm.h"

#define CONNECTION_NONE TM_CONNECTION_NONE
#define BLOCKERS_MAX 4U /* receivers that are told apart; a publisher held back for more of them waits for all */

/* Those before the last are the numbers of tm_connection_stats. */
typedef enum {
    CONNECTION_FREE,
    CONNECTION_GREETING,
    CONNECTION_OPEN,
    CONNECTION_CLOSING,
    CONNECTION_CLOSED,
    CONNECTION_ENDED
} tm_state;

/* What has been told, until it is worth telling again. */
typedef struct tm_told {
    bool silent;
    bool output;    /* TM_EVENT_OUTPUT is out */
    bool extension; /* in this tick */
    bool untraced;  /* in this tick */
} tm_told;

/* Bytes that were received and not taken: the beginning of a frame, or all that waits. */
typedef struct tm_partial {
    uint8_t *bytes; /* owned */
    uint32_t capacity;
    uint32_t size;
    uint32_t put_back; /* of them, at the front: messages that went up for want of a route, and wait now */
} tm_partial;

/* What the peer may still publish, in totals, and the receivers for whose sake it gets no more. */
typedef struct tm_credit {
    uint64_t used_frames;
    uint64_t used_bytes;
    uint64_t granted_frames;
    uint64_t granted_bytes;
    uint32_t blockers[BLOCKERS_MAX]; /* subscribers */
    uint8_t blocker_count;           /* past BLOCKERS_MAX: any subscriber that blocks */
} tm_credit;

/* Traces that the peer has asked for. */
typedef struct tm_traces {
    uint64_t spent;       /* thousandths of a trace that it has to wait for, of its burst */
    uint64_t reckoned_ms; /* when that was reckoned last */
} tm_traces;

/* What came and what went, in totals. */
typedef struct tm_traffic {
    uint64_t messages_in;
    uint64_t bytes_in;
    uint64_t deliveries;
    uint64_t bytes_out;
    uint64_t dropped;
    uint64_t queued_peak;
    tm_increment told; /* totals when increments were last asked for; of drops what came since */
} tm_traffic;

/* Signs of life, and what a link's say of the neighbour's clock. */
typedef struct tm_clocks {
    uint64_t received_ms;
    uint64_t sent_ms;
    uint64_t pinged_ms;     /* when the clock was last asked for */
    int64_t offset_us;      /* of the best heartbeat since somebody asked */
    uint64_t round_trip_us; /* of that one; UINT64_MAX: there was none */
} tm_clocks;

typedef struct tm_connection {
    int fd; /* owned; -1: none */
    uint8_t state;
    bool is_fed;  /* its bytes come and go by hand */
    bool is_deaf; /* after a fault, or closing: nothing more is read */
    bool is_paused;
    bool waits_for_step; /* a publish of it does, and with it all that came behind, in `partial` */
    bool waits_for_log;  /* as for a step: what it publishes is kept, and the disk is behind */
    bool is_keeping;     /* it has published what is kept, or asked for that */
    bool waits_for_way;  /* a link: a message of it does (order.c), and with it all that came behind */
    bool has_drained;    /* the peer has sent DRAIN */
    bool is_dirty;       /* has output that nobody tried to send yet */
    bool waits_to_write;
    tm_told told;
    uint32_t greeting_left; /* bytes */
    tm_admission admission;
    tm_partial partial;
    tm_outbox outbox;
    tm_credit credit;
    tm_traces traces;
    tm_traffic traffic;
    tm_clocks clocks;
    uint32_t publisher_row;
    uint32_t neighbour;   /* of a link: its place in tm_net; of a client: NEIGHBOUR_NONE */
    uint32_t subscriber;  /* that it serves; of a link, and before it is admitted: SUBSCRIBER_NONE */
    uint32_t attachments; /* list of members of keeps (durable/state.h), + 1; 0: none */
    uint32_t answers;     /* to its ACKs, that wait for the disk */
    uint32_t answer_bytes;
    uint64_t serial; /* no other connection has it, whatever its id */
    uint32_t next;   /* of the list of free ids, or of those that have ended */
    uint16_t error;  /* why it ended: of the socket, or 0 */
    bool is_lost;    /* the peer went away while it was open */
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

/* End a connection: its socket has failed with `error`, or is to be closed (0). From here on nothing is read from it
 * and nothing sent to it; the rest is done by switch_finish_ended. */
void switch_shut(tm_switch *sw, uint32_t connection, int error);
/* As switch_shut, where it was the peer that went away. */
void switch_lose(tm_switch *sw, uint32_t connection, int error);
/* Give back what it owns. */
void switch_clear_connection(tm_switch *sw, tm_connection *connection);
/* Set what the socket is watched for. */
void switch_watch(tm_switch *sw, uint32_t connection);

#endif
