/* loop.h - publish within the window, receive, and count, until the time is over.
 *
 * Law: at most `window` messages are under way beyond what the slowest subscriber has received, so a daemon that queues
 * within its bounds drops nothing; a counter that is not the next one fails the run. One thread, one epoll.
 */
#ifndef LOOP_H
#define LOOP_H

#include "latency.h"
#include "publisher.h"

typedef struct loop {
    publisher publisher;
    connection *subscribers; /* owned by the caller, as others is */
    size_t subscriber_count;
    connection *others; /* have filters that no message satisfies */
    size_t other_count;
    uint64_t window;
    uint64_t last;  /* the last message to publish; 0: there is none */
    double rate;    /* messages a second; 0 is as fast as the window allows */
    latency *times; /* NULL if latency is not measured */

    int epoll;
    uint64_t deliveries;
    uint64_t slowest;  /* what every subscriber has received */
    size_t at_slowest; /* how many have received no more than that */
    double rate_start; /* when message 1 was due */
    double last_arrival;
    double last_keep_alive;
    bool publisher_waits; /* epoll has been told to wait for room */
} loop;

/* Start all connections, which are open and subscribed. The publisher may be the one subscriber: what it receives is
 * confirmations. */
void loop_start(loop *l);

/* Go on for so long, or until the last message has been received by all. */
void loop_run(loop *l, double seconds);

/* From now on `subscriber`, so far one of the others, receives the stored messages. */
void loop_consume(loop *l, connection *subscriber);

#endif
