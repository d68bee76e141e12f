/* test_net.c - several switches, joined by links whose bytes are carried by hand, under a random life of topology,
 * filters and messages; who gets what is compared with what the graph and a list of filters say.
 *
 * Law: in quiet a message reaches every client in the component of its entry that wants it, once, and nobody else,
 * whatever generations are in force; a link is never sent what nobody behind it wants; after each step every switch
 * validates; with any allocation failing nothing is broken, only missing.
 */
#include <string.h>

#include "../records.h"
#include "../routes.h"
#include "frames.h"

#define ROUTERS 6
#define FILTERS_MAX 8 /* of the one client of each router: with those of all others, more than a plan has */
#define ROUTER(i) (100 + (uint64_t)(i))
#define CLIENT(i) (1 + (uint64_t)(i))
#define TRACE_ID 77U

typedef struct held {
    bool live;
    uint32_t id;
    uint8_t *bytes; /* owned */
    uint32_t size;
} held;

typedef struct end {
    bool open;
    uint32_t connection;
} end;

typedef struct router {
    tm_switch *sw;
    tm_table *local;
    tm_table *network;
    end client;
    end links[ROUTERS];
    held held[FILTERS_MAX];
    uint32_t generations[ROUTES_GENERATIONS_MAX]; /* newest first */
    uint64_t counter;
    uint64_t got; /* messages, and their counters mixed, since the last look */
    uint64_t expected;
    uint64_t traces;
    tm_records *records; /* NULL: none are kept */
    uint64_t recorded_clients;
    uint64_t recorded_links;
} router;

static struct {
    dice dice;
    router routers[ROUTERS];
    uint32_t cost[ROUTERS][ROUTERS]; /* 0: no edge */
    __uint128_t length[ROUTERS][ROUTERS];
    uint32_t next_id;
    uint64_t failing;
    bool lazily; /* routes are set when a message needs them */
} w;

static wire scratch;
static frame out;
static tm_attribute attributes[TM_ATTRIBUTES_MAX];

/* ---- the graph: unique shortest paths -----------------------------------------------------------------------------
 */

#define FAR ((__uint128_t)1 << 120)

