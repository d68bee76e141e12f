/* tamis.c - wire version 1, written from docs/reference/wire.md; and the plain forwarder, which speaks its data frames
 * and nothing else.
 */
#include <stdio.h>
#include <unistd.h>

#include "connection.h"
#include "fail.h"
#include "frame.h"
#include "pack.h"
#include "tamis.h"
#include "walk.h"

#define HOLD_MS 60000

/* ---- writing ---- */

static void pack_name(buffer *out, uint32_t index) {
    char name[32];
    snprintf(name, sizeof name, "load-%d-%u", (int)getpid(), index);
    pack_text(out, name);
}

static void put_hello(buffer *out, uint32_t index, unsigned version) {
    uint8_t nonce[16] = {0};
    memcpy(nonce, &index, sizeof index);
    size_t start = pack_begin(out, HELLO);
    pack_array(out, 10);
    pack_unsigned(out, 1); /* role CLIENT */
    pack_name(out, index);
    pack_unsigned(out, 0); /* no epoch */
    pack_bytes(out, (record){nonce, sizeof nonce});
    pack_unsigned(out, version); /* the lowest and the highest */
    pack_unsigned(out, version);
    pack_array(out, 0); /* no capabilities */
    pack_unsigned(out, FRAME_BYTES_MAX);
    pack_unsigned(out, HOLD_MS);
    pack_unsigned(out, 0); /* no link cost */
    pack_end(out, start);
}

static void put_auth_none(buffer *out) {
    size_t start = pack_begin(out, AUTH);
    pack_array(out, 2);
    pack_unsigned(out, 0);
    pack_bytes(out, (record){0});
    pack_end(out, start);
}

static void put_subscribe(buffer *out, const records *filters, size_t first, size_t count) {
    size_t start = pack_begin(out, SUBSCRIBE);
    pack_array(out, 5);
    pack_unsigned(out, first + 1); /* the request, and the first id */
    pack_array(out, count);
    for (size_t i = first; i < first + count; i++) {
        pack_array(out, 2);
        pack_unsigned(out, i + 1);
        pack_array(out, 1);
        pack_bytes(out, records_at(filters, i));
    }
    put_u8(out, 0xc2);     /* not own messages */
    pack_unsigned(out, 1); /* wait NETWORK: the publisher may be at another router */
    put_u8(out, 0xc2);     /* not durable */
    pack_end(out, start);
}

/* ---- reading ---- */

size_t tamis_take(const uint8_t *data, size_t length, unit *out) {
    if (length < FRAME_PREFIX_BYTES) {
        return 0;
    }
    uint32_t frame = frame_length(data);
    uint8_t kind = frame_kind(data);
    if (frame < FRAME_PREFIX_BYTES || frame > FRAME_BYTES_MAX) {
        fail("a frame of %u bytes", frame);
    }
    if (length < frame) {
        return 0;
    }
    bool is_message = kind == FRAME_DELIVER || kind == FRAME_PUBLISH;
    if (is_message && frame < FRAME_HEADER_BYTES) {
        fail("a data frame of %u bytes", frame);
    }
    *out = (unit){is_message ? data : NULL, kind, data + FRAME_PREFIX_BYTES, frame - FRAME_PREFIX_BYTES};
    return frame;
}

/* Pass over `count` fields of a record, none of them a container. */
static bool skip_fields(walk *w, size_t count) {
    walk_item item;
    for (size_t i = 0; i < count; i++) {
        if (!walk_next(w, &item)) {
            return false;
        }
    }
    return true;
}

static void take_credit(connection *c, const unit *u) {
    walk w = tamis_body(u);
    walk_item frames, bytes;
    if (!skip_fields(&w, 1) || !walk_expect(&w, WALK_UNSIGNED, &frames) || !walk_expect(&w, WALK_UNSIGNED, &bytes)) {
        fail("a CREDIT that cannot be read");
    }
    c->credit_frames = frames.number;
    c->credit_bytes = bytes.number;
}

