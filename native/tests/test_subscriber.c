/* test_subscriber.c - a subscriber without a connection, with one, and with the next one.
 *
 * Law: what is published while nobody serves a subscriber waits for it as far as it fits, and its next connection gets
 * it in order, once, gaps told; what had begun to leave is lost with its socket, and counted. A subscriber that is not
 * kept ends with its connection, as a client's always has.
 */
#include <string.h>

#include "frames.h"

#define NUMBER 7U
#define PUBLISHER 8U
#define QUEUE_BYTES 4000U
#define PAYLOAD 100U
#define EVERYTHING ((const uint8_t *)"\x90") /* a filter without constraints */

typedef struct world {
    tm_table *table;
    tm_switch *sw;
    uint32_t publisher; /* connection */
    uint64_t counter;   /* of the last message */
    uint64_t arrived;   /* counter of the last one that came */
    uint64_t messages;  /* that came */
    uint64_t lost;      /* that were told as lost */
    uint64_t gap_after; /* where that was told last: the counter that came before */
    uint32_t slow;      /* connections that were told to be */
} world;

static world w;
static frame out;

static tm_admission admission_of(uint64_t number, uint8_t policy) {
    return (tm_admission){.number = number,
                          .queue_bytes_max = QUEUE_BYTES,
                          .credit_bytes = 1U << 20,
                          .credit_frames = 1U << 16,
                          .frame_bytes_max = 1U << 16,
                          .table_bytes_max = UINT64_MAX,
                          .filters_max = 100,
                          .block_ms = 1000,
                          .policy = policy};
}

static void check_all(void) {
    const char *reason = "";
    CHECK(tm_switch_validate(w.sw, &reason) == TM_OK, "%s", reason);
}

static uint32_t open_one(void) {
    uint32_t connection;
    CHECK(tm_switch_open(w.sw, -1, &connection) == TM_OK, "open");
    return connection;
}

static void start(uint32_t subscribers_max) {
    w = (world){.table = new_table(0)};
    tm_switch_options options = {.number = 99,
                                 .epoch = 1,
                                 .connections_max = 4,
                                 .subscribers_max = subscribers_max,
                                 .frame_bytes_max = 1U << 16,
                                 .greeting_bytes_max = 4096,
                                 .publishers_max = 4};
    CHECK(tm_switch_new(&options, w.table, &w.sw) == TM_OK, "new");
    open_one(); /* greets for ever: numbers of connections and of subscribers differ */
    tm_admission admission = admission_of(PUBLISHER, TM_SLOW_DROP_NEWEST);
    w.publisher = open_one();
    CHECK(tm_switch_admit(w.sw, w.publisher, &admission) == TM_OK, "admit");
}

static void stop(void) {
    check_all();
    tm_switch_free(w.sw);
    tm_table_free(w.table);
}

static void subscribe(uint32_t subscriber, uint32_t id) {
    tm_subscribe job;
    tm_refusal refusal;
    uint32_t refused;
    subscribe_frame(&out, id, false, EVERYTHING, 1);
    CHECK(tm_subscribe_open(out.bytes, out.size, &job) == TM_OK, "a frame of one subscription");
    CHECK(tm_subscribe_some(w.sw, subscriber, &job, 1, &refusal, 1, &refused) == TM_OK && refused == 0, "subscribe");
}

static uint32_t new_one(uint8_t policy) {
    uint32_t subscriber;
    tm_admission admission = admission_of(NUMBER, policy);
    CHECK(tm_switch_subscriber_new(w.sw, &admission, &subscriber) == TM_OK, "new");
    subscribe(subscriber, 1);
    return subscriber;
}

