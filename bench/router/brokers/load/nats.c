/* nats.c - the NATS client protocol: lines of text, a payload behind those that announce one.
 */
#include <string.h>

#include "fail.h"
#include "nats.h"
#include "subject.h"
#include "text.h"

/* The number in front of the line's end: MSG <subject> <sid> [reply] <bytes>. */
static size_t last_number(const uint8_t *line, size_t length) {
    size_t number = 0;
    size_t unit = 1;
    for (const uint8_t *at = line + length - 3; at > line && *at != ' '; at--, unit *= 10) {
        number += unit * (size_t)(*at - '0');
    }
    return number;
}

static uint32_t control_of(const uint8_t *line, size_t length) {
    if (length >= 4 && memcmp(line, "INFO", 4) == 0) {
        return NATS_INFO;
    }
    if (length >= 4 && memcmp(line, "PING", 4) == 0) {
        return NATS_PING;
    }
    return length >= 4 && memcmp(line, "PONG", 4) == 0 ? NATS_PONG : NATS_OTHER;
}

size_t nats_take(const uint8_t *data, size_t length, unit *out) {
    size_t line = text_line(data, length);
    if (line == 0) {
        return 0;
    }
    if (line > 4 && data[0] == 'M') {
        size_t payload = last_number(data, line);
        if (length < line + payload + 2) {
            return 0;
        }
        *out = (unit){data + line, 0, data, line};
        return line + payload + 2;
    }
    *out = (unit){NULL, control_of(data, line), data, line};
    return line;
}

void nats_answer(connection *c, const unit *u) {
    if (u->control == NATS_PING) {
        put_text(&c->out, "PONG\r\n");
    } else if (u->body_length > 0 && u->body[0] == '-') {
        fail("nats-server says: %.*s", (int)u->body_length, (const char *)u->body);
    }
}

void nats_open(connection *c) {
    connection_await(c, NATS_INFO);
    put_text(&c->out, "CONNECT {\"verbose\":false,\"pedantic\":false}\r\nPING\r\n");
    connection_await(c, NATS_PONG);
}

static void subscribe(connection *c, const records *filters, size_t first, size_t count) {
    (void)filters;
    for (size_t i = first; i < first + count; i++) {
        char subject[SUBJECT_ROOM];
        subject_name(subject, i);
        put_format(&c->out, "SUB %s %zu\r\n", subject, i + 1);
    }
    put_text(&c->out, "PING\r\n");
    connection_await(c, NATS_PONG);
}

static size_t encode(record frame, buffer *out) {
    put_format(out, "PUB " SUBJECT " %zu\r\n", frame.length);
    return text_put_message(out, frame);
}

const protocol nats_protocol = {
    .name = "nats",
    .subscriptions_at_once = 1000,
    .open = nats_open,
    .subscribe = subscribe,
    .encode = encode,
    .take = nats_take,
    .answer = nats_answer,
};