static void take_number(connection *c, const unit *u) {
    walk w = tamis_body(u);
    walk_item number;
    if (!skip_fields(&w, 2) || !walk_expect(&w, WALK_UNSIGNED, &number)) {
        fail("an AUTHENTICATED that cannot be read");
    }
    c->number = number.number;
}

static void refuse_refusals(const unit *u) {
    walk w = tamis_body(u);
    walk_item fields, item, ranges, refusals;
    bool read = walk_expect(&w, WALK_ARRAY, &fields) && skip_fields(&w, 2) && walk_expect(&w, WALK_ARRAY, &ranges);
    for (uint64_t i = 0; read && i < ranges.number; i++) {
        read = skip_fields(&w, 3); /* the record and its two numbers */
    }
    if (!read || fields.number < 4) {
        return; /* refusals may be left out */
    }
    if (!walk_expect(&w, WALK_ARRAY, &refusals) || refusals.number == 0) {
        return;
    }
    bool has_reason = skip_fields(&w, 3) && walk_expect(&w, WALK_TEXT, &item);
    fail("the router refused %u of what was asked: %.*s", (unsigned)refusals.number, has_reason ? (int)item.number : 0,
         has_reason ? (const char *)item.bytes : "");
}

_Noreturn static void tell_error(const unit *u) {
    walk w = tamis_body(u);
    walk_item text;
    bool known = skip_fields(&w, 2) && walk_expect(&w, WALK_TEXT, &text);
    fail("the router says: %.*s", known ? (int)text.number : 0, known ? (const char *)text.bytes : "");
}

void tamis_answer(connection *c, const unit *u) {
    switch (u->control) {
    case AUTHENTICATED:
        take_number(c, u);
        break;
    case CREDIT:
        take_credit(c, u);
        break;
    case PING:
        frame_put_prefix(&c->out, (uint32_t)(FRAME_PREFIX_BYTES + u->body_length), PONG);
        put_bytes(&c->out, u->body, u->body_length);
        break;
    case ACK:
        refuse_refusals(u);
        break;
    case ERROR:
        tell_error(u);
    case LOST:
        fail("the router dropped messages");
    default:
        break;
    }
}

/* ---- the protocol ---- */

void tamis_open(connection *c, unsigned version) {
    c->credit_frames = c->credit_bytes = 0;
    put_hello(&c->out, c->index, version);
    connection_await(c, WELCOME);
    put_auth_none(&c->out);
    connection_await(c, AUTHENTICATED);
}

static void open_connection(connection *c) {
    tamis_open(c, 1);
}

static void subscribe(connection *c, const records *filters, size_t first, size_t count) {
    put_subscribe(&c->out, filters, first, count);
    connection_await(c, ACK);
}

static size_t encode(record frame, buffer *out) {
    put_bytes(out, frame.bytes, frame.length);
    return out->length - frame.length;
}

void tamis_keep_alive(connection *c) {
    size_t start = pack_begin(&c->out, PING);
    pack_array(&c->out, 1);
    pack_unsigned(&c->out, 0);
    pack_end(&c->out, start);
}

const protocol tamis_protocol = {
    .name = "tamis",
    .subscriptions_at_once = 4000, /* nine constraints each still fit the longest frame */
    .open = open_connection,
    .subscribe = subscribe,
    .encode = encode,
    .take = tamis_take,
    .answer = tamis_answer,
    .keep_alive = tamis_keep_alive,
};

/* ---- the plain forwarder ---- */

static void open_plainly(connection *c) {
    (void)c;
}

static void subscribe_plainly(connection *c, const records *filters, size_t first, size_t count) {
    (void)filters, (void)first, (void)count;
    frame_put_prefix(&c->out, FRAME_PREFIX_BYTES, SUBSCRIBE);
    connection_await(c, ACK);
}

static void answer_nothing(connection *c, const unit *u) {
    (void)c, (void)u;
}

const protocol plain_protocol = {
    .name = "plain",
    .subscriptions_at_once = 1 << 30,
    .open = open_plainly,
    .subscribe = subscribe_plainly,
    .encode = encode,
    .take = tamis_take,
    .answer = answer_nothing,
};
