/* amqp.c - AMQP 0-9-1 as rabbitmq speaks it: one channel, one exchange, one queue of its own for each subscriber.
 *
 * A message is three frames (method, header, body), and so three units; the body is the message. Nothing is confirmed
 * and nothing acknowledged, which is the least work rabbitmq can be asked for.
 */
#include <stdio.h>
#include <string.h>

#include "amqp.h"
#include "amqp_table.h"
#include "fail.h"
#include "frame.h"

#define EXCHANGE "bench"

/* ---- writing ---- */

static size_t begin(buffer *out, uint8_t type, uint16_t channel) {
    put_u8(out, type);
    put_be16(out, channel);
    put_be32(out, 0);
    return out->length;
}

void amqp_end(buffer *out, size_t start) {
    set_be32(out->bytes + start - 4, (uint32_t)(out->length - start));
    put_u8(out, FRAME_END);
}

size_t amqp_begin(buffer *out, uint32_t method) {
    bool of_connection = method >> 16 == CONNECTION_START >> 16;
    size_t start = begin(out, FRAME_METHOD, of_connection ? 0 : 1);
    put_be32(out, method);
    return start;
}

void amqp_put_short(buffer *out, const char *text) {
    put_u8(out, (uint8_t)strlen(text));
    put_text(out, text);
}

/* A queue belongs to one subscriber and goes with its connection. */
static void put_queue_name(buffer *out, const connection *c) {
    char name[32];
    snprintf(name, sizeof name, "load-%u", c->index);
    amqp_put_short(out, name);
}

/* ---- reading ---- */

size_t amqp_take(const uint8_t *data, size_t length, unit *out) {
    if (length < FRAME_HEAD_BYTES) {
        return 0;
    }
    size_t size = get_be32(data + 3);
    size_t whole = FRAME_HEAD_BYTES + size + 1;
    if (length < whole) {
        return 0;
    }
    const uint8_t *body = data + FRAME_HEAD_BYTES;
    if (data[0] == FRAME_BODY) {
        *out = (unit){.content = body};
    } else {
        *out = (unit){NULL, data[0] == FRAME_METHOD ? get_be32(body) : 0, body, size};
    }
    return whole;
}

void amqp_answer(connection *c, const unit *u) {
    (void)c;
    if (u->control == CONNECTION_CLOSE || u->control == CHANNEL_CLOSE) {
        fail("rabbitmq says: %.*s", u->body[6], (const char *)u->body + 7);
    }
}

/* ---- setting up ---- */

static void start_ok(connection *c) {
    static const char plain[] = "\0guest\0guest";
    size_t start = amqp_begin(&c->out, CONNECTION_START_OK);
    put_be32(&c->out, 0); /* no properties */
    amqp_put_short(&c->out, "PLAIN");
    put_be32(&c->out, sizeof plain - 1);
    put_bytes(&c->out, plain, sizeof plain - 1);
    amqp_put_short(&c->out, "en_US");
    amqp_end(&c->out, start);
}

static void tune_ok_and_open(connection *c, const unit *tune) {
    size_t start = amqp_begin(&c->out, CONNECTION_TUNE_OK);
    put_bytes(&c->out, tune->body + 4, 6); /* channels and frame size as offered */
    put_be16(&c->out, 0);                  /* no heartbeats */
    amqp_end(&c->out, start);
    start = amqp_begin(&c->out, CONNECTION_OPEN);
    amqp_put_short(&c->out, "/");
    put_be16(&c->out, 0);
    amqp_end(&c->out, start);
}

void amqp_open(connection *c) {
    put_bytes(&c->out, "AMQP\0\0\11\1", 8);
    connection_await(c, CONNECTION_START);
    start_ok(c);
    unit tune = connection_await(c, CONNECTION_TUNE);
    tune_ok_and_open(c, &tune);
    connection_await(c, CONNECTION_OPEN_OK);
    size_t start = amqp_begin(&c->out, CHANNEL_OPEN);
    amqp_put_short(&c->out, "");
    amqp_end(&c->out, start);
    connection_await(c, CHANNEL_OPEN_OK);
}

static void open_exchange(connection *c, const char *type) {
    amqp_open(c);
    size_t start = amqp_begin(&c->out, EXCHANGE_DECLARE);
    put_be16(&c->out, 0);
    amqp_put_short(&c->out, EXCHANGE);
    amqp_put_short(&c->out, type);
    put_u8(&c->out, 0); /* transient */
    put_be32(&c->out, 0);
    amqp_end(&c->out, start);
    connection_await(c, EXCHANGE_DECLARE_OK);
}

