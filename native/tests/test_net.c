/* test_net.c - several switches, joined by links whose bytes are carried by hand, under a random life of topology,
 * filters and messages; who gets what is compared with what the graph and a list of filters say.
 *
 * Law: in quiet a message reaches every client in the component of its entry that wants it, once, and nobody else,
 * whatever generations are in force; a link is never sent what nobody behind it wants; after each step every switch
 * validates; with any allocation failing nothing is broken, only missing.
 */
#include <string.h>

#include "net_world.h"

static tm_attribute attributes[TM_ATTRIBUTES_MAX];

/* ---- messages ---- */

static uint64_t mix(uint64_t origin, uint64_t counter) {
    return (counter * 1000003 + origin) * UINT64_C(0x9e3779b97f4a7c15) | 1;
}

static bool wants(const router *at, size_t count) {
    static tm_filter parsed;
    for (unsigned i = 0; i < FILTERS_MAX; i++) {
        if (at->held[i].live) {
            CHECK(tm_filter_parse(at->held[i].bytes, at->held[i].size, &parsed) == TM_OK,
                  "an accepted filter cannot be parsed");
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
        bool reached = graph_is_near(&w.graph, me, i) && wants(there, count);
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
        CHECK(w.failing > 0 || at->got == at->expected, "router %u: received and expected messages differ", i);
        at->got = at->expected = 0;
    }
}

/* In quiet, with one generation in force, no copy is refused and none is in vain. */
static void check_drops(const router *at, const tm_switch_stats *before) {
    tm_switch_stats now;
    tm_switch_figures(at->sw, &now);
    if (now.generations == 1 && w.failing == 0) {
        CHECK(now.dropped[TM_DROP_PARENT] == before->dropped[TM_DROP_PARENT], "a drop for a wrong parent");
        CHECK(now.dropped[TM_DROP_TRANSIT] == before->dropped[TM_DROP_TRANSIT], "twice");
        CHECK(now.dropped[TM_DROP_NO_LINK] == before->dropped[TM_DROP_NO_LINK], "a drop for want of a link");
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
        at->recorded_clients += record->kind == RECORD_OF_MESSAGE ? record->clients : 0;
        at->recorded_links += record->kind == RECORD_OF_MESSAGE ? record->links : 0;
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

/* ---- lives ---- */

static void record(router *at) {
    tm_records_options options = {
        .prefix = (const uint8_t *)"{", .prefix_size = 1, .share = UINT64_MAX, .ring_bytes = 1 << 22};
    CHECK(tm_records_new(&options, &at->records) == TM_OK, "records");
    CHECK(tm_switch_record(at->sw, at->records) == TM_OK, "recording");
}

/* Two classes, of which a message may be in both. */
static void classify(router *at) {
    uint32_t handle;
    at->classes = new_table(0);
    for (uint32_t class = 0; class < 2; class++) {
        random_filter(&w.dice, &scratch);
        CHECK(tm_table_add(at->classes, scratch.bytes, scratch.size, class, &handle) == TM_OK, "a class");
    }
    CHECK(tm_switch_classify(at->sw, at->network, 2) == TM_MISUSED, "the table of the network is accepted");
    CHECK(tm_switch_classify(at->sw, at->classes, TM_CLASSES_MAX + 1) == TM_MISUSED, "too many classes");
    CHECK(tm_switch_classify(at->sw, at->classes, 2) == TM_OK, "classify");
    CHECK(tm_switch_classify(at->sw, at->classes, 2) == TM_MISUSED, "classify twice");
}

static uint32_t choose_policy(uint64_t seed) {
    w.by_root = seed % 4 == 0;
    w.by_set = seed % 4 == 2;
    w.weighs = seed % 8 == 6;
    w.by_keys = seed % 4 == 1;
    if (w.by_keys) {
        return TM_FORWARD_KEYS;
    }
    if (w.by_root || w.by_set) {
        return w.by_root ? TM_FORWARD_BY_ROOT : TM_FORWARD_DESTINATIONS;
    }
    return seed % 7 == 0 ? TM_FORWARD_MATCH_FIRST : seed % 3 == 0 ? TM_FORWARD_WANTED : TM_FORWARD_FLOOD;
}

/* An engine whose matches can stop after some filters. */
static uint32_t limiting_engine(uint64_t seed) {
    uint32_t engine = (uint32_t)(seed % engines());
    while (!tm_engine_limits(engine)) {
        engine = (engine + 1) % engines();
    }
    return engine;
}

static void start(uint64_t seed, bool lazily) {
    const uint64_t sets[2] = {w.sets[0], w.sets[1]};
    const uint64_t keys[2] = {w.keys[0], w.keys[1]};
    memset(&w, 0, sizeof w);
    memcpy(w.sets, sets, sizeof w.sets);
    memcpy(w.keys, keys, sizeof w.keys);
    w.dice.state = seed;
    w.lazily = lazily;
    w.everything = seed % 3 == 0 ? 0 : (seed % 3 == 1 ? 16 : 15);
    uint32_t forwarding = choose_policy(seed);
    for (unsigned i = 0; i < ROUTERS; i++) {
        router *at = &w.routers[i];
        tm_switch_options options = {.number = ROUTER(i),
                                     .epoch = 1,
                                     .connections_max = 2 * ROUTERS,
                                     .frame_bytes_max = 1U << 20,
                                     .greeting_bytes_max = 4096,
                                     .publishers_max = ROUTERS,
                                     .hop_limit = 1};
        at->local = new_table((uint32_t)(seed % engines()));
        at->network = new_table(w.by_keys ? limiting_engine(seed) : (uint32_t)(seed % engines()));
        CHECK(tm_switch_new(&options, at->local, &at->sw) == TM_OK, "new");
        CHECK(tm_switch_join(at->sw, at->network, ROUTERS, TM_FORWARDINGS) == TM_MISUSED, "no such policy");
        CHECK(tm_switch_join(at->sw, at->network, ROUTERS, forwarding) == TM_OK, "join");
        CHECK(tm_switch_join(at->sw, at->network, ROUTERS, forwarding) == TM_MISUSED, "join twice");
        CHECK(tm_switch_limit_keys(at->sw, 0) == TM_MISUSED, "no key at all");
        CHECK(tm_switch_limit_keys(at->sw, 1 + (uint32_t)(seed % 3)) == TM_OK, "limit keys");
        CHECK(admit(at, &at->client, CLIENT(i), false), "the client");
        if (w.by_root) {
            classify(at);
        }
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
        if (w.graph.cost[i / ROUTERS][i % ROUTERS] > 0) {
            cut(i / ROUTERS, i % ROUTERS);
        }
    }
    graph_measure(&w.graph);
    pass_time();
    for (unsigned i = 0; i < ROUTERS; i++) {
        reroute(&w.routers[i], 0);
        tm_switch_stats stats;
        tm_switch_figures(w.routers[i].sw, &stats);
        CHECK(stats.routers == 1, "%u routers without any reference are left", stats.routers - 1);
        w.sets[0] += stats.sets_written;
        w.sets[1] += stats.sets_believed;
        w.keys[0] += stats.keys_written;
        w.keys[1] += stats.keys_believed;
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
        if (at->classes != NULL) {
            tm_table_free(at->classes);
        }
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
        uint32_t at = below(&w.dice, ROUTERS);
        uint8_t kind = kinds[below(&w.dice, 6)];
        publish(at, kind, below(&w.dice, RANDOM_SHAPES));
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
            if (w.graph.cost[a][b] > 0 &&
                !(is_whole(at, &at->links[b]) && is_whole(&w.routers[b], &w.routers[b].links[a]))) {
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
    graph_measure(&w.graph);
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
    CHECK(seeds < 2 || (w.sets[0] > 0 && w.sets[1] > 0), "no set was written, or none was used");
    CHECK(seeds < 2 || (w.keys[0] > 0 && w.keys[1] > 0), "no keys were written, or none were used");
    printf("%lu lives of %d switches, %lu sets written, %lu believed, %lu messages with new keys, %lu with used ones\n",
           (unsigned long)(3 * seeds), ROUTERS, (unsigned long)w.sets[0], (unsigned long)w.sets[1],
           (unsigned long)w.keys[0], (unsigned long)w.keys[1]);
    return 0;
}
