/* tamis_durable.c - messages that a router stores: a durable subscription, publications that are confirmed once they
 * are on its disk, or (held) on that of every router that stores them, and an attachment that acknowledges what it
 * gets. Written from docs/reference/wire.md.
 */
#include "fail.h"
#include "frame.h"
#include "pack.h"
#include "tamis.h"

#define DURABLE_NAME "load"
#define ATTACHMENT 1
#define FLAGS_AT 5
#define CONFIRM_AND_DURABLE 5
#define EVERY_HOME 0x20
#define EXTENSIONS_AT 56
#define LOG_POSITION 6
#define OF_PUBLISH 3
#define OF_DELIVER 4
#define UNACKED_MAX 100000
#define ACK_WAIT_MS 600000
#define DURABLE_BYTES (8ULL << 30)

static void open_connection(connection *c) {
    tamis_open(c, 2);
}

static void put_terms(buffer *out, const records *filters, size_t first, size_t count) {
    pack_array(out, 11);
    pack_array(out, count);
    for (size_t i = first; i < first + count; i++) {
        pack_bytes(out, records_at(filters, i));
    }
    pack_unsigned(out, 0); /* until it is acknowledged */
    pack_unsigned(out, DURABLE_BYTES);
    pack_unsigned(out, 0); /* any count */
    pack_unsigned(out, 1); /* past the bytes a message is refused, which ends the run */
    pack_unsigned(out, 0); /* never forgotten */
    pack_unsigned(out, ACK_WAIT_MS);
    pack_unsigned(out, 0); /* any number of tries */
    pack_array(out, 0);
    pack_text(out, ""); /* no dead letters */
    pack_unsigned(out, UNACKED_MAX);
}

static void subscribe(connection *c, const records *filters, size_t first, size_t count) {
    size_t start = pack_begin(&c->out, CREATE_DURABLE);
    pack_array(&c->out, 3);
    pack_unsigned(&c->out, 1); /* the request */
    pack_text(&c->out, DURABLE_NAME);
    put_terms(&c->out, filters, first, count);
    pack_end(&c->out, start);
    connection_await(c, ACK);
}

static size_t encode(record frame, buffer *out) {
    size_t at = out->length;
    put_bytes(out, frame.bytes, frame.length);
    out->bytes[at + FLAGS_AT] = CONFIRM_AND_DURABLE;
    return at;
}

static size_t encode_held(record frame, buffer *out) {
    size_t at = encode(frame, out);
    out->bytes[at + FLAGS_AT] |= EVERY_HOME;
    return at;
}

/* How many messages an ACK confirms; 0 if it is not of PUBLISH. */
static uint64_t confirmed(const unit *u) {
    walk w = tamis_body(u);
    walk_item item, ranges, first, last;
    if (!walk_expect(&w, WALK_ARRAY, &item) || !walk_expect(&w, WALK_UNSIGNED, &item) || item.number != OF_PUBLISH) {
        return 0;
    }
    uint64_t sum = 0;
    bool read = walk_expect(&w, WALK_UNSIGNED, &item) && walk_expect(&w, WALK_ARRAY, &ranges);
    for (uint64_t i = 0; read && i < ranges.number; i++) {
        read = walk_expect(&w, WALK_ARRAY, &item) && walk_expect(&w, WALK_UNSIGNED, &first) &&
               walk_expect(&w, WALK_UNSIGNED, &last);
        sum += read ? last.number - first.number + 1 : 0;
    }
    return sum;
}

static void answer(connection *c, const unit *u) {
    tamis_answer(c, u);
    if (u->control == ACK) {
        c->received += confirmed(u);
    }
}

static void consume(connection *c) {
    size_t start = pack_begin(&c->out, ATTACH);
    pack_array(&c->out, 4);
    pack_unsigned(&c->out, 2); /* the request */
    pack_unsigned(&c->out, ATTACHMENT);
    pack_text(&c->out, DURABLE_NAME);
    pack_unsigned(&c->out, 1ULL << 40); /* of messages */
    pack_end(&c->out, start);
}

static uint64_t position_of(const uint8_t *frame) {
    uint16_t length, type, size;
    uint64_t position = 0;
    memcpy(&length, frame + EXTENSIONS_AT, sizeof length);
    const uint8_t *at = frame + FRAME_HEADER_BYTES;
    for (const uint8_t *end = at + le16toh(length); at + 4 <= end; at += 4 + le16toh(size)) {
        memcpy(&type, at, sizeof type);
        memcpy(&size, at + 2, sizeof size);
        if (le16toh(type) == LOG_POSITION) {
            memcpy(&position, at + 4, sizeof position);
            return le64toh(position);
        }
    }
    fail("a stored message without its position");
}

static void note(connection *c, const unit *u) {
    c->taken.last = position_of(u->content);
    c->taken.first = c->taken.count++ == 0 ? c->taken.last : c->taken.first;
}

static void settle(connection *c) {
    if (c->taken.count == 0) {
        return;
    }
    size_t start = pack_begin(&c->out, ACK);
    pack_array(&c->out, 6);
    pack_unsigned(&c->out, OF_DELIVER);
    pack_unsigned(&c->out, 0); /* no answer is asked for */
    pack_array(&c->out, 1);
    pack_array(&c->out, 2);
    pack_unsigned(&c->out, c->taken.first);
    pack_unsigned(&c->out, c->taken.last);
    pack_array(&c->out, 0);
    pack_unsigned(&c->out, 0); /* done */
    pack_unsigned(&c->out, ATTACHMENT);
    pack_end(&c->out, start);
    c->taken.count = 0;
}

const protocol tamis_durable_protocol = {
    .name = "tamis-kept",
    .subscriptions_at_once = 64,
    .open = open_connection,
    .subscribe = subscribe,
    .encode = encode,
    .take = tamis_take,
    .answer = answer,
    .keep_alive = tamis_keep_alive,
    .consume = consume,
    .note = note,
    .settle = settle,
};

const protocol tamis_held_protocol = {
    .name = "tamis-held",
    .subscriptions_at_once = 64,
    .open = open_connection,
    .subscribe = subscribe,
    .encode = encode_held,
    .take = tamis_take,
    .answer = answer,
    .keep_alive = tamis_keep_alive,
    .consume = consume,
    .note = note,
    .settle = settle,
};
