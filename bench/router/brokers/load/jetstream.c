/* jetstream.c - messages that nats-server stores: a stream in files, publications with an answer each, and a push
 * consumer with an explicit acknowledgement of each message.
 */
#include <string.h>

#include "fail.h"
#include "nats.h"
#include "subject.h"
#include "text.h"

#define STREAM "load"
#define ANSWERS "_INBOX.a"       /* of the server to what is asked of it */
#define CONFIRMATIONS "_INBOX.c" /* of publications */
#define DELIVERIES "_INBOX.d"

enum { ANSWER = NATS_OTHER + 1, CONFIRMATION };

static bool is_about(const unit *u, const char *subject) {
    size_t length = strlen(subject);
    return u->body_length > 4 + length && memcmp(u->body + 4, subject, length) == 0;
}

static size_t take(const uint8_t *data, size_t length, unit *out) {
    size_t used = nats_take(data, length, out);
    if (out->content == NULL) {
        return used;
    }
    uint32_t control = is_about(out, CONFIRMATIONS) ? CONFIRMATION : is_about(out, ANSWERS) ? ANSWER : 0;
    if (control != 0) { /* a delivery has the subject that was published to */
        *out = (unit){NULL, control, out->content, used - out->body_length - 2};
    }
    return used;
}

static void answer(connection *c, const unit *u) {
    if (u->control < ANSWER) {
        nats_answer(c, u);
    } else if (memmem(u->body, u->body_length, "\"error\"", 7) != NULL) {
        fail("JetStream says: %.*s", (int)u->body_length, (const char *)u->body);
    }
    c->received += u->control == CONFIRMATION;
}

static void ask(connection *c, const char *what, const char *settings) {
    put_format(&c->out, "PUB $JS.API.%s " ANSWERS " %zu\r\n%s\r\n", what, strlen(settings), settings);
}

#define STREAM_OF(replicas)                                                                                            \
    "{\"name\":\"" STREAM "\",\"subjects\":[\"" SUBJECT "\"],\"storage\":\"file\",\"num_replicas\":" replicas          \
    ",\"duplicate_window\":100000000}"

static void create(connection *c, const char *settings) {
    put_text(&c->out, "SUB " ANSWERS " 1\r\n");
    ask(c, "STREAM.CREATE." STREAM, settings);
    connection_await(c, ANSWER);
}

static void subscribe(connection *c, const records *filters, size_t first, size_t count) {
    (void)filters, (void)first, (void)count;
    create(c, STREAM_OF("1"));
}

static void subscribe_r3(connection *c, const records *filters, size_t first, size_t count) {
    (void)filters, (void)first, (void)count;
    create(c, STREAM_OF("3"));
}

static void begin_publishing(connection *c) {
    put_text(&c->out, "SUB " CONFIRMATIONS " 1\r\nPING\r\n");
    connection_await(c, NATS_PONG);
}

static size_t encode(record frame, buffer *out) {
    put_format(out, "PUB " SUBJECT " " CONFIRMATIONS " %zu\r\n", frame.length);
    return text_put_message(out, frame);
}

static void consume(connection *c) {
    put_text(&c->out, "SUB " DELIVERIES " 2\r\n");
    ask(c, "CONSUMER.DURABLE.CREATE." STREAM ".load",
        "{\"stream_name\":\"" STREAM "\",\"config\":{\"durable_name\":\"load\",\"deliver_subject\":\"" DELIVERIES
        "\",\"ack_policy\":\"explicit\",\"ack_wait\":600000000000,\"max_ack_pending\":100000,"
        "\"deliver_policy\":\"all\"}}");
}

/* MSG <subject> <sid> <reply> <bytes>: the acknowledgement goes to the reply. */
static void note(connection *c, const unit *u) {
    const uint8_t *at = u->body, *end = u->body + u->body_length;
    for (int i = 0; i < 3 && at != NULL; i++) {
        at = memchr(at, ' ', (size_t)(end - at));
        at = at == NULL ? NULL : at + 1;
    }
    const uint8_t *stop = at == NULL ? NULL : memchr(at, ' ', (size_t)(end - at));
    if (stop == NULL) {
        fail("a message of JetStream without a reply subject");
    }
    put_format(&c->out, "PUB %.*s 4\r\n+ACK\r\n", (int)(stop - at), (const char *)at);
}

const protocol jetstream_protocol = {
    .name = "jetstream",
    .subscriptions_at_once = 1000,
    .open = nats_open,
    .subscribe = subscribe,
    .encode = encode,
    .take = take,
    .answer = answer,
    .begin_publishing = begin_publishing,
    .consume = consume,
    .note = note,
};

/* In a cluster: a publication is answered when two of three servers have it. */
const protocol jetstream_r3_protocol = {
    .name = "jetstream-r3",
    .subscriptions_at_once = 1000,
    .open = nats_open,
    .subscribe = subscribe_r3,
    .encode = encode,
    .take = take,
    .answer = answer,
    .begin_publishing = begin_publishing,
    .consume = consume,
    .note = note,
};
