/* redis_streams.c - messages that redis stores: XADD with an answer each, and a group's one consumer, which reads in
 * batches and acknowledges each batch by the identities of its messages.
 *
 * An answer is taken piece by piece: a line, or a bulk string, of which those that are longer than any identity are
 * messages. A batch is arrays in arrays, *1 stream, *2 its name and messages, *N messages: the third head says how
 * many.
 */
#include <string.h>

#include "connection.h"
#include "fail.h"
#include "subject.h"
#include "text.h"

#define BATCH "1000"
#define IDENTITY_BYTES_MAX 48
#define HEADS_OF_A_BATCH 3

enum { LINE = 1, BULK };

static size_t take(const uint8_t *data, size_t length, unit *out) {
    size_t line = text_line(data, length);
    if (line == 0) {
        return 0;
    }
    *out = (unit){NULL, LINE, data, line};
    if (data[0] != '$' || data[1] == '-') {
        return line;
    }
    size_t bytes = 0;
    for (size_t i = 1; i + 2 < line; i++) {
        bytes = bytes * 10 + (size_t)(data[i] - '0');
    }
    if (length < line + bytes + 2) {
        return 0;
    }
    bool is_message = bytes > IDENTITY_BYTES_MAX;
    *out = (unit){is_message ? data + line : NULL, BULK, data + line, bytes};
    return line + bytes + 2;
}

static void put_bulk(buffer *out, const void *bytes, size_t count) {
    put_format(out, "$%zu\r\n", count);
    put_bytes(out, bytes, count);
    put_text(out, "\r\n");
}

/* Identities, which have a dash, of messages to come; each publication is answered by one. */
static void take_bulk(connection *c, const unit *u) {
    if (!c->taken.consumes) {
        c->received++;
    } else if (memchr(u->body, '-', u->body_length) != NULL) {
        put_bulk(&c->taken.names, u->body, u->body_length);
        c->taken.count++;
    }
}

static void take_head(taken *t, const unit *u) {
    if (u->body[1] == '-') { /* nothing came in time: an empty batch */
        t->heads = HEADS_OF_A_BATCH;
    } else if (t->heads < HEADS_OF_A_BATCH && ++t->heads == HEADS_OF_A_BATCH) {
        for (const uint8_t *at = u->body + 1; *at != '\r'; at++) {
            t->left = t->left * 10 + (size_t)(*at - '0');
        }
    }
}

static void answer(connection *c, const unit *u) {
    if (u->control == BULK) {
        take_bulk(c, u);
    } else if (u->body[0] == '-') {
        fail("redis says: %.*s", (int)u->body_length, (const char *)u->body);
    } else if (u->body[0] == '*') {
        take_head(&c->taken, u);
    }
}

static void open_connection(connection *c) {
    put_text(&c->out, "PING\r\n");
    connection_await(c, LINE);
}

static void subscribe(connection *c, const records *filters, size_t first, size_t count) {
    (void)filters, (void)first, (void)count;
    put_text(&c->out, "XGROUP CREATE " SUBJECT " load 0 MKSTREAM\r\n");
    connection_await(c, LINE);
}

static size_t encode(record frame, buffer *out) {
    put_format(out, "*5\r\n$4\r\nXADD\r\n$1\r\n" SUBJECT "\r\n$1\r\n*\r\n$1\r\nm\r\n$%zu\r\n", frame.length);
    return text_put_message(out, frame);
}

/* WAIT answers how many replicas have what this connection has written. */
static size_t encode_waiting(record frame, buffer *out) {
    size_t at = encode(frame, out);
    put_text(out, "*3\r\n$4\r\nWAIT\r\n$1\r\n1\r\n$1\r\n0\r\n");
    return at;
}

static void answer_waiting(connection *c, const unit *u) {
    if (u->body[0] == '-' || (u->control == LINE && u->body[0] == ':' && u->body[1] == '0')) {
        fail("redis says: %.*s", (int)u->body_length, (const char *)u->body);
    }
    c->received += u->control == LINE && u->body[0] == ':';
}

static void ask_for_more(connection *c) {
    put_text(&c->out, "XREADGROUP GROUP load me COUNT " BATCH " BLOCK 1000 STREAMS " SUBJECT " >\r\n");
}

static void consume(connection *c) {
    c->taken.consumes = true;
    ask_for_more(c);
}

static void note(connection *c, const unit *u) {
    (void)u; /* its identity came before it */
    c->taken.left--;
}

/* Once a batch is over. */
static void settle(connection *c) {
    if (c->taken.heads < HEADS_OF_A_BATCH || c->taken.left > 0) {
        return;
    }
    if (c->taken.count > 0) {
        put_format(&c->out, "*%zu\r\n$4\r\nXACK\r\n$1\r\n" SUBJECT "\r\n$4\r\nload\r\n", c->taken.count + 3);
        put_bytes(&c->out, c->taken.names.bytes, c->taken.names.length);
    }
    c->taken.count = c->taken.names.length = c->taken.heads = 0;
    ask_for_more(c);
}

const protocol redis_streams_protocol = {
    .name = "redis-streams",
    .subscriptions_at_once = 1000,
    .open = open_connection,
    .subscribe = subscribe,
    .encode = encode,
    .take = take,
    .answer = answer,
    .consume = consume,
    .note = note,
    .settle = settle,
};

/* Each XADD is followed by WAIT 1: it is confirmed once a replica has it, too. */
const protocol redis_wait_protocol = {
    .name = "redis-wait",
    .subscriptions_at_once = 1000,
    .open = open_connection,
    .subscribe = subscribe,
    .encode = encode_waiting,
    .take = take,
    .answer = answer_waiting,
    .consume = consume,
    .note = note,
    .settle = settle,
};
