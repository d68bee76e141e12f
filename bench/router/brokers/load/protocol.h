/* protocol.h - what the load generator must know of a daemon's protocol, and all of them.
 *
 * Law: every protocol carries the same bytes: a Tamis PUBLISH frame. Tamis and the plain forwarder carry it as it is,
 * the others as their payload. So a message has its counter at the same place everywhere, and a subscriber can tell a
 * loss. `take` only reads; whatever a unit asks for is done by `answer`. Setting up waits; nothing after it does.
 */
#ifndef PROTOCOL_H
#define PROTOCOL_H

#include "buffer.h"
#include "records.h"

typedef struct connection connection;

/* The smallest piece of a stream that means something: a message, or one thing the daemon says. */
typedef struct unit {
    const uint8_t *content; /* a message: its frame, header first; NULL if the unit is none */
    uint32_t control;       /* which control unit it is, in the protocol's own numbers */
    const uint8_t *body;    /* of the control unit; borrowed from the receive buffer */
    size_t body_length;
} unit;

typedef struct protocol {
    const char *name;
    size_t subscriptions_at_once; /* before waiting for the daemon to confirm them */

    /* From a fresh socket to one on which messages may be sent. */
    void (*open)(connection *c);

    /* Subscribe to `count` filters from `first` on, and wait until all of them are confirmed. Protocols that route by
     * name take subjects in their place, the one that is published to first. */
    void (*subscribe)(connection *c, const records *filters, size_t first, size_t count);

    /* Append what carries `frame`; returns where in `out` the frame begins. */
    size_t (*encode)(record frame, buffer *out);

    /* The next unit of `length` bytes: its size, or 0 if it is not all there. */
    size_t (*take)(const uint8_t *data, size_t length, unit *out);

    /* Do what a control unit asks for: answers are appended to `c->out`. Fails the program on an error. */
    void (*answer)(connection *c, const unit *u);

    /* Called about once a second; NULL if silence is allowed. */
    void (*keep_alive)(connection *c);

    /* The daemon does not answer what is published: said before the first message. NULL if it never does. */
    void (*begin_publishing)(connection *c);

    /* For protocols whose daemon stores messages: `subscribe` creates the store, each publication is confirmed
     * (`answer` counts that in `c->received`), and from `consume` on, which does not wait, they are delivered. NULL in
     * the others. */
    void (*consume)(connection *c);
    /* Note a message, which is to be acknowledged. */
    void (*note)(connection *c, const unit *u);
    /* Acknowledge what was noted, and ask for more where the daemon wants to be asked. */
    void (*settle)(connection *c);
} protocol;

/* By name, or NULL. */
const protocol *protocol_named(const char *name);

extern const protocol tamis_protocol, plain_protocol, nats_protocol, redis_protocol, mqtt_protocol,
    amqp_fanout_protocol, amqp_headers_protocol, tamis_durable_protocol, jetstream_protocol, redis_streams_protocol,
    amqp_streams_protocol, tamis_held_protocol, jetstream_r3_protocol, redis_wait_protocol, amqp_quorum_protocol;

#endif