static void publish(uint64_t count) {
    static wire message;
    const tm_event *events;
    size_t told;
    message.size = 0;
    put_map(&message, 0);
    for (; count > 0; count--) {
        publish_frame(&out, PUBLISHER, ++w.counter, false, &message, PAYLOAD);
        CHECK(tm_switch_feed(w.sw, w.publisher, out.bytes, out.size, &events, &told) == TM_OK, "feed");
        for (size_t i = 0; i < told; i++) {
            bool is_slow = events[i].type == TM_EVENT_SLOW && events[i].connection != TM_CONNECTION_NONE;
            CHECK(is_slow || events[i].type == TM_EVENT_OUTPUT, "event %u", events[i].type);
            w.slow += is_slow;
        }
    }
    check_all();
}

static uint32_t consume(uint32_t subscriber, uint8_t policy) {
    uint32_t connection = open_one();
    tm_admission admission = admission_of(NUMBER, policy);
    CHECK(tm_switch_attach(w.sw, connection, &admission, subscriber) == TM_OK, "attach");
    check_all();
    return connection;
}

/* Cut a connection and forget it; a subscriber that is kept stays. */
static void cut(uint32_t connection) {
    const tm_event *events;
    size_t count;
    uint32_t left;
    CHECK(tm_switch_close(w.sw, connection, true) == TM_OK, "close");
    CHECK(tm_switch_tick(w.sw, &events, &count) == TM_OK, "tick");
    CHECK(tm_switch_forget(w.sw, connection, 1, &left) == TM_OK && left == 0, "forget");
    check_all();
}

/* Whole frames of a stream: messages come in order. */
static void read_frames(const uint8_t *bytes, size_t size) {
    for (size_t at = 0; at < size; at += tm_load32(bytes + at)) {
        const uint8_t *body = bytes + at + WIRE_PREFIX_BYTES + 1;
        if (bytes[at + WIRE_KIND] == WIRE_DELIVER) {
            uint64_t counter = tm_load64(bytes + at + WIRE_COUNTER);
            CHECK(counter > w.arrived, "%lu behind %lu", (unsigned long)counter, (unsigned long)w.arrived);
            w.arrived = counter;
            w.messages++;
        } else if (bytes[at + WIRE_KIND] == WIRE_LOST) {
            w.lost += read_unsigned(&body);
            w.gap_after = w.arrived;
        }
        CHECK(tm_load32(bytes + at) <= size - at, "a frame is cut");
    }
}

/* Fetch all that a connection has to send. */
static void fetch(uint32_t connection) {
    static uint8_t stream[1 << 20];
    const uint8_t *bytes;
    size_t size;
    size_t held = 0;
    while (tm_switch_output(w.sw, connection, &bytes, &size) == TM_OK && size > 0) {
        memcpy(stream + held, bytes, size);
        held += size;
        CHECK(tm_switch_sent(w.sw, connection, size) == TM_OK, "sent");
    }
    read_frames(stream, held);
}

static tm_subscriber_stats stats_of(uint32_t subscriber) {
    tm_subscriber_stats stats;
    CHECK(tm_switch_subscriber(w.sw, subscriber, &stats) == TM_OK, "stats");
    return stats;
}

static uint64_t cut_off(void) {
    tm_switch_stats stats;
    tm_switch_figures(w.sw, &stats);
    return stats.dropped[TM_DROP_CLOSED];
}

/* ---- what a subscriber gets by one connection after the other ---- */

static void waits_for_the_next_connection(void) {
    start(0);
    uint32_t subscriber = new_one(TM_SLOW_DROP_NEWEST);
    CHECK(stats_of(subscriber).connection == TM_CONNECTION_NONE, "a connection serves the subscriber");
    publish(5);
    CHECK(stats_of(subscriber).queued_bytes > 5 * PAYLOAD, "fewer than five messages are queued");
    uint32_t first = consume(subscriber, TM_SLOW_DROP_NEWEST);
    CHECK(stats_of(subscriber).connection == first && tm_switch_subscriber_of(w.sw, first) == subscriber, "served");
    fetch(first);
    CHECK(w.arrived == 5 && w.messages == 5, "%lu received", (unsigned long)w.messages);
    publish(3);
    CHECK(tm_switch_keep(w.sw, subscriber) == TM_OK, "a stored subscriber cannot be stored again");
    cut(first); /* none of the three has left */
    publish(2);
    uint32_t second = consume(subscriber, TM_SLOW_DROP_NEWEST);
    publish(1);
    fetch(second);
    CHECK(w.arrived == 11 && w.messages == 11 && w.lost == 0, "%lu received", (unsigned long)w.messages);
    CHECK(cut_off() == 0, "messages were dropped");
    stop();
}

