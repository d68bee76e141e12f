/* subscriber.h - a receiver of messages: an interface of the table, its filters and its queue.
 *
 * Law: a subscriber's id is its interface of the table, assigned by the switch and independent of a connection's id. An
 * id is free, live, ended, free again, in this order. Only a live subscriber gets messages: into the
 * output of its connection or, while it has none, into a queue here. A subscriber that is not kept ends with its
 * connection. One that stands for a durable subscription (durable/state.h), or for those of another router, has a log
 * in place of an output.
 */
#ifndef TM_SUBSCRIBER_H
#define TM_SUBSCRIBER_H

#include "switch/connections/outbox.h"
#include "switch/subscribers/subscriptions.h"
#include "tm.h"

#define SUBSCRIBER_NONE TM_SUBSCRIBER_NONE

typedef enum {
    SUBSCRIBER_FREE,
    SUBSCRIBER_LIVE,
    SUBSCRIBER_ENDED,
    SUBSCRIBER_DURABLE,
    SUBSCRIBER_HOME
} tm_subscriber_state;

/* Limits of a subscriber: its part of a tm_admission. */
typedef struct tm_terms {
    uint64_t queue_bytes_max; /* of frames that wait for it */
    uint64_t table_bytes_max; /* of its filters */
    uint32_t frame_bytes_max; /* longest frame that it accepts */
    uint32_t filters_max;
    uint32_t unindexed_max; /* of its subscriptions that are unindexed */
    uint32_t block_ms;
    uint8_t policy; /* TM_SLOW_* */
} tm_terms;

/* Dropped frames that are not reported yet. */
typedef struct tm_loss {
    uint64_t messages;
    uint64_t bytes;
} tm_loss;

typedef struct tm_subscriber {
    uint8_t state;
    bool told_slow;
    bool block_spent;    /* has blocked for its whole block_ms, until its queue is short again */
    uint32_t connection; /* the one that serves it, or CONNECTION_NONE */
    uint32_t stamp;      /* of the last message for it; `first_row` is its first row in that match */
    uint32_t first_row;
    tm_terms terms;
    tm_outbox *waiting; /* owned; queue while no connection serves it. NULL: it is not kept */
    tm_loss lost_full;
    tm_loss lost_large;
    uint64_t dropped;
    uint64_t blocks_until_ms; /* 0: its queue is short */
    uint64_t number;          /* of its name */
    uint64_t table_bytes;     /* of its filters */
    uint64_t programs_asked;  /* number of the last match that ran one of its programs */
    uint64_t program_steps;   /* that its programs may still take in that match */
    uint32_t subscriptions;   /* first row of its list */
    uint32_t subscription_count;
    uint32_t filter_count;
    uint32_t unindexed_count;
    uint32_t
        durable; /* slot of its durable subscription (durable/state.h), or of its router (durable/custody/homes.h) */
    uint32_t next_free;
} tm_subscriber;

static inline bool switch_is_stored(const tm_subscriber *subscriber) {
    return subscriber->waiting != NULL;
}
/* Return the number of the durable subscription that it stands for; 0: it is a client. */
static inline uint32_t switch_durable_of(const tm_subscriber *subscriber) {
    return subscriber->state == SUBSCRIBER_DURABLE ? (uint32_t)subscriber->number : 0;
}
static inline bool switch_has_lost(const tm_subscriber *subscriber) {
    return subscriber->lost_full.messages + subscriber->lost_large.messages > 0;
}

/* Make a live subscriber with these limits, without filters or a connection; returns TM_OK, TM_NO_MEMORY or
 * TM_TOO_MANY. */
int switch_new_subscriber(tm_switch *sw, const tm_admission *admission, uint32_t *id);
/* Stop deliveries to a subscriber whose connection is about to end, unless it is kept. */
void switch_end_subscriber(tm_switch *sw, uint32_t id);
/* Detach a subscriber from its ended connection; if it is kept, its frames wait here from now on. */
void switch_detach_subscriber(tm_switch *sw, uint32_t id);
/* Attach a subscriber, with new limits, to a connection that is about to be admitted; returns TM_OK, TM_NO_MEMORY, or
 * TM_MISUSED if they do not fit together. */
int switch_attach_subscriber(tm_switch *sw, uint32_t id, uint32_t connection, const tm_admission *admission);
/* Release what a subscriber owns. */
void switch_clear_subscriber(tm_switch *sw, tm_subscriber *subscriber);
/* Remove one of its subscriptions. */
void switch_drop_subscription(tm_switch *sw, tm_subscriber *subscriber, uint32_t row);
/* Remove at most `steps` filters of an ended subscriber, for a few milliseconds; returns the number left. At 0 its id
 * is free. */
uint32_t switch_forget_subscriber(tm_switch *sw, uint32_t id, uint32_t steps);

#endif
