/* fuzz_remote.c - libFuzzer target: frames REMOTE with any fields and pieces, and any bytes, from a neighbour at one of
 * whose sessions this router is the near end, and at others the far end.
 *
 * Law: the switch validates afterwards, all output is whole frames, and what another home says by a session of the same
 * client comes once and in order.
 */
#include <string.h>

#include "frames.h"
#include "tm_remote.h"

#define ME 1U
#define HOSTILE 9U
#define HONEST 8U
#define HOSTILE_SESSION 5U
#define HONEST_SESSION 6U
#define FAR_ENDS 3U
#define HONEST_BYTES_MAX 131072U
#define OPS_MAX 300U

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static struct {
    tm_switch *sw;
    uint32_t links[2]; /* hostile, honest */
    uint32_t client;
    uint32_t far[FAR_ENDS];
    const uint8_t *at; /* borrowed */
    const uint8_t *end;
    uint64_t said; /* bytes of the honest home */
    uint64_t sent; /* messages of it */
    uint64_t got;
} w;
static frame out;

/* ---- the input ---- */

static uint8_t next(void) {
    return w.at < w.end ? *w.at++ : 0;
}

static uint64_t number(void) {
    static const uint64_t values[] = {0,      1,          2,         12,         70,         32768,
                                      262144, UINT32_MAX, INT64_MAX, UINT64_MAX, 1ULL << 63, 32767};
    uint8_t choice = next();
    return choice < 12 ? values[choice] : choice < 128 ? choice : (uint64_t)choice << 8 | next();
}

/* ---- frames ---- */

static void put_big(uint8_t head, uint64_t value, unsigned bytes) {
    put_byte(&out, head);
    while (bytes > 0) {
        put_byte(&out, value >> 8 * --bytes & 0xff);
    }
}

static void put_head(uint64_t receiver, uint64_t sender, uint64_t session, uint64_t at, uint64_t taken) {
    begin(&out, WIRE_REMOTE);
    put_byte(&out, 0x99);
    put_byte(&out, 9);
    put_big(0xcf, receiver, 8);
    put_big(0xcf, sender, 8);
    put_big(0xcf, session, 8);
    put_big(0xcf, at, 8);
    put_big(0xcf, taken, 8);
}

static void put_tail(uint32_t room, uint32_t marks, const uint8_t *piece, uint32_t size) {
    put_big(0xce, room, 4);
    put_big(0xce, marks, 4);
    put_big(0xc6, size, 4);
    memcpy(out.bytes + out.size, piece, size);
    out.size += size;
    wire_store32(out.bytes, out.size);
}

static uint32_t deliver(uint8_t *to, uint32_t consumer, uint64_t counter) {
    memset(to, 0, 80);
    to[0] = 80;
    to[WIRE_KIND] = WIRE_DELIVER;
    wire_store16(to + WIRE_EXTENSION_SIZE, 8);
    to[WIRE_HEADER_BYTES] = WIRE_SATISFIED;
    to[WIRE_HEADER_BYTES + 2] = 4;
    wire_store32(to + WIRE_HEADER_BYTES + 4, consumer);
    wire_store64(to + 72, counter);
    return 80;
}

/* ---- what is checked ---- */

static void take_output(uint32_t connection) {
    const uint8_t *bytes;
    size_t size;
    while (tm_switch_output(w.sw, connection, &bytes, &size) == TM_OK && size > 0) {
        for (size_t at = 0; at < size; at += tm_load32(bytes + at)) {
            CHECK(size - at >= WIRE_PREFIX_BYTES && tm_load32(bytes + at) >= WIRE_PREFIX_BYTES, "a short frame");
            CHECK(tm_load32(bytes + at) <= size - at, "a part of a frame");
            bool is_delivery = connection == w.client && bytes[at + WIRE_KIND] == WIRE_DELIVER;
            if (is_delivery && tm_load32(bytes + at + WIRE_HEADER_BYTES + 4) == HONEST) {
                CHECK(tm_load32(bytes + at) == 80 && tm_load64(bytes + at + 72) == w.got, "another delivery");
                w.got++;
            }
        }
        CHECK(tm_switch_sent(w.sw, connection, size) == TM_OK, "sent");
    }
}