static void a_frame_that_has_begun_to_leave_is_lost(void) {
    start(0);
    const uint8_t *bytes;
    size_t size;
    uint32_t subscriber = new_one(TM_SLOW_DROP_NEWEST);
    uint32_t first = consume(subscriber, TM_SLOW_DROP_NEWEST);
    fetch(first);
    publish(3);
    CHECK(tm_switch_output(w.sw, first, &bytes, &size) == TM_OK && size > 10, "output");
    CHECK(tm_switch_sent(w.sw, first, 10) == TM_OK, "the first ten bytes cannot be sent");
    cut(first);
    CHECK(cut_off() == 1, "%lu", (unsigned long)cut_off());
    fetch(consume(subscriber, TM_SLOW_DROP_NEWEST));
    CHECK(w.messages == 2 && w.arrived == 3, "the next two were not received");
    stop();
}

/* A request's answer is of the connection that asked, and goes with it; a gap is the subscriber's. */
static void control_frames_stay_with_their_connection(void) {
    start(0);
    uint32_t subscriber = new_one(TM_SLOW_DROP_NEWEST);
    uint32_t first = consume(subscriber, TM_SLOW_DROP_NEWEST);
    fetch(first);
    publish(60);
    begin(&out, WIRE_ACK);
    put_byte(&out, 0x90);
    wire_store32(out.bytes, out.size);
    uint64_t before = stats_of(subscriber).queued_bytes;
    CHECK(tm_switch_send(w.sw, first, out.bytes, out.size, TM_LANE_ORDERED) == TM_OK, "send");
    CHECK(stats_of(subscriber).queued_bytes == before + out.size, "the frame is not queued");
    cut(first);
    CHECK(stats_of(subscriber).queued_bytes == before, "the frame or subscriber still exists");
    fetch(consume(subscriber, TM_SLOW_DROP_NEWEST));
    CHECK(w.messages + w.lost == 60 && w.lost > 0, "%lu and %lu", (unsigned long)w.messages, (unsigned long)w.lost);
    stop();
}

/* ---- what happens where no more fits ---- */

static void drops_the_newest(uint8_t policy) {
    start(0);
    uint32_t subscriber = new_one(policy);
    publish(100);
    tm_subscriber_stats stats = stats_of(subscriber);
    CHECK(stats.queued_bytes <= QUEUE_BYTES && stats.dropped > 0, "%lu wait", (unsigned long)stats.queued_bytes);
    fetch(consume(subscriber, policy));
    CHECK(w.messages + w.lost == 100 && w.lost == stats.dropped, "%lu lost", (unsigned long)w.lost);
    CHECK(w.arrived == w.messages && w.gap_after == w.arrived, "the gap does not follow the first message");
    stop();
}

static void drops_the_oldest(void) {
    start(0);
    uint32_t subscriber = new_one(TM_SLOW_DROP_OLDEST);
    publish(100);
    CHECK(stats_of(subscriber).queued_bytes <= QUEUE_BYTES, "the queue exceeds its limit");
    fetch(consume(subscriber, TM_SLOW_DROP_OLDEST));
    CHECK(w.messages + w.lost == 100 && w.lost > 0, "%lu lost", (unsigned long)w.lost);
    CHECK(w.arrived == 100 && w.gap_after == 0, "the gap does not precede the last message");
    stop();
}

static void each_connection_that_is_too_slow_is_told_of(void) {
    start(0);
    uint32_t subscriber = new_one(TM_SLOW_DISCONNECT);
    publish(100);
    CHECK(w.slow == 0, "a subscriber without a connection is disconnected");
    for (uint32_t told = 1; told <= 2; told++) {
        uint32_t connection = consume(subscriber, TM_SLOW_DISCONNECT);
        publish(10);
        CHECK(w.slow == told, "%u reported", w.slow);
        cut(connection);
    }
    stop();
}

