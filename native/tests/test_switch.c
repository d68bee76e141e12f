/* test_switch.c - a switch under a random life: who gets what is compared with a list of filters that is asked one by
 * one.
 *
 * Law: every expected message arrives exactly once, named with exactly the subscriptions it satisfies, or is counted as
 * lost and told so; every stream is whole frames whatever the pieces in which it was fed and fetched; after each step
 * the switch validates; with any allocation failing nothing is broken, only refused.
 */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "frames.h"

#define PEERS 6
#define FILTERS_MAX 12
#define QUEUE_BYTES 2000U
#define STREAM_BYTES (1U << 20)

typedef struct held {
    bool live;
    bool own;
    uint32_t id;
    uint8_t *bytes; /* owned */
    uint32_t size;
} held;

typedef struct peer {
    bool open;
    bool ended; /* the switch said so */
    uint32_t connection;
    uint32_t subscriber;
    uint64_t counter;
    held held[FILTERS_MAX];
    uint8_t stream[STREAM_BYTES]; /* what the switch sent and was not yet read */
    uint32_t stream_size;
    uint64_t expected;
    uint64_t expected_names; /* mixes (counter, subscription) */
    uint64_t arrived;
    uint64_t arrived_names;
    uint64_t lost;
} peer;

typedef struct world {
    dice dice;
    tm_table *table;
    tm_switch *sw;
    peer peers[PEERS];
    uint32_t next_id;
    uint64_t failing; /* the n-th allocation of each step fails; 0: none */
    bool lossy;
    bool starves; /* steps fail now and then */
} world;

static wire scratch;
static world w;

static uint64_t mix(uint64_t counter, uint32_t id) {
    return (counter * 1000003 + id) * UINT64_C(0x9e3779b97f4a7c15);
}

static frame out;

/* ---- what a peer sees ---- */

static void read_deliver(peer *p, const uint8_t *bytes) {
    CHECK(tm_load16(bytes + WIRE_HEADER_BYTES) == WIRE_SATISFIED, "the first extension");
    p->arrived++;
    uint32_t count = tm_load16(bytes + WIRE_HEADER_BYTES + 2) / 4;
    for (uint32_t i = 0; i < count; i++) {
        p->arrived_names += mix(tm_load64(bytes + WIRE_COUNTER), tm_load32(bytes + WIRE_HEADER_BYTES + 4 + 4 * i));
    }
}

static void read_stream(peer *p) {
    uint32_t at = 0;
    while (p->stream_size - at >= WIRE_PREFIX_BYTES && tm_load32(p->stream + at) <= p->stream_size - at) {
        const uint8_t *bytes = p->stream + at;
        const uint8_t *body = bytes + WIRE_PREFIX_BYTES + 1;
        switch (bytes[WIRE_KIND]) {
        case WIRE_DELIVER:
            read_deliver(p, bytes);
            break;
        case WIRE_LOST:
            p->lost += read_unsigned(&body);
            break;
        case WIRE_ACK:
        case WIRE_CREDIT:
        case WIRE_PING:
            break;
        default:
            CHECK(false, "kind %u", bytes[WIRE_KIND]);
        }
        at += tm_load32(bytes);
    }
    memmove(p->stream, p->stream + at, p->stream_size - at);
    p->stream_size -= at;
}

static void fetch(peer *p, bool all) {
    const uint8_t *bytes;
    size_t size;
    while (p->open && tm_switch_output(w.sw, p->connection, &bytes, &size) == TM_OK && size > 0) {
        size = all ? size : 1 + below(&w.dice, (uint32_t)size);
        CHECK(p->stream_size + size <= STREAM_BYTES, "a stream of a megabyte");
        memcpy(p->stream + p->stream_size, bytes, size);
        p->stream_size += (uint32_t)size;
        CHECK(tm_switch_sent(w.sw, p->connection, size) == TM_OK, "sent");
        if (!all) {
            break;
        }
    }
    read_stream(p);
}

/* ---- steps ---- */

static void fail_next(void) {
    tm_switch_fail_allocation(w.sw, w.failing);
}