static __uint128_t weight(unsigned a, unsigned b) {
    uint64_t low = a < b ? a : b;
    uint64_t high = a < b ? b : a;
    uint64_t bits = (low * ROUTERS + high + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return (__uint128_t)w.cost[a][b] << 64 | bits >> 8;
}

static void measure(void) {
    for (unsigned a = 0; a < ROUTERS; a++) {
        for (unsigned b = 0; b < ROUTERS; b++) {
            w.length[a][b] = a == b ? 0 : w.cost[a][b] > 0 ? weight(a, b) : FAR;
        }
    }
    for (unsigned via = 0; via < ROUTERS; via++) {
        for (unsigned a = 0; a < ROUTERS; a++) {
            for (unsigned b = 0; b < ROUTERS; b++) {
                __uint128_t length = w.length[a][via] + w.length[via][b];
                w.length[a][b] = length < w.length[a][b] ? length : w.length[a][b];
            }
        }
    }
}

static bool is_near(unsigned a, unsigned b) {
    return w.length[a][b] < FAR;
}

/* The first step from `from` to `to`. */
static unsigned next_hop(unsigned from, unsigned to) {
    unsigned hop = 0;
    while (w.cost[from][hop] == 0 || weight(from, hop) + w.length[hop][to] != w.length[from][to]) {
        hop++;
    }
    return hop;
}

/* ---- routes -------------------------------------------------------------------------------------------------------
 */

static void fail_next(router *at) {
    tm_switch_fail_allocation(at->sw, w.failing);
}

static void fail_no_more(router *at) {
    tm_switch_fail_allocation(at->sw, 0);
}

static int set_route(router *at, uint32_t generation, unsigned source) {
    unsigned me = (unsigned)(at - w.routers);
    uint64_t issuers[ROUTERS];
    uint64_t children[ROUTERS];
    size_t count = 0;
    for (unsigned to = 0; to < ROUTERS && is_near(source, me); to++) {
        if (to != me && is_near(me, to) && w.length[source][me] + w.length[me][to] == w.length[source][to]) {
            issuers[count] = ROUTER(to);
            children[count++] = ROUTER(next_hop(me, to));
        }
    }
    uint64_t parent = source == me || !is_near(source, me) ? 0 : ROUTER(next_hop(me, source));
    return tm_switch_route(at->sw, generation, ROUTER(source), parent, issuers, children, count);
}

static void reroute(router *at, uint32_t hold_ms) {
    unsigned me = (unsigned)(at - w.routers);
    memmove(at->generations + 1, at->generations, sizeof at->generations - sizeof *at->generations);
    CHECK(tm_switch_begin_routes(at->sw, ROUTERS + 4, at->generations) == TM_OK, "begin");
    for (unsigned source = 0; source < ROUTERS; source++) {
        if (!w.lazily || source == me) {
            fail_next(at);
            int result = set_route(at, at->generations[0], source);
            fail_no_more(at);
            CHECK(result == TM_OK || (w.failing > 0 && result == TM_NO_MEMORY), "route: %d", result);
        }
    }
    CHECK(tm_switch_commit(at->sw, hold_ms) == TM_OK, "commit");
}

/* ---- bytes --------------------------------------------------------------------------------------------------------
 */

static void set_missing(router *at, uint64_t source) {
    for (unsigned i = 0; i < ROUTES_GENERATIONS_MAX; i++) {
        int result = set_route(at, at->generations[i], (unsigned)(source - ROUTER(0)));
        CHECK(result == TM_OK || result == TM_ABSENT, "late route: %d", result);
    }
}

static void check_trace(router *at, const tm_event *event) {
    const tm_trace *trace = (const tm_trace *)(const void *)event->frame;
    uint64_t rows = 0;
    for (unsigned list = 0; list < TM_TRACE_LISTS; list++) {
        CHECK(trace->rows[list] == trace->counts[list], "few rows are all listed");
        rows += trace->rows[list];
    }
    CHECK(event->size == sizeof *trace + rows * sizeof(tm_trace_row), "%u bytes", event->size);
    CHECK(trace->trace == TRACE_ID, "trace %lu", (unsigned long)trace->trace);
    at->traces++;
}

static void handle(router *at, const tm_event *events, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (events[i].type == TM_EVENT_TRACED) {
            check_trace(at, &events[i]);
        } else if (events[i].type == TM_EVENT_FRAME) {
            CHECK(w.failing > 0 && events[i].kind == WIRE_LOST, "kind %u", events[i].kind);
        } else if (events[i].type == TM_EVENT_CLOSED) {
            CHECK(w.failing > 0, "a connection has ended: %u", events[i].code);
        } else if (events[i].type == TM_EVENT_UNROUTED) {
            CHECK(w.lazily || w.failing > 0, "a route is missing");
            out.size = events[i].size;
            memcpy(out.bytes, events[i].frame, out.size);
            set_missing(at, tm_load64(out.bytes + WIRE_TRANSIT));
            int result = tm_switch_retake(at->sw, events[i].connection, out.bytes, out.size);
            CHECK(result == TM_OK || (w.failing > 0 && result != TM_TOO_MANY), "retake: %d", result);
            CHECK(tm_switch_tick(at->sw, &events, &count) == TM_OK, "what it caused goes up later");
            handle(at, events, count);
            return;
        } else {
            CHECK(events[i].type == TM_EVENT_OUTPUT, "event %u code %u", events[i].type, events[i].code);
        }
    }
}

static void feed(router *at, uint32_t connection, const uint8_t *bytes, size_t size) {
    const tm_event *events;
    size_t count;
    fail_next(at);
    CHECK(tm_switch_feed(at->sw, connection, bytes, size, &events, &count) == TM_OK, "feed");
    fail_no_more(at);
    handle(at, events, count);
}