static bool is_blocked(void) {
    tm_connection_stats stats;
    CHECK(tm_switch_connection(w.sw, w.publisher, &stats) == TM_OK, "stats");
    return stats.is_blocked;
}

static void blocks_its_publishers_for_a_while(void) {
    start(0);
    const tm_event *events;
    size_t count;
    uint32_t subscriber = new_one(TM_SLOW_BLOCK);
    publish(60);
    CHECK(is_blocked() && stats_of(subscriber).dropped == 0, "a message within the credit is dropped");
    tm_switch_advance(w.sw, 1001);
    CHECK(tm_switch_tick(w.sw, &events, &count) == TM_OK && !is_blocked(),
          "the publisher is still blocked after its time");
    publish(10);
    CHECK(!is_blocked() && stats_of(subscriber).dropped == 10, "the newest are not dropped");
    fetch(consume(subscriber, TM_SLOW_BLOCK));
    CHECK(w.messages == 60 && w.lost == 10, "%lu and %lu", (unsigned long)w.messages, (unsigned long)w.lost);
    publish(60);
    CHECK(is_blocked(), "the subscriber does not block again after a short queue");
    stop();
}

static void one_that_is_freed_blocks_nobody(void) {
    start(0);
    uint32_t left;
    uint32_t subscriber = new_one(TM_SLOW_BLOCK);
    publish(60);
    CHECK(is_blocked(), "a half-full queue does not block");
    CHECK(tm_switch_subscriber_free(w.sw, subscriber, 9, &left) == TM_OK && left == 0, "%u left", left);
    CHECK(!is_blocked(), "a publisher waits for a removed subscriber");
    stop();
}

/* What an output had room for goes back once nothing waits in it. */
static void gives_memory_back(void) {
    start(0);
    const tm_event *events;
    size_t count;
    tm_switch_stats stats;
    uint32_t subscriber = new_one(TM_SLOW_DROP_NEWEST);
    tm_switch_figures(w.sw, &stats);
    uint64_t before = stats.memory_bytes;
    publish(20);
    uint32_t connection = consume(subscriber, TM_SLOW_DROP_NEWEST);
    fetch(connection);
    cut(connection);
    for (int i = 0; i < 30; i++) {
        CHECK(tm_switch_tick(w.sw, &events, &count) == TM_OK, "tick");
    }
    tm_switch_figures(w.sw, &stats);
    CHECK(stats.memory_bytes <= before + 4096, "%lu, %lu", (unsigned long)before, (unsigned long)stats.memory_bytes);
    stop();
}

/* ---- ends ---- */

static void a_client_ends_with_its_connection(void) {
    start(0);
    uint32_t left;
    const tm_event *events;
    size_t count;
    tm_admission admission = admission_of(NUMBER, TM_SLOW_DROP_NEWEST);
    uint32_t connection = open_one();
    CHECK(tm_switch_admit(w.sw, connection, &admission) == TM_OK, "admit");
    uint32_t subscriber = tm_switch_subscriber_of(w.sw, connection);
    for (uint32_t id = 1; id <= 10; id++) {
        subscribe(subscriber, id);
    }
    publish(3);
    CHECK(tm_switch_close(w.sw, connection, true) == TM_OK && cut_off() == 3, "queued messages are not dropped");
    CHECK(tm_switch_keep(w.sw, subscriber) == TM_MISUSED, "an ended subscriber can be stored");
    CHECK(tm_switch_tick(w.sw, &events, &count) == TM_OK, "tick");
    for (uint32_t wanted = 8; wanted > 0; wanted -= 2) {
        publish(1);
        CHECK(tm_switch_forget(w.sw, connection, 2, &left) == TM_OK && left == wanted, "%u left", left);
        check_all();
    }
    CHECK(tm_switch_forget(w.sw, connection, 2, &left) == TM_OK && left == 0, "%u left", left);
    CHECK(tm_switch_subscriber(w.sw, subscriber, &(tm_subscriber_stats){0}) == TM_ABSENT,
          "the frame or subscriber still exists");
    CHECK(new_one(TM_SLOW_DROP_NEWEST) == subscriber && open_one() == connection, "a number is not free");
    stop();
}