static void fail_no_more(void) {
    tm_switch_fail_allocation(w.sw, 0);
}

static void note_end(const tm_event *event) {
    for (peer *p = w.peers; p < w.peers + PEERS; p++) {
        p->ended |= event->type == TM_EVENT_CLOSED && p->open && p->connection == event->connection;
    }
}

static void close_peer(peer *p) {
    const tm_event *events;
    size_t count;
    fetch(p, true);
    CHECK(tm_switch_close(w.sw, p->connection, true) == TM_OK, "close");
    CHECK(tm_switch_tick(w.sw, &events, &count) == TM_OK, "tick");
    for (size_t i = 0; i < count; i++) {
        note_end(&events[i]);
    }
    CHECK(p->ended, "the end of a connection is not reported");
    uint32_t left;
    do {
        CHECK(tm_switch_forget(w.sw, p->connection, 1, &left) == TM_OK, "forget");
    } while (left > 0);
    for (unsigned i = 0; i < FILTERS_MAX; i++) {
        free(p->held[i].bytes);
        p->held[i] = (held){0};
    }
    p->open = false;
}

static void open_peer(peer *p) {
    uint64_t counter = p->counter;
    memset(p, 0, sizeof *p);
    p->counter = counter;
    fail_next();
    int result = tm_switch_open(w.sw, -1, &p->connection);
    if (result != TM_OK) {
        CHECK(w.failing > 0 && result == TM_NO_MEMORY, "open: %d", result);
        return;
    }
    tm_admission admission = {
        .number = (uint64_t)(p - w.peers) + 1,
        .queue_bytes_max = w.lossy ? QUEUE_BYTES : 1U << 30,
        .credit_bytes = UINT64_C(1) << 50,
        .credit_frames = 1U << 30,
        .frame_bytes_max = 1U << 20,
        .table_bytes_max = UINT64_MAX,
        .filters_max = 1000,
        .policy = (uint8_t)below(&w.dice, 3),
    };
    result = tm_switch_admit(w.sw, p->connection, &admission);
    fail_no_more();
    p->open = true;
    if (result != TM_OK) {
        CHECK(w.failing > 0 && result == TM_NO_MEMORY, "admit: %d", result);
        close_peer(p);
        return;
    }
    p->subscriber = tm_switch_subscriber_of(w.sw, p->connection);
}

static void subscribe(peer *p) {
    held *h = &p->held[below(&w.dice, FILTERS_MAX)];
    if (h->live) {
        CHECK(tm_switch_unsubscribe(w.sw, p->subscriber, h->id) == TM_OK, "unsubscribe");
        CHECK(tm_switch_unsubscribe(w.sw, p->subscriber, h->id) == TM_ABSENT, "twice");
        free(h->bytes);
        *h = (held){0};
        return;
    }
    random_filter(&w.dice, &scratch);
    bool own = below(&w.dice, 2);
    uint32_t id = ++w.next_id;
    subscribe_frame(&out, id, own, scratch.bytes, (uint32_t)scratch.size);
    tm_subscribe job;
    tm_refusal refusal;
    uint32_t refused;
    CHECK(tm_subscribe_open(out.bytes, out.size, &job) == TM_OK && job.count == 1, "a frame of one subscription");
    fail_next();
    CHECK(tm_subscribe_some(w.sw, p->subscriber, &job, 10, &refusal, 1, &refused) == TM_OK, "subscribe");
    fail_no_more();
    if (refused > 0) {
        CHECK(w.failing > 0 && refusal.code == WIRE_REFUSED_OUT_OF_MEMORY, "code %u", refusal.code);
        return;
    }
    *h = (held){.live = true, .own = own, .id = id, .bytes = malloc(scratch.size), .size = (uint32_t)scratch.size};
    memcpy(h->bytes, scratch.bytes, scratch.size);
}

