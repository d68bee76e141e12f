/* publisher.h - the one connection that publishes: the same few messages again and again, each with its own counter.
 *
 * Law: messages are encoded once, before the clock starts; publishing one is a copy and a number written into it, for
 * every protocol alike. Never more is sent than the daemon has given credit for.
 */
#ifndef PUBLISHER_H
#define PUBLISHER_H

#include "connection.h"

typedef struct encoded {
    size_t start; /* in publisher.wire */
    size_t length;
    size_t frame_at; /* from start */
    size_t frame_length;
} encoded;

typedef struct publisher {
    connection connection;
    buffer wire;       /* the encoded messages, one behind the other */
    encoded *messages; /* owned */
    size_t message_count;
    size_t next;
    uint64_t published; /* messages, which is also the counter of the last one */
    uint64_t published_bytes;
} publisher;

/* Connect, and encode `attributes`, each padded with payload to `message_bytes` if it is shorter. */
void publisher_open(publisher *p, const endpoint *to, uint32_t index, const records *attributes, size_t message_bytes);

/* Publish until message `last` is out, as far as credit and the socket allow. */
void publisher_publish(publisher *p, uint64_t last);

/* The mean size of a frame. */
double publisher_frame_bytes(const publisher *p);

#endif
