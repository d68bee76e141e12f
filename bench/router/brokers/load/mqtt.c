/* mqtt.c - MQTT 3.1.1, quality of service 0.
 */
#include <stdio.h>
#include <string.h>

#include "connection.h"
#include "fail.h"
#include "subject.h"

enum { CONNACK = 0x20, PUBLISH = 0x30, SUBACK = 0x90 };

static void put_length(buffer *out, size_t length) {
    for (; length >= 128; length >>= 7) {
        put_u8(out, (uint8_t)(length | 128));
    }
    put_u8(out, (uint8_t)length);
}

static void put_string(buffer *out, const char *text) {
    put_be16(out, (uint16_t)strlen(text));
    put_text(out, text);
}

/* The bytes of the "remaining length" field, or 0 if they are not all there. */
static size_t length_field(const uint8_t *data, size_t length, size_t *value) {
    *value = 0;
    for (size_t i = 0; i < 4 && i < length; i++) {
        *value |= (size_t)(data[i] & 127) << (7 * i);
        if (data[i] < 128) {
            return i + 1;
        }
    }
    return 0;
}

static size_t take(const uint8_t *data, size_t length, unit *out) {
    size_t rest, field = length < 2 ? 0 : length_field(data + 1, length - 1, &rest);
    if (field == 0 || length < 1 + field + rest) {
        return 0;
    }
    const uint8_t *body = data + 1 + field;
    if ((data[0] & 0xf0) == PUBLISH) {
        *out = (unit){.content = body + 2 + get_be16(body)};
    } else {
        *out = (unit){NULL, data[0] & 0xf0, body, rest};
    }
    return 1 + field + rest;
}

static void answer(connection *c, const unit *u) {
    (void)c;
    bool refused = u->control == CONNACK && (u->body_length < 2 || u->body[1] != 0);
    for (size_t i = 2; u->control == SUBACK && i < u->body_length; i++) {
        refused = refused || u->body[i] == 0x80;
    }
    if (refused) {
        fail("mosquitto refused what was asked");
    }
}

static void open_connection(connection *c) {
    char name[32];
    snprintf(name, sizeof name, "load-%u", c->index);
    put_u8(&c->out, 0x10);
    put_length(&c->out, 12 + strlen(name));
    put_string(&c->out, "MQTT");
    put_u8(&c->out, 4);   /* version 3.1.1 */
    put_u8(&c->out, 2);   /* clean session */
    put_be16(&c->out, 0); /* may be silent for ever */
    put_string(&c->out, name);
    connection_await(c, CONNACK);
}

static void subscribe(connection *c, const records *filters, size_t first, size_t count) {
    (void)filters;
    buffer topics = {0};
    for (size_t i = first; i < first + count; i++) {
        char subject[SUBJECT_ROOM];
        subject_name(subject, i);
        put_string(&topics, subject);
        put_u8(&topics, 0);
    }
    put_u8(&c->out, 0x82);
    put_length(&c->out, 2 + topics.length);
    put_be16(&c->out, 1);
    put_bytes(&c->out, topics.bytes, topics.length);
    buffer_free(&topics);
    connection_await(c, SUBACK);
}

static size_t encode(record frame, buffer *out) {
    put_u8(out, PUBLISH);
    put_length(out, 2 + strlen(SUBJECT) + frame.length);
    put_string(out, SUBJECT);
    put_bytes(out, frame.bytes, frame.length);
    return out->length - frame.length;
}

const protocol mqtt_protocol = {
    .name = "mqtt",
    .subscriptions_at_once = 1000,
    .open = open_connection,
    .subscribe = subscribe,
    .encode = encode,
    .take = take,
    .answer = answer,
};