static bool satisfies(const held *h, const tm_attribute *attributes, size_t count) {
    static tm_filter parsed;
    CHECK(tm_filter_parse(h->bytes, h->size, &parsed) == TM_OK, "an accepted filter cannot be parsed");
    twin_filter asked = {.parsed = &parsed};
    return twin_matches(&asked, attributes, count);
}

static void expect(const peer *from, uint64_t counter, const tm_attribute *attributes, size_t count) {
    for (peer *p = w.peers; p < w.peers + PEERS; p++) {
        bool any = false;
        for (unsigned i = 0; p->open && i < FILTERS_MAX; i++) {
            const held *h = &p->held[i];
            if (h->live && (p != from || h->own) && satisfies(h, attributes, count)) {
                any = true;
                p->expected_names += mix(counter, h->id);
            }
        }
        p->expected += any;
    }
}

static void feed(peer *p, const uint8_t *bytes, size_t size) {
    const tm_event *events;
    size_t count;
    while (size > 0) {
        size_t piece = below(&w.dice, 4) == 0 ? 1 + below(&w.dice, (uint32_t)size) : size;
        CHECK(tm_switch_feed(w.sw, p->connection, bytes, piece, &events, &count) == TM_OK, "feed");
        for (size_t i = 0; i < count; i++) {
            note_end(&events[i]);
            CHECK(events[i].type == TM_EVENT_OUTPUT || events[i].type == TM_EVENT_SLOW ||
                      (w.starves && events[i].type == TM_EVENT_CLOSED),
                  "event %u code %u %s", events[i].type, events[i].code, events[i].text);
        }
        bytes += piece;
        size -= piece;
    }
}

static void publish(peer *p, uint32_t present) {
    static tm_attribute attributes[TM_ATTRIBUTES_MAX];
    size_t count;
    size_t used;
    random_values(&w.dice, present, &scratch);
    CHECK(tm_attributes_decode(scratch.bytes, scratch.size, attributes, &count, &used) == TM_OK, "decode");
    bool again = p->counter > 0 && below(&w.dice, 8) == 0;
    p->counter += again ? 0 : 1 + below(&w.dice, 3);
    if (!again) {
        expect(p, p->counter, attributes, count);
    }
    uint32_t payload = below(&w.dice, 50) == 0 ? 100000 : below(&w.dice, 100);
    publish_frame(&out, (uint64_t)(p - w.peers) + 1, p->counter, below(&w.dice, 2), &scratch,
                  w.lossy ? payload % 300 : payload);
    feed(p, out.bytes, out.size);
}

/* So many of one shape that the switch makes a plan for them. */
static void publish_alike(peer *p) {
    uint32_t present = below(&w.dice, RANDOM_SHAPES);
    for (int i = 0; i < 60; i++) {
        publish(p, present);
    }
}

static void check_all(void) {
    const char *reason = "";
    CHECK(tm_switch_validate(w.sw, &reason) == TM_OK, "%s", reason);
    check_valid(w.table);
}

static void check_arrivals(void) {
    for (peer *p = w.peers; p < w.peers + PEERS; p++) {
        fetch(p, true);
        if (!p->open) {
            continue;
        }
        CHECK(p->stream_size == 0, "a partial frame is left");
        CHECK(p->arrived + p->lost == p->expected, "%lu + %lu of %lu", (unsigned long)p->arrived,
              (unsigned long)p->lost, (unsigned long)p->expected);
        CHECK(p->lost > 0 || p->arrived_names == p->expected_names, "the delivered subscriptions differ");
        CHECK(w.lossy || p->lost == 0, "%lu lost", (unsigned long)p->lost);
    }
}

static void step(void) {
    peer *p = &w.peers[below(&w.dice, PEERS)];
    uint32_t kind = below(&w.dice, 100);
    if (!p->open) {
        open_peer(p);
    } else if (kind < 2) {
        close_peer(p);
    } else if (kind < 30) {
        subscribe(p);
    } else if (kind < 32) {
        publish_alike(p);
    } else if (kind < 80) {
        publish(p, below(&w.dice, RANDOM_SHAPES));
    } else {
        fetch(p, below(&w.dice, 2));
    }
    fail_no_more();
}

