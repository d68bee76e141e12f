/* net_world.c - see net_world.h. */
#include "net_world.h"

#include <string.h>

#include "switch/message.h"

net_world w;
wire scratch;
frame out;

/* ---- routes ---- */

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
    for (unsigned to = 0; to < ROUTERS && graph_is_near(&w.graph, source, me); to++) {
        if (to != me && graph_is_near(&w.graph, me, to) &&
            w.graph.length[source][me] + w.graph.length[me][to] == w.graph.length[source][to]) {
            issuers[count] = ROUTER(to);
            children[count++] = ROUTER(graph_next_hop(&w.graph, me, to));
        }
    }
    uint64_t parent =
        source == me || !graph_is_near(&w.graph, source, me) ? 0 : ROUTER(graph_next_hop(&w.graph, me, source));
    return tm_switch_route(at->sw, generation, ROUTER(source), parent, issuers, children, count);
}

/* Along the tree of `root` every other router lies below this one, or the way towards the root. */
static int set_tree(router *at, uint32_t generation, unsigned root) {
    unsigned me = (unsigned)(at - w.routers);
    uint64_t routers[ROUTERS];
    uint64_t next_hops[ROUTERS];
    uint64_t issuers[ROUTERS];
    uint64_t children[ROUTERS];
    size_t count = 0;
    size_t below_count = 0;
    for (unsigned to = 0; to < ROUTERS && graph_is_near(&w.graph, root, me); to++) {
        if (to == me || !graph_is_near(&w.graph, me, to)) {
            continue;
        }
        bool is_below = w.graph.length[root][me] + w.graph.length[me][to] == w.graph.length[root][to];
        routers[count] = ROUTER(to);
        next_hops[count++] = ROUTER(graph_next_hop(&w.graph, me, is_below ? to : root));
        if (is_below) {
            issuers[below_count] = ROUTER(to);
            children[below_count++] = next_hops[count - 1];
        }
    }
    return tm_switch_route_tree(at->sw, generation, ROUTER(root), routers, next_hops, count, issuers, children,
                                below_count);
}

/* The roots of two classes, and of what is in none: the first and the last router in reach. */
static void choose_roots(router *at) {
    unsigned me = (unsigned)(at - w.routers);
    unsigned first = me;
    unsigned last = me;
    for (unsigned i = 0; i < ROUTERS; i++) {
        first = graph_is_near(&w.graph, me, i) && i < first ? i : first;
        last = graph_is_near(&w.graph, me, i) && i > last ? i : last;
    }
    const uint64_t roots[3] = {ROUTER(first), ROUTER(last), ROUTER(last)};
    for (unsigned root = 0; root < ROUTERS; root++) {
        if (!w.lazily || root == first || root == last) {
            fail_next(at);
            int result = set_tree(at, at->generations[0], root);
            fail_no_more(at);
            CHECK(result == TM_OK || (w.failing > 0 && result == TM_NO_MEMORY), "tree: %d", result);
        }
    }
    CHECK(tm_switch_roots(at->sw, roots, 2) == TM_MISUSED && tm_switch_roots(at->sw, roots, 3) == TM_OK, "roots");
}

void reroute(router *at, uint32_t hold_ms) {
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
    if (w.by_root) {
        choose_roots(at);
    }
    CHECK(tm_switch_commit(at->sw, hold_ms, 0) == TM_OK, "commit");
}

/* ---- sets ---- */

/* A table is about to change: no set or key is written or believed. */
static void unknown_table(router *at) {
    if (w.by_set || w.by_keys) {
        CHECK(tm_switch_tables(at->sw, NULL, NULL, 0) == TM_OK, "tables");
    }
}

