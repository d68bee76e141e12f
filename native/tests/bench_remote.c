/* bench_remote.c - what a poll costs beside idle remote sessions, and what a frame for one of them costs: build it with
 * -O2 and count instructions, as in `valgrind --tool=callgrind bench_remote SESSIONS POLLS FRAMES`. */
#include <string.h>

#include "frames.h"
#include "tm_remote.h"

#define OTHER 9U

static frame out;

static uint32_t opened(tm_switch *sw, uint64_t number, bool is_link) {
    tm_admission admission = {.number = number,
                              .queue_bytes_max = 64U << 20,
                              .frame_bytes_max = 1U << 20,
                              .table_bytes_max = UINT64_MAX,
                              .version = 3,
                              .is_link = is_link};
    uint32_t connection;
    CHECK(tm_switch_open(sw, -1, &connection) == TM_OK, "open");
    CHECK(tm_switch_admit(sw, connection, &admission) == TM_OK, "admit");
    return connection;
}

static void put_big(uint8_t head, uint64_t value, unsigned bytes) {
    put_byte(&out, head);
    while (bytes > 0) {
        put_byte(&out, value >> 8 * --bytes & 0xff);
    }
}

static void word(uint64_t session) {
    begin(&out, WIRE_REMOTE);
    put_byte(&out, 0x99);
    put_byte(&out, 9);
    put_big(0xcf, 1, 8);
    put_big(0xcf, OTHER, 8);
    put_big(0xcf, session, 8);
    put_big(0xcf, 0, 8);
    put_big(0xcf, 0, 8);
    put_big(0xce, 262144, 4);
    put_big(0xce, 1, 4);
    put_big(0xc6, 0, 4);
    wire_store32(out.bytes, out.size);
}

int main(int count, char **values) {
    CHECK(count == 4, "bench_remote SESSIONS POLLS FRAMES");
    uint64_t sessions = strtoull(values[1], NULL, 10);
    static const uint64_t other = OTHER;
    static const uint8_t hello[] = {12, 0, 0, 0, WIRE_REMOTE_HELLO, 0, 0, 0, 1, 2, 3, 4};
    tm_options tables = {0};
    tm_switch_options options = {.number = 1,
                                 .epoch = 1,
                                 .connections_max = 8,
                                 .frame_bytes_max = 1U << 20,
                                 .greeting_bytes_max = 4096,
                                 .publishers_max = 4,
                                 .hop_limit = 8};
    tm_table *table;
    tm_table *network;
    tm_switch *sw;
    uint32_t generation;
    const tm_event *events;
    size_t events_count;
    CHECK(tm_table_new(TM_ENGINE_DEFAULT, &tables, &table) == TM_OK, "table");
    CHECK(tm_table_new(TM_ENGINE_DEFAULT, &tables, &network) == TM_OK, "table");
    CHECK(tm_switch_new(&options, table, &sw) == TM_OK, "switch");
    CHECK(tm_switch_join(sw, network, 2, TM_FORWARD_WANTED) == TM_OK, "join");
    uint32_t link = opened(sw, OTHER, true);
    uint32_t client = opened(sw, 7, false);
    CHECK(tm_switch_begin_routes(sw, 5, &generation) == TM_OK, "begin");
    CHECK(tm_switch_route(sw, generation, 1, 0, &other, &other, 1) == TM_OK, "route");
    CHECK(tm_switch_commit(sw, 0, 0) == TM_OK, "commit");
    for (uint64_t session = 1; session <= sessions; session++) {
        CHECK(tm_remote_begin(sw, client, OTHER, session) == TM_OK, "begin");
    }
    if (sessions > 0) {
        CHECK(tm_remote_send(sw, 1, hello, sizeof hello) == TM_OK, "hello");
    }
    for (uint64_t left = strtoull(values[2], NULL, 10); left > 0; left--) {
        CHECK(tm_switch_poll(sw, 0, &events, &events_count) == TM_OK, "poll");
    }
    for (uint64_t left = strtoull(values[3], NULL, 10); left > 0; left--) {
        word(sessions);
        CHECK(tm_switch_feed(sw, link, out.bytes, out.size, &events, &events_count) == TM_OK, "feed");
    }
    tm_switch_free(sw);
    tm_table_free(table);
    tm_table_free(network);
    return 0;
}
