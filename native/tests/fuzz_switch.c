/* fuzz_switch.c - libFuzzer target: any bytes, in any pieces, from a client that was admitted, one that still greets,
 * or a neighbour.
 *
 * Law: the switch validates afterwards, another client's subscription is untouched, and what that client and another
 * neighbour were sent is whole frames.
 */
#include <stdlib.h>
#include <string.h>

#include "model/wire.h"

#define STRANGER UINT64_C(0x0807060504030201) /* its number, as a client or as a router */
#define NEIGHBOUR 9U
#define GROUP 7U

static const uint8_t EVERYTHING[] = {20,   0,    0, 0,    0x20, 0, 0,    0,    0x95, 1,
                                     0x91, 0x92, 1, 0x91, 0xc4, 1, 0x90, 0xc2, 0,    0xc2};

static void check(bool holds) {
    if (!holds) {
        abort();
    }
}

static void subscribe_to_everything(tm_switch *sw, uint32_t connection) {
    uint32_t subscriber = tm_switch_subscriber_of(sw, connection);
    tm_subscribe job;
    tm_refusal refusal;
    uint32_t refused;
    check(tm_subscribe_open(EVERYTHING, sizeof EVERYTHING, &job) == TM_OK);
    check(tm_subscribe_some(sw, subscriber, &job, 1, &refusal, 1, &refused) == TM_OK && refused == 0);
}

/* What a router does with a message that has no route: it may be none of its business. */
static void retake(tm_switch *sw, const tm_event *event) {
    static uint8_t frame[65536];
    uint32_t size = event->size;
    memcpy(frame, event->frame, size);
    int result = tm_switch_retake(sw, event->connection, frame, size);
    check(result == TM_OK || result == TM_MISUSED);
}

/* Try what a daemon would do with the control frames that go up. */
static void handle(tm_switch *sw, const tm_event *events, size_t count) {
    for (size_t i = 0; i < count; i++) {
        tm_subscribe job;
        if (events[i].type == TM_EVENT_UNROUTED) {
            retake(sw, &events[i]);
            return;
        }
        if (events[i].type != TM_EVENT_FRAME || events[i].kind != WIRE_SUBSCRIBE ||
            tm_subscribe_open(events[i].frame, events[i].size, &job) != TM_OK) {
            continue;
        }
        job.group_number = job.group_size > 0 ? GROUP : 0;
        static tm_refusal refusals[10000];
        uint32_t refused;
        uint32_t subscriber = tm_switch_subscriber_of(sw, events[i].connection);
        int result = tm_subscribe_some(sw, subscriber, &job, 10000, refusals, 10000, &refused);
        check(result == TM_OK || result == TM_MISUSED);
        return; /* events are borrowed until the next call */
    }
}

/* A neighbour has members of a worker group. */
static void share_with_others(tm_switch *sw, tm_table *shared) {
    static const uint8_t everything[] = {0x90};
    static const uint64_t offsets[] = {0, sizeof everything};
    const uint64_t id = 2;
    const tm_shared_filter row = {.group = GROUP, .members = 4};
    uint8_t refused;
    check(tm_switch_share(sw, shared) == TM_OK);
    check(tm_switch_install_shared(sw, NEIGHBOUR, everything, offsets, &id, &row, 1, &refused) == TM_OK);
    check(refused == TM_OK);
}

/* One class of all messages, whose root is the neighbour. */
static void classify(tm_switch *sw, tm_table *classes) {
    static const uint8_t everything[] = {0x90};
    static const uint64_t roots[] = {NEIGHBOUR, STRANGER};
    uint32_t handle;
    check(tm_table_add(classes, everything, sizeof everything, 0, &handle) == TM_OK);
    check(tm_switch_classify(sw, classes, 1) == TM_OK && tm_switch_roots(sw, roots, 2) == TM_OK);
}