/* Begin far ends as Python does. */
static void handle(const tm_event *events, size_t count) {
    static frame first;
    for (size_t i = 0; i < count; i++) {
        CHECK(events[i].type != TM_EVENT_CLOSED || events[i].connection != w.client, "the client is closed");
        CHECK(events[i].type != TM_EVENT_REMOTE_ENDED || tm_load64(events[i].frame) != HONEST_SESSION,
              "the honest session ends");
        if (events[i].type == TM_EVENT_REMOTE_BEGINS) {
            uint32_t *far = &w.far[events[i].frame[events[i].size - 1] % FAR_ENDS];
            first.size = events[i].size;
            memcpy(first.bytes, events[i].frame, first.size);
            if (*far == TM_CONNECTION_NONE && tm_switch_open(w.sw, -1, far) == TM_OK) {
                int result = tm_remote_accept(w.sw, *far, first.bytes, first.size);
                CHECK(result == TM_OK || result == TM_MISUSED, "accept: %d", result);
            }
            return; /* events are borrowed until the next call */
        }
    }
}

static void feed(uint32_t connection, const uint8_t *bytes, size_t size) {
    const tm_event *events;
    size_t count;
    CHECK(tm_switch_feed(w.sw, connection, bytes, size, &events, &count) == TM_OK, "feed");
    handle(events, count);
}

/* ---- steps ---- */

/* The other home says a delivery, and has taken nothing. */
static void say_honest(void) {
    uint8_t piece[80];
    uint32_t size = w.said < HONEST_BYTES_MAX ? deliver(piece, HONEST, w.sent) : 0;
    put_head(ME, HONEST, HONEST_SESSION, w.said, 0);
    put_tail(262144, 1, piece, size);
    w.said += size;
    w.sent += size > 0;
    feed(w.links[1], out.bytes, out.size);
}

static void say_hostile(uint8_t form) {
    static uint8_t piece[70000];
    uint32_t size = 0;
    static const uint64_t sessions[] = {HOSTILE_SESSION, HOSTILE_SESSION, HONEST_SESSION, 7, 77, 777, 0, 7};
    uint64_t session = sessions[form & 7];
    uint64_t receiver = form & 8 ? number() : ME;
    uint64_t sender = form & 16 ? number() : HOSTILE;
    uint64_t at = number();
    uint64_t taken = number();
    uint64_t room = number();
    uint8_t marks = next();
    uint8_t kinds = next();
    for (; kinds > 0 && size < 60000; kinds >>= 1) {
        if (kinds & 1) {
            size += deliver(piece + size, next() & 1 ? HONEST : 3, number());
        } else {
            for (uint8_t left = next() & 63; left > 0; left--) {
                piece[size++] = next();
            }
        }
    }
    put_head(receiver, sender, session, at, taken);
    put_tail((uint32_t)room, form & 32 ? marks : marks & 1, piece, size);
    feed(w.links[0], out.bytes, out.size);
}

static void pass_time(void) {
    const tm_event *events;
    size_t count;
    tm_switch_advance(w.sw, next() * 16U);
    CHECK(tm_switch_tick(w.sw, &events, &count) == TM_OK, "tick");
    handle(events, count);
    say_honest();
}

static void say_here(uint8_t form) {
    begin(&out, form & 1 ? WIRE_CREDIT : WIRE_ACK);
    for (uint8_t left = next() & 31; left > 0; left--) {
        put_byte(&out, next());
    }
    wire_store32(out.bytes, out.size);
    if (form & 2) {
        tm_remote_send(w.sw, HOSTILE_SESSION, out.bytes, out.size);
        return;
    }
    uint32_t far = w.far[next() % FAR_ENDS];
    if (far != TM_CONNECTION_NONE) {
        tm_switch_send(w.sw, far, out.bytes, out.size, TM_LANE_ORDERED);
        if (form & 4) {
            tm_switch_close(w.sw, far, form & 8);
        }
    }
}