static void open_fanout(connection *c) {
    open_exchange(c, "fanout");
}

static void open_headers(connection *c) {
    open_exchange(c, "headers");
}

static void declare_queue(connection *c) {
    size_t start = amqp_begin(&c->out, QUEUE_DECLARE);
    put_be16(&c->out, 0);
    put_queue_name(&c->out, c);
    put_u8(&c->out, 0x4); /* exclusive */
    put_be32(&c->out, 0);
    amqp_end(&c->out, start);
    connection_await(c, QUEUE_DECLARE_OK);
}

static void consume(connection *c) {
    size_t start = amqp_begin(&c->out, BASIC_CONSUME);
    put_be16(&c->out, 0);
    put_queue_name(&c->out, c);
    amqp_put_short(&c->out, "");
    put_u8(&c->out, 0x2); /* nothing is acknowledged */
    put_be32(&c->out, 0);
    amqp_end(&c->out, start);
    connection_await(c, BASIC_CONSUME_OK);
}

typedef void (*put_arguments)(buffer *out, record filter);

static void put_nothing(buffer *out, record filter) {
    (void)filter;
    put_be32(out, 0);
}

/* Fanout bindings differ by their routing key, which counts for nothing else. */
static void bind(connection *c, const records *filters, size_t index, put_arguments arguments) {
    size_t start = amqp_begin(&c->out, QUEUE_BIND);
    char key[32];
    snprintf(key, sizeof key, "%zu", index);
    put_be16(&c->out, 0);
    put_queue_name(&c->out, c);
    amqp_put_short(&c->out, EXCHANGE);
    amqp_put_short(&c->out, key);
    put_u8(&c->out, 0);
    arguments(&c->out, records_at(filters, index));
    amqp_end(&c->out, start);
}

static void subscribe(connection *c, const records *filters, size_t first, size_t count, put_arguments arguments) {
    if (first == 0) {
        declare_queue(c);
    }
    for (size_t i = first; i < first + count; i++) {
        bind(c, filters, i, arguments);
    }
    for (size_t i = 0; i < count; i++) {
        connection_await(c, QUEUE_BIND_OK);
    }
    if (first == 0) {
        consume(c);
    }
}

static void subscribe_fanout(connection *c, const records *filters, size_t first, size_t count) {
    subscribe(c, filters, first, count, put_nothing);
}

static void subscribe_headers(connection *c, const records *filters, size_t first, size_t count) {
    subscribe(c, filters, first, count, amqp_put_binding);
}

/* ---- publishing ---- */

static void put_publish(buffer *out) {
    size_t start = amqp_begin(out, BASIC_PUBLISH);
    put_be16(out, 0);
    amqp_put_short(out, EXCHANGE);
    amqp_put_short(out, "");
    put_u8(out, 0);
    amqp_end(out, start);
}

size_t amqp_begin_header(buffer *out, uint64_t body_bytes, uint16_t properties) {
    size_t start = begin(out, FRAME_HEADER, 1);
    put_be16(out, BASIC_CLASS);
    put_be16(out, 0);
    put_be64(out, body_bytes);
    put_be16(out, properties);
    return start;
}

size_t amqp_put_body(buffer *out, record frame) {
    size_t start = begin(out, FRAME_BODY, 1);
    put_bytes(out, frame.bytes, frame.length);
    amqp_end(out, start);
    return start;
}

static size_t encode_fanout(record frame, buffer *out) {
    put_publish(out);
    amqp_end(out, amqp_begin_header(out, frame.length, 0));
    return amqp_put_body(out, frame);
}

static size_t encode_headers(record frame, buffer *out) {
    put_publish(out);
    size_t start = amqp_begin_header(out, frame.length, HAS_HEADERS);
    amqp_put_attributes(out, frame_attributes(frame.bytes));
    amqp_end(out, start);
    return amqp_put_body(out, frame);
}

const protocol amqp_fanout_protocol = {
    .name = "amqp-fanout",
    .subscriptions_at_once = 1000,
    .open = open_fanout,
    .subscribe = subscribe_fanout,
    .encode = encode_fanout,
    .take = amqp_take,
    .answer = amqp_answer,
};

const protocol amqp_headers_protocol = {
    .name = "amqp-headers",
    .subscriptions_at_once = 1000,
    .open = open_headers,
    .subscribe = subscribe_headers,
    .encode = encode_headers,
    .take = amqp_take,
    .answer = amqp_answer,
};
