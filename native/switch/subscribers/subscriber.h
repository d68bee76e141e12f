/* subscriber.h - somebody who wants messages: an interface of the table, and the filters that it holds.
 *
 * Law: a subscriber's id is its interface of the table, given out by the switch and not that of a connection. An id is
 * free, live, ended, free again, in this order. Only to a live one is anything delivered: into the output of the
 * connection that it has, or, while it has none, into what waits here. One that is not kept ends with its connection.
 * One that is a keep (durable/state.h) has a log in place of an output.
 */
#ifndef TM_SUBSCRIBER_H
#define TM_SUBSCRIBER_H

#include "switch/connections/outbox.h"
#include "switch/subscribers/subscriptions.h"
#include "tm.h"

#define SUBSCRIBER_NONE TM_SUBSCRIBER_NONE

typedef enum { SUBSCRIBER_FREE, SUBSCRIBER_LIVE, SUBSCRIBER_ENDED, SUBSCRIBER_KEEP } tm_subscriber_state;

/* What it may hold and have waiting: its part of a tm_admission. */
typedef struct tm_terms {
    uint64_t queue_bytes_max; /* of frames that wait for it */
    uint64_t table_bytes_max; /* of its filters */
    uint32_t frame_bytes_max; /* longest frame that it takes */
    uint32_t filters_max;
    uint32_t block_ms;
    uint8_t policy; /* TM_SLOW_* */
} tm_terms;

/* Frames that did not fit, until it is told. */
typedef struct tm_loss {
    uint64_t messages;
    uint64_t bytes;
} tm_loss;

typedef struct tm_subscriber {
    uint8_t state;
    bool told_slow;
    bool block_spent;    /* has blocked for as long as it may, until its queue is short again */
    uint32_t connection; /* that serves it; CONNECTION_NONE: none does */
    uint32_t stamp;      /* the last message that was for it; then: */
    uint32_t first_row;
    tm_terms terms;
    tm_outbox *waiting; /* owned; while no connection serves it. NULL: it is not kept, and ends with its connection */
    tm_loss lost_full;
    tm_loss lost_large;
    uint64_t dropped;
    uint64_t blocks_until_ms; /* 0: its queue is short */
    uint64_t number;          /* of its name */
    uint64_t table_bytes;     /* of its filters */
    uint32_t subscriptions;   /* list of rows */
    uint32_t subscription_count;
    uint32_t filter_count;
    uint32_t keep; /* slot of the keep that it is (durable/state.h) */
    uint32_t next_free;
} tm_subscriber;

static inline bool switch_is_kept(const tm_subscriber *subscriber) {
    return subscriber->waiting != NULL;
}
/* The number of the keep that it is; 0: it is none. */
static inline uint32_t switch_keep_of(const tm_subscriber *subscriber) {
    return subscriber->state == SUBSCRIBER_KEEP ? (uint32_t)subscriber->number : 0;
}
static inline bool switch_has_lost(const tm_subscriber *subscriber) {
    return subscriber->lost_full.messages + subscriber->lost_large.messages > 0;
}

/* A live subscriber on these terms, without filters and without a connection: TM_OK, TM_NO_MEMORY or TM_TOO_MANY. */
int switch_new_subscriber(tm_switch *sw, const tm_admission *admission, uint32_t *id);
/* Its connection is about to end: unless it is kept, nothing is delivered to it any more. */
void switch_end_subscriber(tm_switch *sw, uint32_t id);
/* Its connection has ended: if it is kept, what is for it waits here from now on. */
void switch_detach_subscriber(tm_switch *sw, uint32_t id);
/* A connection that is about to be admitted serves it, on new terms: TM_OK, TM_NO_MEMORY, or TM_MISUSED where it does
 * not fit. */
int switch_attach_subscriber(tm_switch *sw, uint32_t id, uint32_t connection, const tm_admission *admission);
/* Give back what it owns. */
void switch_clear_subscriber(tm_switch *sw, tm_subscriber *subscriber);
/* One of its subscriptions is over. */
void switch_drop_subscription(tm_switch *sw, tm_subscriber *subscriber, uint32_t row);
/* Drop at most `steps` filters of one that has ended, for a few milliseconds; at 0 left its id is free. */
uint32_t switch_forget_subscriber(tm_switch *sw, uint32_t id, uint32_t steps);

#endif
