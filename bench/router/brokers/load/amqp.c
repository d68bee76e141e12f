/* amqp.c - AMQP 0-9-1 as rabbitmq speaks it: one channel, one exchange, one queue of its own for each subscriber.
 *
 * A message is three frames (method, header, body), and so three units; the body is the message. Nothing is confirmed
 * and nothing acknowledged, which is the least work rabbitmq can be asked for.
 */
#include <stdio.h>
#include <string.h>

#include "amqp_table.h"
#include "connection.h"
#include "fail.h"
#include "frame.h"

#define METHOD(class, method) ((uint32_t)(class) << 16 | (method))
#define CONNECTION_START METHOD(10, 10)
#define CONNECTION_START_OK METHOD(10, 11)
#define CONNECTION_TUNE METHOD(10, 30)
#define CONNECTION_TUNE_OK METHOD(10, 31)
#define CONNECTION_OPEN METHOD(10, 40)
#define CONNECTION_OPEN_OK METHOD(10, 41)
#define CONNECTION_CLOSE METHOD(10, 50)
#define CHANNEL_OPEN METHOD(20, 10)
#define CHANNEL_OPEN_OK METHOD(20, 11)
#define CHANNEL_CLOSE METHOD(20, 40)
#define EXCHANGE_DECLARE METHOD(40, 10)
#define EXCHANGE_DECLARE_OK METHOD(40, 11)
#define QUEUE_DECLARE METHOD(50, 10)
#define QUEUE_DECLARE_OK METHOD(50, 11)
#define QUEUE_BIND METHOD(50, 20)
#define QUEUE_BIND_OK METHOD(50, 21)
#define BASIC_CONSUME METHOD(60, 20)
#define BASIC_CONSUME_OK METHOD(60, 21)
#define BASIC_PUBLISH METHOD(60, 40)

enum { FRAME_METHOD = 1, FRAME_HEADER = 2, FRAME_BODY = 3 };

#define FRAME_END 0xce
#define FRAME_HEAD_BYTES 7
#define BASIC_CLASS 60
#define HAS_HEADERS 0x2000
#define EXCHANGE "bench"

/* ---- writing ---- */

static size_t begin(buffer *out, uint8_t type, uint16_t channel) {
    put_u8(out, type);
    put_be16(out, channel);
    put_be32(out, 0);
    return out->length;
}

static void end(buffer *out, size_t start) {
    set_be32(out->bytes + start - 4, (uint32_t)(out->length - start));
    put_u8(out, FRAME_END);
}

static size_t begin_method(buffer *out, uint32_t method) {
    bool of_connection = method >> 16 == CONNECTION_START >> 16;
    size_t start = begin(out, FRAME_METHOD, of_connection ? 0 : 1);
    put_be32(out, method);
    return start;
}

static void put_short(buffer *out, const char *text) {
    put_u8(out, (uint8_t)strlen(text));
    put_text(out, text);
}

/* A queue belongs to one subscriber and goes with its connection. */
static void put_queue_name(buffer *out, const connection *c) {
    char name[32];
    snprintf(name, sizeof name, "load-%u", c->index);
    put_short(out, name);
}

/* ---- reading ---- */