/* The neighbour wants so much that a message which enters gets a set. */
static void want_much(tm_switch *sw) {
    static const uint8_t everything[] = {0x90};
    static const uint64_t offsets[] = {0, sizeof everything};
    uint8_t refused;
    for (uint64_t id = 100; id < 140; id++) {
        check(tm_switch_install(sw, NEIGHBOUR, everything, offsets, &id, 1, &refused) == TM_OK && refused == TM_OK);
    }
}

/* One of several: a neighbour that wants everything, and routes for messages of two sources and along one tree.
 * `choice`: odd for a neighbour that knows ROUTE. */
static uint32_t join_others(tm_switch *sw, tm_table *network, tm_admission admission, unsigned choice,
                            uint32_t forwarding) {
    static const uint8_t everything[] = {0x90};
    static const uint64_t offsets[] = {0, sizeof everything};
    const uint64_t id = 1;
    const uint64_t neighbour = NEIGHBOUR;
    uint8_t refused;
    uint32_t link;
    uint32_t generation;
    admission.number = NEIGHBOUR;
    admission.is_link = 1;
    admission.takes_route = choice & 1;
    admission.takes_set = choice & 1;
    admission.takes_tree = choice & 1;
    admission.takes_keys = choice & 1;
    admission.version = choice & 1 ? WIRE_VERSION_CUSTODY : 2;
    admission.credit_bytes = 0;
    admission.policy = TM_SLOW_DROP_NEWEST;
    static const uint64_t on_tree[] = {NEIGHBOUR, STRANGER};
    static const uint8_t digest[TM_DIGEST_BYTES] = {0};
    static const uint64_t held[] = {1, NEIGHBOUR, STRANGER};
    check(tm_switch_join(sw, network, 2, forwarding) == TM_OK);
    check(tm_switch_tables(sw, digest, held, 3) == TM_OK);
    check(tm_switch_install(sw, NEIGHBOUR, everything, offsets, &id, 1, &refused) == TM_OK && refused == TM_OK);
    check(tm_switch_open(sw, -1, &link) == TM_OK && tm_switch_admit(sw, link, &admission) == TM_OK);
    unsigned generations = 2; /* one is in force, one on hold */
    if (forwarding == TM_FORWARD_DESTINATIONS || forwarding == TM_FORWARD_KEYS) {
        want_much(sw);
        generations = 1; /* no set and no key is written while there are more */
    }
    for (unsigned i = 0; i < generations; i++) {
        check(tm_switch_begin_routes(sw, 5, &generation) == TM_OK);
        check(tm_switch_route(sw, generation, 1, 0, &neighbour, &neighbour, 1) == TM_OK);
        check(tm_switch_route(sw, generation, STRANGER, STRANGER, &neighbour, &neighbour, 1) == TM_OK);
        check(tm_switch_route_tree(sw, generation, NEIGHBOUR, on_tree, on_tree, 2, &neighbour, &neighbour, 1) == TM_OK);
        check(tm_switch_commit(sw, 1000, 100) == TM_OK);
    }
    return link;
}

/* One of several policies, by the first two bytes of an input. */
static uint32_t forwarding_of(const uint8_t *bytes) {
    static const uint32_t forwardings[] = {TM_FORWARD_FLOOD, TM_FORWARD_DESTINATIONS, TM_FORWARD_MATCH_FIRST,
                                           TM_FORWARD_BY_ROOT};
    bool is_by_keys = (bytes[0] & 3) == 1 && (bytes[1] & 1) != 0;
    return is_by_keys ? TM_FORWARD_KEYS : forwardings[bytes[0] & 3];
}

/* The first engine whose matches can stop after some filters. */
static uint32_t limiting_engine(void) {
    uint32_t engine = 0;
    while (!tm_engine_limits(engine)) {
        engine++;
    }
    return engine;
}