static void step(void) {
    uint8_t form = next();
    switch (next() % 8) {
    case 0: {
        uint8_t raw = next();
        size_t size = raw < (size_t)(w.end - w.at) ? raw : (size_t)(w.end - w.at);
        feed(w.links[0], w.at, size);
        w.at += size;
        break;
    }
    case 1:
        pass_time();
        break;
    case 2:
        say_here(form);
        break;
    case 3:
        say_honest();
        take_output(w.client);
        take_output(w.links[0]);
        break;
    default:
        say_hostile(form);
    }
}

/* ---- the world ---- */

static uint32_t opened(uint64_t number, bool is_link) {
    tm_admission admission = {.number = number,
                              .queue_bytes_max = 65536,
                              .frame_bytes_max = 1U << 20,
                              .table_bytes_max = UINT64_MAX,
                              .policy = TM_SLOW_DROP_NEWEST,
                              .version = 3,
                              .is_link = is_link};
    uint32_t connection;
    CHECK(tm_switch_open(w.sw, -1, &connection) == TM_OK, "open");
    CHECK(tm_switch_admit(w.sw, connection, &admission) == TM_OK, "admit");
    return connection;
}

static void start(tm_table *table, tm_table *network) {
    static const uint64_t others[] = {HONEST, HOSTILE};
    static const uint8_t hello[] = {12, 0, 0, 0, WIRE_REMOTE_HELLO, 0, 0, 0, 1, 2, 3, 4};
    tm_switch_options options = {.number = ME,
                                 .epoch = 1,
                                 .connections_max = 8,
                                 .frame_bytes_max = 1U << 20,
                                 .greeting_bytes_max = 4096,
                                 .publishers_max = 4,
                                 .hop_limit = 8};
    uint32_t generation;
    CHECK(tm_switch_new(&options, table, &w.sw) == TM_OK, "switch");
    CHECK(tm_switch_join(w.sw, network, 2, TM_FORWARD_WANTED) == TM_OK, "join");
    w.links[0] = opened(HOSTILE, true);
    w.links[1] = opened(HONEST, true);
    w.client = opened(7, false);
    CHECK(tm_switch_begin_routes(w.sw, 5, &generation) == TM_OK, "begin");
    CHECK(tm_switch_route(w.sw, generation, ME, 0, others, others, 2) == TM_OK, "route");
    CHECK(tm_switch_commit(w.sw, 0, 0) == TM_OK, "commit");
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t session = i == 0 ? HOSTILE_SESSION : HONEST_SESSION;
        CHECK(tm_remote_begin(w.sw, w.client, i == 0 ? HOSTILE : HONEST, session) == TM_OK, "begin");
        CHECK(tm_remote_consumer(w.sw, session, i == 0 ? 3 : HONEST, 1) == TM_OK, "attach");
        CHECK(tm_remote_send(w.sw, session, hello, sizeof hello) == TM_OK, "hello");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    tm_options tables = {0};
    tm_table *table;
    tm_table *network;
    const char *reason = NULL;
    memset(&w, 0, sizeof w);
    w.at = bytes;
    w.end = bytes + size;
    for (uint32_t i = 0; i < FAR_ENDS; i++) {
        w.far[i] = TM_CONNECTION_NONE;
    }
    CHECK(tm_table_new(TM_ENGINE_DEFAULT, &tables, &table) == TM_OK, "table");
    CHECK(tm_table_new(TM_ENGINE_DEFAULT, &tables, &network) == TM_OK, "table");
    start(table, network);
    for (uint32_t i = 0; i < OPS_MAX && w.at < w.end; i++) {
        step();
    }
    say_honest();
    take_output(w.client);
    take_output(w.links[0]);
    take_output(w.links[1]);
    CHECK(w.got == w.sent, "%lu of %lu messages came", (unsigned long)w.got, (unsigned long)w.sent);
    CHECK(tm_switch_validate(w.sw, &reason) == TM_OK, "%s", reason);
    tm_switch_free(w.sw);
    tm_table_free(table);
    tm_table_free(network);
    return 0;
}