/* Those in reach hold the same filters, and say so by equal digests; but one of four, by its own, does not. */
static void hold_table(router *at) {
    unsigned me = (unsigned)(at - w.routers);
    uint8_t digest[TM_DIGEST_BYTES] = {w.changes, 0, below(&w.dice, 4) == 0 ? (uint8_t)(me + 1) : 0};
    uint64_t routers[ROUTERS];
    uint64_t before[ROUTERS];
    size_t count = 0;
    size_t others = 0;
    uint64_t reached[ROUTERS];
    for (unsigned to = 0; to < ROUTERS; to++) {
        if (graph_is_near(&w.graph, me, to)) {
            digest[1] |= (uint8_t)(1U << to);
            routers[count++] = ROUTER(to);
        }
        if (to != me && graph_is_near(&w.graph, me, to)) {
            reached[others] = ROUTER(to);
            before[others++] = ROUTER(graph_next_hop(&w.graph, to, me));
        }
    }
    fail_next(at);
    int result = tm_switch_tables(at->sw, digest, routers, count);
    result = result == TM_OK && w.weighs ? tm_switch_tree(at->sw, reached, before, others) : result;
    fail_no_more(at);
    CHECK(result == TM_OK || (w.failing > 0 && result == TM_NO_MEMORY), "tables: %d", result);
}

static void hold_tables(void) {
    for (unsigned i = 0; i < ROUTERS && (w.by_set || w.by_keys); i++) {
        hold_table(&w.routers[i]);
    }
}

/* ---- bytes ---- */

static void set_missing(router *at, uint64_t source, uint64_t root) {
    for (unsigned i = 0; i < ROUTES_GENERATIONS_MAX; i++) {
        int result = root == 0 ? set_route(at, at->generations[i], (unsigned)(source - ROUTER(0)))
                               : set_tree(at, at->generations[i], (unsigned)(root - ROUTER(0)));
        CHECK(result == TM_OK || result == TM_ABSENT, "late route: %d", result);
    }
}

static void check_trace(router *at, const tm_event *event) {
    const tm_trace *trace = (const tm_trace *)(const void *)event->frame;
    uint64_t rows = 0;
    for (unsigned list = 0; list < TM_TRACE_LISTS; list++) {
        CHECK(trace->rows[list] == trace->counts[list], "a short list of rows is not complete");
        rows += trace->rows[list];
    }
    CHECK(event->size == sizeof *trace + rows * sizeof(tm_trace_row), "%u bytes", event->size);
    CHECK(trace->trace == TRACE_ID, "trace %lu", (unsigned long)trace->trace);
    at->traces++;
}

void handle(router *at, const tm_event *events, size_t count) {
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
            set_missing(at, tm_load64(out.bytes + WIRE_TRANSIT), switch_root_of(out.bytes, out.size));
            int result = tm_switch_retake(at->sw, events[i].connection, out.bytes, out.size);
            CHECK(result == TM_OK || (w.failing > 0 && result != TM_TOO_MANY), "retake: %d", result);
            CHECK(tm_switch_tick(at->sw, &events, &count) == TM_OK, "the switch reports no event of the failure");
            handle(at, events, count);
            return;
        } else {
            CHECK(events[i].type == TM_EVENT_OUTPUT, "event %u code %u", events[i].type, events[i].code);
        }
    }
}

void feed(router *at, uint32_t connection, const uint8_t *bytes, size_t size) {
    const tm_event *events;
    size_t count;
    fail_next(at);
    CHECK(tm_switch_feed(at->sw, connection, bytes, size, &events, &count) == TM_OK, "feed");
    fail_no_more(at);
    handle(at, events, count);
}