static void one_without_a_connection_is_freed_in_slices(void) {
    start(0);
    uint32_t left;
    uint32_t subscriber = new_one(TM_SLOW_DROP_NEWEST);
    for (uint32_t id = 2; id <= 5; id++) {
        subscribe(subscriber, id);
    }
    publish(2);
    CHECK(tm_switch_subscriber_free(w.sw, subscriber, 2, &left) == TM_OK && left == 3, "%u left", left);
    CHECK(cut_off() == 2 && stats_of(subscriber).queued_bytes == 0, "queued messages are not dropped");
    publish(1);
    CHECK(stats_of(subscriber).queued_bytes == 0, "an ended subscriber receives messages");
    check_all();
    CHECK(tm_switch_subscriber_free(w.sw, subscriber, 9, &left) == TM_OK && left == 0, "%u left", left);
    stop();
}

/* ---- what is refused ---- */

static void refuses_what_does_not_fit(void) {
    start(2);
    uint32_t another;
    uint32_t left;
    uint32_t subscriber = new_one(TM_SLOW_DROP_NEWEST);
    tm_admission admission = admission_of(NUMBER, TM_SLOW_DROP_NEWEST);
    tm_admission other = admission_of(NUMBER + 1, TM_SLOW_DROP_NEWEST);
    tm_admission shorter = admission;
    shorter.frame_bytes_max--;
    CHECK(tm_switch_subscriber_new(w.sw, &other, &another) == TM_TOO_MANY, "a third subscriber is accepted");
    uint32_t connection = open_one();
    CHECK(tm_switch_admit(w.sw, connection, &other) == TM_TOO_MANY, "a third subscriber is accepted in the greeting");
    CHECK(tm_switch_attach(w.sw, connection, &other, subscriber) == TM_MISUSED, "another client is attached");
    CHECK(tm_switch_attach(w.sw, connection, &shorter, subscriber) == TM_MISUSED,
          "a smaller frame limit is accepted with frames queued");
    CHECK(tm_switch_attach(w.sw, connection, &admission, subscriber + 1) == TM_MISUSED,
          "an unknown subscriber is attached");
    publish(4);
    tm_switch_fail_allocation(w.sw, 1);
    CHECK(tm_switch_attach(w.sw, connection, &admission, subscriber) == TM_NO_MEMORY, "no memory");
    tm_switch_fail_allocation(w.sw, 0);
    check_all();
    CHECK(tm_switch_attach(w.sw, connection, &admission, subscriber) == TM_OK, "an attach after the failure fails");
    CHECK(tm_switch_attach(w.sw, open_one(), &admission, subscriber) == TM_MISUSED,
          "two connections serve one subscriber");
    CHECK(tm_switch_subscriber_free(w.sw, subscriber, 1, &left) == TM_MISUSED, "a served subscriber is freed");
    fetch(connection);
    CHECK(w.messages == 4, "%lu received", (unsigned long)w.messages);
    stop();
}