static void check_stream(const uint8_t *bytes, size_t size) {
    size_t at = 0;
    while (at < size) {
        check(size - at >= WIRE_PREFIX_BYTES && tm_load32(bytes + at) >= WIRE_PREFIX_BYTES);
        check(tm_load32(bytes + at) <= size - at);
        at += tm_load32(bytes + at);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size < 2) {
        return 0;
    }
    tm_options table_options = {0};
    tm_switch_options options = {.number = 1,
                                 .epoch = 1,
                                 .connections_max = 4,
                                 .frame_bytes_max = 65536,
                                 .greeting_bytes_max = 4096,
                                 .publishers_max = 2,
                                 .hop_limit = 3};
    tm_admission admission = {.number = 7,
                              .queue_bytes_max = 1 << 16,
                              .credit_bytes = 1 << 20,
                              .credit_frames = 1000,
                              .frame_bytes_max = 65536,
                              .table_bytes_max = UINT64_MAX,
                              .filters_max = 100,
                              .policy = bytes[0] & 3};
    tm_table *table;
    tm_table *network;
    tm_table *shared;
    tm_table *classes;
    tm_switch *sw;
    uint32_t stranger;
    uint32_t other;
    uint32_t link = UINT32_MAX;
    check(tm_table_new(TM_ENGINE_DEFAULT, &table_options, &table) == TM_OK);
    uint32_t forwarding = forwarding_of(bytes);
    uint32_t engine = forwarding == TM_FORWARD_KEYS ? limiting_engine() : TM_ENGINE_DEFAULT;
    check(tm_table_new(engine, &table_options, &network) == TM_OK);
    check(tm_table_new(TM_ENGINE_DEFAULT, &table_options, &shared) == TM_OK);
    check(tm_table_new(TM_ENGINE_DEFAULT, &table_options, &classes) == TM_OK);
    check(tm_switch_new(&options, table, &sw) == TM_OK);
    check(tm_switch_open(sw, -1, &stranger) == TM_OK);
    check(tm_switch_open(sw, -1, &other) == TM_OK);
    check(tm_switch_admit(sw, other, &admission) == TM_OK);
    subscribe_to_everything(sw, other);
    if (bytes[0] & 8) {
        link = join_others(sw, network, admission, bytes[0] & 3, forwarding);
        classify(sw, classes);
        if (bytes[0] & 128) {
            share_with_others(sw, shared);
        }
    }
    if (bytes[0] & 4) {
        admission.number = STRANGER;
        if (bytes[0] & 16 && link != UINT32_MAX) {
            admission.is_link = 1;
            admission.version = WIRE_VERSION_CUSTODY;
            admission.credit_bytes = 0;
            admission.policy = TM_SLOW_DROP_NEWEST;
        }
        check(tm_switch_admit(sw, stranger, &admission) == TM_OK);
    }
    if (bytes[0] & 32) {
        check(tm_switch_step(sw, TM_STEP_WAIT) == TM_OK);
    }
    size_t piece = bytes[1] == 0 ? size : bytes[1];
    for (size_t at = 2; at < size; at += piece) {
        const tm_event *events;
        size_t count;
        check(tm_switch_feed(sw, stranger, bytes + at, piece < size - at ? piece : size - at, &events, &count) ==
              TM_OK);
        handle(sw, events, count);
    }
    check(tm_switch_step(sw, bytes[0] & 64 ? TM_STEP_REFUSE : TM_STEP_IN) == TM_OK);
    for (uint32_t left = 1; left > 0;) {
        const tm_event *events;
        size_t count;
        check(tm_switch_resume(sw, 1000, &left, &events, &count) == TM_OK);
        handle(sw, events, count);
    }
    const uint8_t *sent;
    size_t sent_size;
    tm_connection_stats stats;
    const char *reason;
    check(tm_switch_output(sw, other, &sent, &sent_size) == TM_OK);
    check_stream(sent, sent_size);
    if (link != UINT32_MAX) {
        check(tm_switch_output(sw, link, &sent, &sent_size) == TM_OK);
        check_stream(sent, sent_size);
    }
    check(tm_switch_connection(sw, other, &stats) == TM_OK && stats.subscriptions == 1);
    check(tm_switch_validate(sw, &reason) == TM_OK && tm_table_validate(table, &reason) == TM_OK);
    tm_switch_free(sw);
    tm_table_free(table);
    tm_table_free(network);
    tm_table_free(shared);
    tm_table_free(classes);
    return 0;
}
