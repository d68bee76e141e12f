/* connection.h - one connection to the daemon: its socket, what has come in, what is to go out.
 *
 * Law: bytes go out in the order in which they were put into `out`, whole units only, so an answer never falls into the
 * middle of a message. A connection blocks until connection_start, and never afterwards.
 */
#ifndef CONNECTION_H
#define CONNECTION_H

#include <stdbool.h>

#include "protocol.h"
#include "tls.h"

/* Stored messages that were received and are not acknowledged yet; each protocol encodes them its own way. */
typedef struct taken {
    size_t count;
    uint64_t first;
    uint64_t last;
    buffer names;
    size_t heads; /* redis: of arrays of the answer that is coming */
    size_t left;  /* redis: messages of it that are still to come */
    bool consumes;
} taken;

typedef struct connection {
    const protocol *protocol;
    int fd;
    tls *tls; /* owned; NULL if the connection is plain */
    uint32_t index;
    uint8_t *in; /* owned: in_room bytes, of which in_begin to in_end are read and not yet taken */
    size_t in_room;
    size_t in_begin;
    size_t in_end;
    buffer out;
    size_t out_sent;
    bool waits_for_room; /* the socket took less than there was */
    uint64_t received;   /* messages, which is also the counter of the last one; of who publishes: confirmations */
    taken taken;
    uint64_t number; /* Tamis: whom the messages are from */
    uint64_t credit_frames;
    uint64_t credit_bytes;
} connection;

typedef struct endpoint {
    const protocol *protocol;
    uint16_t port;
    bool with_tls;
    size_t receive_bytes; /* of the receive buffer */
} endpoint;

/* Connect and open; `index` is this connection's own, and makes its name. */
void connection_open(connection *c, const endpoint *to, uint32_t index);
void connection_close(connection *c);

/* Subscribe to all of `filters` from `first` on, `count` of them, batch by batch. */
void connection_subscribe(connection *c, const records *filters, size_t first, size_t count);

/* Send what is in `out` and wait for the control unit `wanted`, answering others; its body is borrowed until the next
 * read. Only before connection_start. */
unit connection_await(connection *c, uint32_t wanted);

/* From here on nothing waits. */
void connection_start(connection *c);

/* Read once; false if there was nothing. A daemon that closes the connection fails the program. */
bool connection_read(connection *c);

/* Take the next unit of what has been read. */
bool connection_next(connection *c, unit *out);

/* Send as much of `out` as the socket takes. */
void connection_flush(connection *c);

#endif
