/* redis.c - RESP 2: PUBLISH and SUBSCRIBE as arrays of bulk strings.
 *
 * The publisher turns replies off: otherwise redis would spend a good part of its time on counting receivers aloud.
 */
#include <string.h>

#include "connection.h"
#include "fail.h"
#include "subject.h"
#include "text.h"

enum { SIMPLE = 1, CONFIRMATION };

#define WORDS_MAX 3

/* "<mark><number>\r\n" at `data`: its length, or 0 if it is not all there. */
static size_t number_line(const uint8_t *data, size_t length, size_t *number) {
    *number = 0;
    for (size_t i = 1; i < length; i++) {
        if (data[i] == '\r') {
            return i + 2 <= length ? i + 2 : 0;
        }
        *number = *number * 10 + (size_t)(data[i] - '0');
    }
    return 0;
}

static size_t take_line(const uint8_t *data, size_t length, unit *out) {
    size_t line = text_line(data, length);
    *out = (unit){NULL, SIMPLE, data, line};
    return line;
}

/* message, subject, payload; or subscribe, subject, how many. */
static size_t take(const uint8_t *data, size_t length, unit *out) {
    if (length == 0 || data[0] != '*') {
        return length == 0 ? 0 : take_line(data, length, out);
    }
    size_t words, at = number_line(data, length, &words);
    record word[WORDS_MAX] = {0};
    if (at == 0 || words > WORDS_MAX) {
        return 0;
    }
    for (size_t i = 0; i < words; i++) {
        size_t bytes, line = at < length ? number_line(data + at, length - at, &bytes) : 0;
        bool is_number = line > 0 && data[at] == ':';
        size_t whole = line + (is_number ? 0 : bytes + 2);
        if (line == 0 || at + whole > length) {
            return 0;
        }
        word[i] = (record){data + at + line, is_number ? 0 : bytes};
        at += whole;
    }
    *out = word[0].bytes[0] == 'm' ? (unit){.content = word[2].bytes} : (unit){NULL, CONFIRMATION, data, at};
    return at;
}

static void answer(connection *c, const unit *u) {
    (void)c;
    if (u->body_length > 0 && u->body[0] == '-') {
        fail("redis says: %.*s", (int)u->body_length, (const char *)u->body);
    }
}

static void open_connection(connection *c) {
    put_text(&c->out, "PING\r\n");
    connection_await(c, SIMPLE);
}

static void subscribe(connection *c, const records *filters, size_t first, size_t count) {
    (void)filters;
    put_format(&c->out, "*%zu\r\n$9\r\nSUBSCRIBE\r\n", count + 1);
    for (size_t i = first; i < first + count; i++) {
        char subject[SUBJECT_ROOM];
        int length = subject_name(subject, i);
        put_format(&c->out, "$%d\r\n%s\r\n", length, subject);
    }
    for (size_t i = 0; i < count; i++) {
        connection_await(c, CONFIRMATION);
    }
}

static void begin_publishing(connection *c) {
    put_text(&c->out, "*3\r\n$6\r\nCLIENT\r\n$5\r\nREPLY\r\n$3\r\nOFF\r\n");
}

static size_t encode(record frame, buffer *out) {
    put_format(out, "*3\r\n$7\r\nPUBLISH\r\n$1\r\n" SUBJECT "\r\n$%zu\r\n", frame.length);
    return text_put_message(out, frame);
}

const protocol redis_protocol = {
    .name = "redis",
    .subscriptions_at_once = 1000,
    .open = open_connection,
    .subscribe = subscribe,
    .encode = encode,
    .take = take,
    .answer = answer,
    .begin_publishing = begin_publishing,
};