static void start(uint64_t seed, bool lossy) {
    w = (world){.dice = {seed}, .lossy = lossy};
    w.table = new_table((uint32_t)(seed % engines()));
    tm_switch_options options = {.number = 99,
                                 .epoch = 1,
                                 .connections_max = PEERS,
                                 .frame_bytes_max = 1U << 20,
                                 .greeting_bytes_max = 4096,
                                 .publishers_max = PEERS,
                                 .hop_limit = 8};
    CHECK(tm_switch_new(&options, w.table, &w.sw) == TM_OK, "new");
}

static void stop(void) {
    for (peer *p = w.peers; p < w.peers + PEERS; p++) {
        if (p->open) {
            close_peer(p);
        }
    }
    check_all();
    tm_switch_free(w.sw);
    tm_table_free(w.table);
}

static void live(uint64_t seed, bool lossy) {
    start(seed, lossy);
    for (int i = 0; i < 1500; i++) {
        step();
        check_all();
        if (i % 50 == 49) {
            check_arrivals();
        }
    }
    check_arrivals();
    stop();
}

/* Only what must hold without memory: nothing breaks, and with memory again all goes on. */
static void live_without_memory(uint64_t seed) {
    start(seed, true);
    w.starves = true;
    for (int i = 0; i < 600; i++) {
        w.failing = below(&w.dice, 2) ? 1 + below(&w.dice, 4) : 0;
        peer *p = &w.peers[below(&w.dice, PEERS)];
        uint32_t kind = below(&w.dice, 10);
        tm_connection_stats stats = {0};
        if (p->open && tm_switch_connection(w.sw, p->connection, &stats) == TM_OK && stats.state != 2) {
            close_peer(p);
        } else if (!p->open) {
            open_peer(p);
        } else if (kind < 4) {
            subscribe(p);
        } else if (kind < 9) {
            random_message(&w.dice, &scratch);
            publish_frame(&out, (uint64_t)(p - w.peers) + 1, ++p->counter, kind % 2, &scratch, 100);
            fail_next();
            feed(p, out.bytes, out.size);
        }
        fail_no_more();
        check_all();
    }
    stop();
}

/* Sockets instead of bytes by hand: the descriptor of the switch is ready when something is to be done. */
static void through_sockets(void) {
    start(1, false);
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0, "socketpair");
    uint32_t id;
    const tm_event *events;
    size_t count;
    CHECK(tm_switch_open(w.sw, ends[1], &id) == TM_OK, "open");
    begin(&out, WIRE_HELLO);
    put_byte(&out, 0x90);
    wire_store32(out.bytes, out.size);
    CHECK(write(ends[0], out.bytes, out.size) == (ssize_t)out.size, "write");
    CHECK(tm_switch_poll(w.sw, 1000, &events, &count) == TM_OK && count == 1, "%zu events", count);
    CHECK(events[0].type == TM_EVENT_FRAME && events[0].kind == WIRE_HELLO && events[0].size == out.size &&
              memcmp(events[0].frame, out.bytes, out.size) == 0,
          "the frame in the event differs");
    CHECK(tm_switch_send(w.sw, id, out.bytes, out.size, TM_LANE_ORDERED) == TM_OK, "send");
    uint8_t back[64];
    CHECK(read(ends[0], back, sizeof back) == (ssize_t)out.size, "the answer is missing");
    close(ends[0]);
    CHECK(tm_switch_poll(w.sw, 1000, &events, &count) == TM_OK && count == 1 && events[0].type == TM_EVENT_CLOSED,
          "the end is not reported");
    uint32_t left;
    CHECK(tm_switch_forget(w.sw, id, 1, &left) == TM_OK && left == 0, "forget");
    stop();
}

int main(int count, char **values) {
    uint64_t seeds = count > 1 ? strtoull(values[1], NULL, 10) : 12;
    through_sockets();
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        live(seed, false);
        live(seed, true);
        live_without_memory(seed);
    }
    printf("%lu lives of a switch\n", (unsigned long)(3 * seeds));
    return 0;
}