/* Take all that a connection has to send. */
static size_t fetch(router *at, const end *from, uint8_t *to, size_t room) {
    const uint8_t *bytes;
    size_t size;
    size_t taken = 0;
    while (from->open && tm_switch_output(at->sw, from->connection, &bytes, &size) == TM_OK && size > 0) {
        CHECK(taken + size <= room, "%zu bytes", taken + size);
        memcpy(to + taken, bytes, size);
        taken += size;
        CHECK(tm_switch_sent(at->sw, from->connection, size) == TM_OK, "sent");
    }
    return taken;
}

/* Carry what waits on a link, frame by frame: each is one step of some router. */
static bool carry(unsigned from, unsigned to) {
    static uint8_t bytes[1 << 20];
    router *there = &w.routers[to];
    size_t size = fetch(&w.routers[from], &w.routers[from].links[to], bytes, sizeof bytes);
    for (size_t at = 0; at < size && there->links[from].open; at += tm_load32(bytes + at)) {
        feed(there, there->links[from].connection, bytes + at, tm_load32(bytes + at));
    }
    return size > 0;
}

static void carry_all(void) {
    for (bool any = true; any;) {
        any = false;
        for (unsigned from = 0; from < ROUTERS; from++) {
            for (unsigned to = 0; to < ROUTERS; to++) {
                any |= carry(from, to);
            }
        }
    }
}

/* ---- links and filters --------------------------------------------------------------------------------------------
 */

static bool admit(router *at, end *to, uint64_t number, bool is_link) {
    tm_admission admission = {.number = number,
                              .queue_bytes_max = 1U << 20,
                              .credit_bytes = is_link ? 0 : UINT64_C(1) << 50,
                              .credit_frames = is_link ? 0 : 1U << 30,
                              .frame_bytes_max = 1U << 20,
                              .filters_max = is_link ? 0 : 1000,
                              .policy = TM_SLOW_DROP_NEWEST,
                              .is_link = is_link};
    CHECK(tm_switch_open(at->sw, -1, &to->connection) == TM_OK, "open");
    fail_next(at);
    int result = tm_switch_admit(at->sw, to->connection, &admission);
    fail_no_more(at);
    CHECK(result == TM_OK || (w.failing > 0 && result == TM_NO_MEMORY), "admit: %d", result);
    to->open = true;
    return result == TM_OK;
}

static void shut(router *at, end *from) {
    uint32_t left;
    const tm_event *events;
    size_t count;
    CHECK(tm_switch_close(at->sw, from->connection, true) == TM_OK, "close");
    CHECK(tm_switch_tick(at->sw, &events, &count) == TM_OK, "tick");
    CHECK(tm_switch_forget(at->sw, from->connection, 1000, &left) == TM_OK && left == 0, "forget");
    from->open = false;
}

static void cut(unsigned a, unsigned b) {
    shut(&w.routers[a], &w.routers[a].links[b]);
    shut(&w.routers[b], &w.routers[b].links[a]);
    w.cost[a][b] = w.cost[b][a] = 0;
}

static void join(unsigned a, unsigned b) {
    bool both = admit(&w.routers[a], &w.routers[a].links[b], ROUTER(b), true);
    both &= admit(&w.routers[b], &w.routers[b].links[a], ROUTER(a), true);
    w.cost[a][b] = w.cost[b][a] = 1 + below(&w.dice, 3);
    if (!both) {
        cut(a, b);
    }
}

static void change_topology(void) {
    unsigned a = below(&w.dice, ROUTERS);
    unsigned b = (a + 1 + below(&w.dice, ROUTERS - 1)) % ROUTERS;
    uint32_t hold_ms = below(&w.dice, 2) ? 1000000000 : 0;
    if (w.cost[a][b] > 0) {
        cut(a, b);
    } else {
        join(a, b);
    }
    measure();
    for (unsigned i = 0; i < ROUTERS; i++) {
        reroute(&w.routers[i], hold_ms);
    }
}