/* Whichever allocation fails, there is no subscriber, or one that is not kept, and with memory again there is. */
static void changes_nothing_without_memory(void) {
    start(0);
    uint32_t subscriber;
    tm_admission admission = admission_of(NUMBER, TM_SLOW_DROP_NEWEST);
    int result = TM_NO_MEMORY;
    for (uint64_t failing = 1; result != TM_OK; failing++) {
        tm_switch_fail_allocation(w.sw, failing);
        result = tm_switch_subscriber_new(w.sw, &admission, &subscriber);
        tm_switch_fail_allocation(w.sw, 0);
        CHECK(result == TM_NO_MEMORY || (result == TM_OK && failing > 1), "%d", result);
        check_all();
    }
    uint32_t connection = open_one();
    CHECK(tm_switch_admit(w.sw, connection, &admission) == TM_OK, "admit");
    subscriber = tm_switch_subscriber_of(w.sw, connection);
    tm_switch_fail_allocation(w.sw, 1);
    CHECK(tm_switch_keep(w.sw, subscriber) == TM_NO_MEMORY, "no memory");
    tm_switch_fail_allocation(w.sw, 0);
    cut(connection);
    CHECK(tm_switch_subscriber(w.sw, subscriber, &(tm_subscriber_stats){0}) == TM_ABSENT,
          "the subscriber still exists");
    stop();
}

/* ---- a random life ---- */

static void fetch_some(dice *d, uint32_t connection) {
    const uint8_t *bytes;
    size_t size;
    CHECK(tm_switch_output(w.sw, connection, &bytes, &size) == TM_OK, "output");
    uint32_t whole = 0;
    for (uint32_t frames = below(d, 5); frames > 0 && whole < size; frames--) {
        whole += tm_load32(bytes + whole);
    }
    read_frames(bytes, whole);
    CHECK(whole == 0 || tm_switch_sent(w.sw, connection, whole) == TM_OK, "sent");
}

/* A client's subscriber, which is kept from here on. */
static uint32_t keep_one(uint8_t policy, uint32_t *connection) {
    tm_admission admission = admission_of(NUMBER, policy);
    *connection = open_one();
    CHECK(tm_switch_admit(w.sw, *connection, &admission) == TM_OK, "admit");
    uint32_t subscriber = tm_switch_subscriber_of(w.sw, *connection);
    subscribe(subscriber, 1);
    CHECK(tm_switch_keep(w.sw, subscriber) == TM_OK, "keep");
    return subscriber;
}

/* Frames leave whole here, so that every message comes or is told as lost. */
static void live(uint64_t seed) {
    dice d = {seed};
    start(0);
    uint8_t policy = (uint8_t)below(&d, 3);
    uint32_t connection = TM_CONNECTION_NONE;
    uint32_t subscriber = below(&d, 2) ? new_one(policy) : keep_one(policy, &connection);
    for (int i = 0; i < 300; i++) {
        bool is_served = connection != TM_CONNECTION_NONE;
        uint32_t kind = below(&d, 10);
        if (kind < 5) {
            publish(1 + below(&d, 12));
        } else if (kind < 8 && is_served) {
            fetch_some(&d, connection);
        } else if (kind == 8 && !is_served) {
            connection = consume(subscriber, policy);
        } else if (kind == 9 && is_served) {
            cut(connection);
            connection = TM_CONNECTION_NONE;
        }
    }
    fetch(connection != TM_CONNECTION_NONE ? connection : consume(subscriber, policy));
    CHECK(w.messages + w.lost == w.counter && cut_off() == 0, "seed %lu: %lu and %lu of %lu", (unsigned long)seed,
          (unsigned long)w.messages, (unsigned long)w.lost, (unsigned long)w.counter);
    stop();
}

int main(int count, char **values) {
    uint64_t seeds = count > 1 ? strtoull(values[1], NULL, 10) : 60;
    waits_for_the_next_connection();
    a_frame_that_has_begun_to_leave_is_lost();
    control_frames_stay_with_their_connection();
    drops_the_newest(TM_SLOW_DROP_NEWEST);
    drops_the_newest(TM_SLOW_DISCONNECT);
    drops_the_oldest();
    each_connection_that_is_too_slow_is_told_of();
    blocks_its_publishers_for_a_while();
    one_that_is_freed_blocks_nobody();
    gives_memory_back();
    a_client_ends_with_its_connection();
    one_without_a_connection_is_freed_in_slices();
    refuses_what_does_not_fit();
    changes_nothing_without_memory();
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        live(seed);
    }
    printf("%lu lives of a subscriber\n", (unsigned long)seeds);
    return 0;
}
