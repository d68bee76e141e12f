/* amqp_streams.c - messages that rabbitmq stores: a stream or a quorum queue, publications that are confirmed, and a
 * consumer that acknowledges all that it has read at once.
 */
#include <string.h>

#include "amqp.h"
#include "fail.h"

#define QUEUE "load"
#define PREFETCH 10000 /* more than a window; a stream must have a bound */
#define BASIC_QOS METHOD(60, 10)
#define BASIC_QOS_OK METHOD(60, 11)
#define BASIC_DELIVER METHOD(60, 60)
#define BASIC_ACK METHOD(60, 80)
#define BASIC_NACK METHOD(60, 120)
#define CONFIRM_SELECT METHOD(85, 10)
#define CONFIRM_SELECT_OK METHOD(85, 11)

static uint64_t get_be64(const uint8_t *at) {
    return (uint64_t)get_be32(at) << 32 | get_be32(at + 4);
}

/* A table of one text. */
static void put_setting(buffer *out, const char *name, const char *value) {
    put_be32(out, (uint32_t)(1 + strlen(name) + 1 + 4 + strlen(value)));
    amqp_put_short(out, name);
    put_u8(out, 'S');
    put_be32(out, (uint32_t)strlen(value));
    put_text(out, value);
}

static void declare(connection *c, const char *type) {
    size_t start = amqp_begin(&c->out, QUEUE_DECLARE);
    put_be16(&c->out, 0);
    amqp_put_short(&c->out, QUEUE);
    put_u8(&c->out, 0x2); /* durable */
    put_setting(&c->out, "x-queue-type", type);
    amqp_end(&c->out, start);
    connection_await(c, QUEUE_DECLARE_OK);
    start = amqp_begin(&c->out, BASIC_QOS);
    put_be32(&c->out, 0);
    put_be16(&c->out, PREFETCH);
    put_u8(&c->out, 0);
    amqp_end(&c->out, start);
    connection_await(c, BASIC_QOS_OK);
}

static void declare_stream(connection *c, const records *filters, size_t first, size_t count) {
    (void)filters, (void)first, (void)count;
    declare(c, "stream");
}

static void declare_quorum(connection *c, const records *filters, size_t first, size_t count) {
    (void)filters, (void)first, (void)count;
    declare(c, "quorum");
}

static void begin_publishing(connection *c) {
    size_t start = amqp_begin(&c->out, CONFIRM_SELECT);
    put_u8(&c->out, 0);
    amqp_end(&c->out, start);
    connection_await(c, CONFIRM_SELECT_OK);
}

static size_t encode(record frame, buffer *out) {
    size_t start = amqp_begin(out, BASIC_PUBLISH);
    put_be16(out, 0);
    amqp_put_short(out, ""); /* the default exchange: to the queue of the key's name */
    amqp_put_short(out, QUEUE);
    put_u8(out, 0);
    amqp_end(out, start);
    amqp_end(out, amqp_begin_header(out, frame.length, 0));
    return amqp_put_body(out, frame);
}

/* A tag, and whether all up to it are meant. */
static void take_confirmation(connection *c, const unit *u) {
    uint64_t tag = get_be64(u->body + 4);
    bool is_multiple = u->body[12] & 1;
    c->received = is_multiple && tag > c->received ? tag : c->received + !is_multiple;
}

static void take_delivery(connection *c, const unit *u) {
    const uint8_t *tag = u->body + 4 + 1 + u->body[4];
    c->taken.last = get_be64(tag);
}

static void answer(connection *c, const unit *u) {
    switch (u->control) {
    case BASIC_ACK:
        take_confirmation(c, u);
        break;
    case BASIC_DELIVER:
        take_delivery(c, u);
        break;
    case BASIC_NACK:
        fail("rabbitmq did not take a message");
    default:
        amqp_answer(c, u);
    }
}

static size_t begin_consume(buffer *out) {
    size_t start = amqp_begin(out, BASIC_CONSUME);
    put_be16(out, 0);
    amqp_put_short(out, QUEUE);
    amqp_put_short(out, "");
    put_u8(out, 0); /* messages are acknowledged */
    return start;
}

static void consume_stream(connection *c) {
    size_t start = begin_consume(&c->out);
    put_setting(&c->out, "x-stream-offset", "first");
    amqp_end(&c->out, start);
}

static void consume_quorum(connection *c) {
    size_t start = begin_consume(&c->out);
    put_be32(&c->out, 0);
    amqp_end(&c->out, start);
}

static void note(connection *c, const unit *u) {
    (void)u; /* its tag came before it */
    c->taken.first = c->taken.last;
    c->taken.count++;
}

static void settle(connection *c) {
    if (c->taken.count == 0) {
        return;
    }
    size_t start = amqp_begin(&c->out, BASIC_ACK);
    put_be64(&c->out, c->taken.first);
    put_u8(&c->out, 1); /* and all before it */
    amqp_end(&c->out, start);
    c->taken.count = 0;
}

const protocol amqp_streams_protocol = {
    .name = "amqp-streams",
    .subscriptions_at_once = 1000,
    .open = amqp_open,
    .subscribe = declare_stream,
    .encode = encode,
    .take = amqp_take,
    .answer = answer,
    .begin_publishing = begin_publishing,
    .consume = consume_stream,
    .note = note,
    .settle = settle,
};

const protocol amqp_quorum_protocol = {
    .name = "amqp-quorum",
    .subscriptions_at_once = 1000,
    .open = amqp_open,
    .subscribe = declare_quorum,
    .encode = encode,
    .take = amqp_take,
    .answer = answer,
    .begin_publishing = begin_publishing,
    .consume = consume_quorum,
    .note = note,
    .settle = settle,
};