static bool subscribe_here(router *at, uint32_t id) {
    tm_subscribe job;
    tm_refusal refusal;
    uint32_t refused;
    subscribe_frame(&out, id, true, scratch.bytes, (uint32_t)scratch.size);
    CHECK(tm_subscribe_open(out.bytes, out.size, &job) == TM_OK, "a sound frame");
    fail_next(at);
    CHECK(tm_subscribe_some(at->sw, at->client.connection, &job, 10, &refusal, 1, &refused) == TM_OK, "subscribe");
    fail_no_more(at);
    return refused == 0;
}

static void tell_others(unsigned me, uint64_t id, const held *filter) {
    const uint64_t offsets[2] = {0, filter == NULL ? 0 : filter->size};
    for (unsigned i = 0; i < ROUTERS; i++) {
        router *at = &w.routers[i];
        uint8_t result = TM_OK;
        if (i == me) {
            continue;
        }
        fail_next(at);
        int called = filter == NULL ? tm_switch_uninstall(at->sw, ROUTER(me), &id, 1, &result)
                                    : tm_switch_install(at->sw, ROUTER(me), filter->bytes, offsets, &id, 1, &result);
        fail_no_more(at);
        CHECK(w.failing > 0 || (called == TM_OK && result == TM_OK), "%d %u", called, result);
        if (filter != NULL && w.failing == 0) {
            CHECK(tm_switch_install(at->sw, ROUTER(me), filter->bytes, offsets, &id, 1, &result) == TM_OK &&
                      result == TM_MISUSED,
                  "an id twice");
        }
    }
}

static void change_filter(void) {
    unsigned me = below(&w.dice, ROUTERS);
    router *at = &w.routers[me];
    held *h = &at->held[below(&w.dice, FILTERS_MAX)];
    if (h->live) {
        CHECK(tm_switch_unsubscribe(at->sw, at->client.connection, h->id) == TM_OK, "unsubscribe");
        tell_others(me, h->id, NULL);
        free(h->bytes);
        *h = (held){0};
        return;
    }
    random_filter(&w.dice, &scratch);
    *h = (held){.live = true, .id = ++w.next_id, .bytes = malloc(scratch.size), .size = (uint32_t)scratch.size};
    memcpy(h->bytes, scratch.bytes, scratch.size);
    if (!subscribe_here(at, h->id)) {
        CHECK(w.failing > 0, "refused");
        free(h->bytes);
        *h = (held){0};
        return;
    }
    tell_others(me, h->id, h);
}

/* ---- messages -----------------------------------------------------------------------------------------------------
 */

static uint64_t mix(uint64_t origin, uint64_t counter) {
    return (counter * 1000003 + origin) * UINT64_C(0x9e3779b97f4a7c15) | 1;
}

static bool wants(const router *at, size_t count) {
    static tm_filter parsed;
    for (unsigned i = 0; i < FILTERS_MAX; i++) {
        if (at->held[i].live) {
            CHECK(tm_filter_parse(at->held[i].bytes, at->held[i].size, &parsed) == TM_OK, "it was taken");
            twin_filter asked = {.parsed = &parsed};
            if (twin_matches(&asked, attributes, count)) {
                return true;
            }
        }
    }
    return false;
}

/* Put a TRACE extension into the frame in `out`. */
static void trace_frame(void) {
    uint8_t extension[12] = {WIRE_TRACE, 0, 8, 0, TRACE_ID};
    memmove(out.bytes + WIRE_HEADER_BYTES + 12, out.bytes + WIRE_HEADER_BYTES, out.size - WIRE_HEADER_BYTES);
    memcpy(out.bytes + WIRE_HEADER_BYTES, extension, sizeof extension);
    out.size += 12;
    out.bytes[WIRE_FLAGS] |= WIRE_FLAG_TRACED;
    wire_store16(out.bytes + WIRE_EXTENSION_SIZE, 12);
    wire_store32(out.bytes, out.size);
}