size_t fetch(router *at, const end *from, uint8_t *to, size_t room) {
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

void carry_all(void) {
    for (bool any = true; any;) {
        any = false;
        for (unsigned from = 0; from < ROUTERS; from++) {
            for (unsigned to = 0; to < ROUTERS; to++) {
                any |= carry(from, to);
            }
        }
    }
}

/* ---- links and filters ---- */

bool admit(router *at, end *to, uint64_t number, bool is_link) {
    tm_admission admission = {.number = number,
                              .queue_bytes_max = 1U << 20,
                              .credit_bytes = is_link ? 0 : UINT64_C(1) << 50,
                              .credit_frames = is_link ? 0 : 1U << 30,
                              .frame_bytes_max = 1U << 20,
                              .table_bytes_max = UINT64_MAX,
                              .filters_max = is_link ? 0 : 1000,
                              .policy = TM_SLOW_DROP_NEWEST,
                              .is_link = is_link,
                              .takes_route = is_link,
                              .takes_set = is_link,
                              .takes_tree = is_link,
                              .takes_keys = is_link && (number + (uint64_t)(at - w.routers)) % 5 > 0};
    CHECK(tm_switch_open(at->sw, -1, &to->connection) == TM_OK, "open");
    fail_next(at);
    int result = tm_switch_admit(at->sw, to->connection, &admission);
    fail_no_more(at);
    CHECK(result == TM_OK || (w.failing > 0 && result == TM_NO_MEMORY), "admit: %d", result);
    to->open = true;
    to->subscriber = tm_switch_subscriber_of(at->sw, to->connection);
    return result == TM_OK;
}

void shut(router *at, end *from) {
    uint32_t left;
    const tm_event *events;
    size_t count;
    CHECK(tm_switch_close(at->sw, from->connection, true) == TM_OK, "close");
    CHECK(tm_switch_tick(at->sw, &events, &count) == TM_OK, "tick");
    CHECK(tm_switch_forget(at->sw, from->connection, 1000, &left) == TM_OK && left == 0, "forget");
    from->open = false;
}

void cut(unsigned a, unsigned b) {
    shut(&w.routers[a], &w.routers[a].links[b]);
    shut(&w.routers[b], &w.routers[b].links[a]);
    w.graph.cost[a][b] = w.graph.cost[b][a] = 0;
}

void join(unsigned a, unsigned b) {
    bool both = admit(&w.routers[a], &w.routers[a].links[b], ROUTER(b), true);
    both &= admit(&w.routers[b], &w.routers[b].links[a], ROUTER(a), true);
    w.graph.cost[a][b] = w.graph.cost[b][a] = 1 + below(&w.dice, 3);
    if (!both) {
        cut(a, b);
    }
}

void change_topology(void) {
    unsigned a = below(&w.dice, ROUTERS);
    unsigned b = (a + 1 + below(&w.dice, ROUTERS - 1)) % ROUTERS;
    uint32_t hold_ms = below(&w.dice, 2) ? 1000000000 : 0;
    if (w.graph.cost[a][b] > 0) {
        cut(a, b);
    } else {
        join(a, b);
    }
    graph_measure(&w.graph);
    for (unsigned i = 0; i < ROUTERS; i++) {
        reroute(&w.routers[i], hold_ms);
    }
    hold_tables();
}

static bool subscribe_here(router *at, uint32_t id) {
    tm_subscribe job;
    tm_refusal refusal;
    uint32_t refused;
    subscribe_frame(&out, id, true, scratch.bytes, (uint32_t)scratch.size);
    CHECK(tm_subscribe_open(out.bytes, out.size, &job) == TM_OK, "a valid frame is refused");
    fail_next(at);
    CHECK(tm_subscribe_some(at->sw, at->client.subscriber, &job, 10, &refusal, 1, &refused) == TM_OK, "subscribe");
    fail_no_more(at);
    return refused == 0;
}

static void tell_others(unsigned me, uint64_t id, const held *filter) {
    const uint64_t offsets[2] = {0, filter == NULL ? 0 : filter->size};
    for (unsigned i = 0; i < ROUTERS; i++) {
        router *at = &w.routers[i];
        uint8_t result = TM_OK;
        unknown_table(at);
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
                  "an id is listed twice");
        }
    }
    w.changes++;
    hold_tables();
}

void change_filter(void) {
    unsigned me = below(&w.dice, ROUTERS);
    router *at = &w.routers[me];
    held *h = &at->held[below(&w.dice, FILTERS_MAX)];
    if (h->live) {
        CHECK(tm_switch_unsubscribe(at->sw, at->client.subscriber, h->id) == TM_OK, "unsubscribe");
        tell_others(me, h->id, NULL);
        free(h->bytes);
        *h = (held){0};
        return;
    }
    random_filter(&w.dice, &scratch);
    if (w.everything > 0 && below(&w.dice, 16) < w.everything) {
        scratch.size = 0;
        put_array(&scratch, 0);
    }
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