static size_t take(const uint8_t *data, size_t length, unit *out) {
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

static void answer(connection *c, const unit *u) {
    (void)c;
    if (u->control == CONNECTION_CLOSE || u->control == CHANNEL_CLOSE) {
        fail("rabbitmq says: %.*s", u->body[6], (const char *)u->body + 7);
    }
}

/* ---- setting up ---- */

static void start_ok(connection *c) {
    static const char plain[] = "\0guest\0guest";
    size_t start = begin_method(&c->out, CONNECTION_START_OK);
    put_be32(&c->out, 0); /* no properties */
    put_short(&c->out, "PLAIN");
    put_be32(&c->out, sizeof plain - 1);
    put_bytes(&c->out, plain, sizeof plain - 1);
    put_short(&c->out, "en_US");
    end(&c->out, start);
}

static void tune_ok_and_open(connection *c, const unit *tune) {
    size_t start = begin_method(&c->out, CONNECTION_TUNE_OK);
    put_bytes(&c->out, tune->body + 4, 6); /* channels and frame size as offered */
    put_be16(&c->out, 0);                  /* no heartbeats */
    end(&c->out, start);
    start = begin_method(&c->out, CONNECTION_OPEN);
    put_short(&c->out, "/");
    put_be16(&c->out, 0);
    end(&c->out, start);
}

static void open_exchange(connection *c, const char *type) {
    put_bytes(&c->out, "AMQP\0\0\11\1", 8);
    connection_await(c, CONNECTION_START);
    start_ok(c);
    unit tune = connection_await(c, CONNECTION_TUNE);
    tune_ok_and_open(c, &tune);
    connection_await(c, CONNECTION_OPEN_OK);
    size_t start = begin_method(&c->out, CHANNEL_OPEN);
    put_short(&c->out, "");
    end(&c->out, start);
    connection_await(c, CHANNEL_OPEN_OK);
    start = begin_method(&c->out, EXCHANGE_DECLARE);
    put_be16(&c->out, 0);
    put_short(&c->out, EXCHANGE);
    put_short(&c->out, type);
    put_u8(&c->out, 0); /* transient */
    put_be32(&c->out, 0);
    end(&c->out, start);
    connection_await(c, EXCHANGE_DECLARE_OK);
}

static void open_fanout(connection *c) {
    open_exchange(c, "fanout");
}

static void open_headers(connection *c) {
    open_exchange(c, "headers");
}

static void declare_queue(connection *c) {
    size_t start = begin_method(&c->out, QUEUE_DECLARE);
    put_be16(&c->out, 0);
    put_queue_name(&c->out, c);
    put_u8(&c->out, 0x4); /* exclusive */
    put_be32(&c->out, 0);
    end(&c->out, start);
    connection_await(c, QUEUE_DECLARE_OK);
}

static void consume(connection *c) {
    size_t start = begin_method(&c->out, BASIC_CONSUME);
    put_be16(&c->out, 0);
    put_queue_name(&c->out, c);
    put_short(&c->out, "");
    put_u8(&c->out, 0x2); /* nothing is acknowledged */
    put_be32(&c->out, 0);
    end(&c->out, start);
    connection_await(c, BASIC_CONSUME_OK);
}

typedef void (*put_arguments)(buffer *out, record filter);

static void put_nothing(buffer *out, record filter) {
    (void)filter;
    put_be32(out, 0);
}

/* Fanout bindings differ by their routing key, which counts for nothing else. */
static void bind(connection *c, const records *filters, size_t index, put_arguments arguments) {
    size_t start = begin_method(&c->out, QUEUE_BIND);
    char key[32];
    snprintf(key, sizeof key, "%zu", index);
    put_be16(&c->out, 0);
    put_queue_name(&c->out, c);
    put_short(&c->out, EXCHANGE);
    put_short(&c->out, key);
    put_u8(&c->out, 0);
    arguments(&c->out, records_at(filters, index));
    end(&c->out, start);
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
    size_t start = begin_method(out, BASIC_PUBLISH);
    put_be16(out, 0);
    put_short(out, EXCHANGE);
    put_short(out, "");
    put_u8(out, 0);
    end(out, start);
}

static size_t begin_header(buffer *out, uint64_t body_bytes, uint16_t properties) {
    size_t start = begin(out, FRAME_HEADER, 1);
    put_be16(out, BASIC_CLASS);
    put_be16(out, 0);
    put_be64(out, body_bytes);
    put_be16(out, properties);
    return start;
}

static size_t put_body(buffer *out, record frame) {
    size_t start = begin(out, FRAME_BODY, 1);
    put_bytes(out, frame.bytes, frame.length);
    end(out, start);
    return start;
}

static size_t encode_fanout(record frame, buffer *out) {
    put_publish(out);
    end(out, begin_header(out, frame.length, 0));
    return put_body(out, frame);
}

static size_t encode_headers(record frame, buffer *out) {
    put_publish(out);
    size_t start = begin_header(out, frame.length, HAS_HEADERS);
    amqp_put_attributes(out, frame_attributes(frame.bytes));
    end(out, start);
    return put_body(out, frame);
}

const protocol amqp_fanout_protocol = {
    .name = "amqp-fanout",
    .subscriptions_at_once = 1000,
    .open = open_fanout,
    .subscribe = subscribe_fanout,
    .encode = encode_fanout,
    .take = take,
    .answer = answer,
};

const protocol amqp_headers_protocol = {
    .name = "amqp-headers",
    .subscriptions_at_once = 1000,
    .open = open_headers,
    .subscribe = subscribe_headers,
    .encode = encode_headers,
    .take = take,
    .answer = answer,
};