/* `kind` is that of a message that is asked after; 0: nobody asks. */
static void publish(unsigned me, unsigned kind, uint32_t present) {
    router *at = &w.routers[me];
    size_t count;
    size_t used;
    uint64_t before = 0;
    random_values(&w.dice, present, &scratch);
    CHECK(tm_attributes_decode(scratch.bytes, scratch.size, attributes, &count, &used) == TM_OK, "decode");
    publish_frame(&out, CLIENT(me), ++at->counter, false, &scratch, below(&w.dice, 100));
    for (unsigned i = 0; i < ROUTERS; i++) {
        router *there = &w.routers[i];
        bool reached = is_near(me, i) && wants(there, count);
        there->expected += reached && kind != WIRE_DRY_RUN ? mix(CLIENT(me), at->counter) : 0;
        before += there->traces;
    }
    if (kind != 0) {
        trace_frame();
        out.bytes[WIRE_KIND] = (uint8_t)kind;
    }
    feed(at, at->client.connection, out.bytes, out.size);
    for (unsigned i = 0; i < ROUTERS; i++) {
        before -= w.routers[i].traces;
    }
    CHECK(w.failing > 0 || (kind != 0) == (before != 0), "kind %u, %ld trails at the entry", kind, -(long)before);
}

static void check_arrivals(void) {
    static uint8_t bytes[1 << 20];
    for (unsigned i = 0; i < ROUTERS; i++) {
        router *at = &w.routers[i];
        size_t size = fetch(at, &at->client, bytes, sizeof bytes);
        for (size_t from = 0; from < size; from += tm_load32(bytes + from)) {
            if (bytes[from + WIRE_KIND] == WIRE_DELIVER) {
                at->got += mix(tm_load64(bytes + from + WIRE_ORIGIN), tm_load64(bytes + from + WIRE_COUNTER));
                CHECK(bytes[from + WIRE_HOPS] >= 4, "%u hops left", bytes[from + WIRE_HOPS]);
            }
        }
        CHECK(w.failing > 0 || at->got == at->expected, "router %u: others came than were wanted", i);
        at->got = at->expected = 0;
    }
}

/* In quiet, with one generation in force, no copy is refused and none is in vain. */
static void check_drops(const router *at, const tm_switch_stats *before) {
    tm_switch_stats now;
    tm_switch_figures(at->sw, &now);
    if (now.generations == 1 && w.failing == 0) {
        CHECK(now.dropped[TM_DROP_PARENT] == before->dropped[TM_DROP_PARENT], "from no parent");
        CHECK(now.dropped[TM_DROP_TRANSIT] == before->dropped[TM_DROP_TRANSIT], "twice");
        CHECK(now.dropped[TM_DROP_NO_LINK] == before->dropped[TM_DROP_NO_LINK], "for nobody");
    }
    CHECK(now.dropped[TM_DROP_NO_ROUTE] == 0 || w.failing > 0, "a message without a route");
    CHECK(now.dropped[TM_DROP_HOPS] == 0, "a message went in circles");
}

/* Every delivery stands in a record, unless some were lost; of copies for links all but dry runs, which are not. */
static void check_records(router *at) {
    static uint8_t lines[1 << 20];
    const char *reason = NULL;
    CHECK(tm_records_validate(at->records, &reason) == TM_OK, "%s", reason);
    for (uint64_t noted = at->records->taken; noted != at->records->noted;) {
        const tm_record *record = (tm_record *)(at->records->ring + (noted & (at->records->ring_bytes - 1)));
        at->recorded_clients += record->is_filler ? 0 : record->clients;
        at->recorded_links += record->is_filler ? 0 : record->links;
        noted += record->size;
    }
    size_t size;
    uint64_t count;
    do {
        CHECK(tm_records_take(at->records, tm_records_end(at->records), lines, sizeof lines, &size, &count) == TM_OK,
              "taking");
    } while (count > 0);
    tm_switch_stats stats;
    tm_switch_figures(at->sw, &stats);
    bool all = tm_records_lost(at->records) == 0;
    CHECK(!all || at->recorded_clients == stats.deliveries, "%lu recorded of %lu deliveries",
          (unsigned long)at->recorded_clients, (unsigned long)stats.deliveries);
    CHECK(at->recorded_links <= stats.forwarded, "%lu recorded of %lu copies for links",
          (unsigned long)at->recorded_links, (unsigned long)stats.forwarded);
}

static void check_all(void) {
    for (unsigned i = 0; i < ROUTERS; i++) {
        const char *reason = "";
        if (w.routers[i].records != NULL) {
            check_records(&w.routers[i]);
        }
        CHECK(tm_switch_validate(w.routers[i].sw, &reason) == TM_OK, "%s", reason);
        check_valid(w.routers[i].network);
    }
}

/* ---- lives --------------------------------------------------------------------------------------------------------
 */

static void record(router *at) {
    tm_records_options options = {
        .prefix = (const uint8_t *)"{", .prefix_size = 1, .share = UINT64_MAX, .ring_bytes = 1 << 22};
    CHECK(tm_records_new(&options, &at->records) == TM_OK, "records");
    CHECK(tm_switch_record(at->sw, at->records) == TM_OK, "recording");
}

static void start(uint64_t seed, bool lazily) {
    memset(&w, 0, sizeof w);
    w.dice.state = seed;
    w.lazily = lazily;
    for (unsigned i = 0; i < ROUTERS; i++) {
        router *at = &w.routers[i];
        tm_switch_options options = {.number = ROUTER(i),
                                     .epoch = 1,
                                     .connections_max = 2 * ROUTERS,
                                     .frame_bytes_max = 1U << 20,
                                     .greeting_bytes_max = 4096,
                                     .publishers_max = ROUTERS,
                                     .hop_limit = 1};
        at->local = new_table((int)(seed % ENGINES));
        at->network = new_table((int)(seed % ENGINES));
        CHECK(tm_switch_new(&options, at->local, &at->sw) == TM_OK, "new");
        CHECK(tm_switch_join(at->sw, at->network, ROUTERS) == TM_OK, "join");
        CHECK(tm_switch_join(at->sw, at->network, ROUTERS) == TM_MISUSED, "join twice");
        CHECK(admit(at, &at->client, CLIENT(i), false), "the client");
        if (seed % 2 == 0) {
            record(at);
        }
    }
    for (unsigned i = 1; i < ROUTERS; i++) {
        join(i, below(&w.dice, i));
    }
    change_topology();
}

static void pass_time(void) {
    const tm_event *events;
    size_t count;
    for (unsigned i = 0; i < ROUTERS; i++) {
        tm_switch_advance(w.routers[i].sw, 2000000000);
        CHECK(tm_switch_tick(w.routers[i].sw, &events, &count) == TM_OK, "tick");
        handle(&w.routers[i], events, count);
    }
}

static void forget_all(router *at) {
    for (unsigned other = 0; other < ROUTERS; other++) {
        uint32_t left;
        CHECK(tm_switch_forget_router(at->sw, ROUTER(other), 2, &left) == TM_OK, "forget some");
        CHECK(tm_switch_forget_router(at->sw, ROUTER(other), 1000, &left) == TM_OK && left == 0, "forget");
    }
    tm_stats stats;
    tm_table_stats(at->network, &stats);
    CHECK(stats.filters == 0, "%lu filters of routers that are forgotten", (unsigned long)stats.filters);
}

static void stop(void) {
    for (unsigned i = 0; i < ROUTERS; i++) {
        forget_all(&w.routers[i]);
    }
    w.failing = 0;
    w.lazily = true;
    for (unsigned i = 0; i < ROUTERS * ROUTERS; i++) {
        if (w.cost[i / ROUTERS][i % ROUTERS] > 0) {
            cut(i / ROUTERS, i % ROUTERS);
        }
    }
    measure();
    pass_time();
    for (unsigned i = 0; i < ROUTERS; i++) {
        reroute(&w.routers[i], 0);
        tm_switch_stats stats;
        tm_switch_figures(w.routers[i].sw, &stats);
        CHECK(stats.routers == 1, "%u routers of which nothing speaks any more", stats.routers - 1);
    }
    check_all();
    for (unsigned i = 0; i < ROUTERS; i++) {
        router *at = &w.routers[i];
        for (unsigned f = 0; f < FILTERS_MAX; f++) {
            free(at->held[f].bytes);
        }
        tm_switch_free(at->sw);
        tm_records_free(at->records);
        tm_table_free(at->local);
        tm_table_free(at->network);
    }
}

/* One publisher's messages of one shape, so many that plans are made, and again after a change. */
static void publish_alike(void) {
    unsigned me = below(&w.dice, ROUTERS);
    uint32_t present = below(&w.dice, RANDOM_SHAPES);
    for (int i = 0; i < 180; i++) {
        if (i % 60 == 59) {
            carry_all();
            change_filter();
        }
        publish(me, 0, present);
    }
}

static void publish_any(void) {
    static const uint8_t kinds[6] = {WIRE_DRY_RUN, WIRE_PUBLISH};
    for (int i = 0; i < 5; i++) {
        publish(below(&w.dice, ROUTERS), kinds[below(&w.dice, 6)], below(&w.dice, RANDOM_SHAPES));
    }
}

static void publish_some(void) {
    tm_switch_stats before[ROUTERS];
    for (unsigned i = 0; i < ROUTERS; i++) {
        tm_switch_figures(w.routers[i].sw, &before[i]);
    }
    if (below(&w.dice, 10) == 0) {
        publish_alike();
    } else {
        publish_any();
    }
    carry_all();
    check_arrivals();
    for (unsigned i = 0; i < ROUTERS; i++) {
        check_drops(&w.routers[i], &before[i]);
    }
}

static void live(uint64_t seed, bool lazily) {
    start(seed, lazily);
    for (int i = 0; i < 250; i++) {
        uint32_t kind = below(&w.dice, 10);
        if (kind == 0) {
            change_topology();
        } else if (kind == 1) {
            pass_time();
        } else if (kind < 6) {
            change_filter();
        } else {
            publish_some();
        }
        check_all();
    }
    stop();
}

static bool is_whole(const router *at, const end *of) {
    tm_connection_stats stats;
    return !of->open || (tm_switch_connection(at->sw, of->connection, &stats) == TM_OK && stats.state == 2);
}

/* Sessions that ended for want of memory are over on both sides; clients come back. */
static void mend(void) {
    for (unsigned a = 0; a < ROUTERS; a++) {
        router *at = &w.routers[a];
        for (unsigned b = 0; b < ROUTERS; b++) {
            if (w.cost[a][b] > 0 && !(is_whole(at, &at->links[b]) && is_whole(&w.routers[b], &w.routers[b].links[a]))) {
                cut(a, b);
            }
        }
        if (!is_whole(at, &at->client)) {
            shut(at, &at->client);
            for (unsigned f = 0; f < FILTERS_MAX; f++) {
                free(at->held[f].bytes);
                at->held[f] = (held){0};
            }
            w.failing = 0;
            CHECK(admit(at, &at->client, CLIENT(a), false), "the client again");
        }
    }
    measure();
}

static void live_without_memory(uint64_t seed) {
    start(seed, seed % 2 == 0);
    for (int i = 0; i < 300; i++) {
        w.failing = 1 + below(&w.dice, 6);
        uint32_t kind = below(&w.dice, 10);
        if (kind < 2) {
            change_topology();
        } else if (kind < 5) {
            change_filter();
        } else {
            publish_some();
        }
        mend();
        check_all();
    }
    stop();
}

int main(int count, char **values) {
    uint64_t seeds = count > 1 ? strtoull(values[1], NULL, 10) : 9;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        live(seed, false);
        live(seed, true);
        live_without_memory(seed);
    }
    printf("%lu lives of %d switches\n", (unsigned long)(3 * seeds), ROUTERS);
    return 0;
}
