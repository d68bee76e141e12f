/* remote_world.c - see remote_world.h. */
#include "remote_world.h"

#include <string.h>

#include "base/tested.h"

#define NUMBER(side) (UINT64_C(100) + (side))
#define FRAME_MAX 65536U

remote_world remotes;
static frame out;

/* ---- the switches ---- */

static uint32_t opened(remote_side *side, tm_admission admission) {
    uint32_t connection;
    CHECK(tm_switch_open(side->sw, -1, &connection) == TM_OK, "open");
    CHECK(tm_switch_admit(side->sw, connection, &admission) == TM_OK, "admit");
    return connection;
}

static const tm_admission CLIENT = {
    .number = 7, .queue_bytes_max = REMOTE_QUEUE, .frame_bytes_max = FRAME_MAX, .table_bytes_max = UINT64_MAX};

static void start(unsigned at) {
    remote_side *side = &remotes.sides[at];
    uint64_t other = NUMBER(1 - at);
    tm_options tables = {0};
    tm_switch_options options = {.number = NUMBER(at),
                                 .epoch = 1,
                                 .connections_max = 64,
                                 .frame_bytes_max = FRAME_MAX,
                                 .greeting_bytes_max = 1U << 20,
                                 .publishers_max = 4,
                                 .hop_limit = 8};
    tm_admission link = {.number = other,
                         .queue_bytes_max = 262144U << below(&remotes.dice, 3),
                         .frame_bytes_max = 1U << 20,
                         .table_bytes_max = UINT64_MAX,
                         .policy = TM_SLOW_DROP_NEWEST,
                         .version = 3,
                         .is_link = 1};
    CHECK(tm_table_new(TM_ENGINE_DEFAULT, &tables, &side->table) == TM_OK, "table");
    CHECK(tm_table_new(TM_ENGINE_DEFAULT, &tables, &side->network) == TM_OK, "table");
    CHECK(tm_switch_new(&options, side->table, &side->sw) == TM_OK, "switch");
    CHECK(tm_switch_join(side->sw, side->network, 2, TM_FORWARD_WANTED) == TM_OK, "join");
    side->link = opened(side, link);
    side->client = at == NEAR ? opened(side, CLIENT) : TM_CONNECTION_NONE;
    uint32_t generation;
    CHECK(tm_switch_begin_routes(side->sw, 5, &generation) == TM_OK, "begin");
    CHECK(tm_switch_route(side->sw, generation, NUMBER(at), 0, &other, &other, 1) == TM_OK, "route");
    CHECK(tm_switch_commit(side->sw, 0, 0) == TM_OK, "commit");
}

void remotes_begin(uint64_t seed) {
    tm_tested_ns = 1;
    uint64_t heard = remotes.heard;
    remotes = (remote_world){.dice = {seed}, .reads = true, .heard = heard};
    start(NEAR);
    start(FAR);
}

void remotes_end(void) {
    remotes_drop_path();
    remote_judge_end(&remotes.judge);
    for (unsigned at = 0; at < SIDES; at++) {
        const char *reason = NULL;
        CHECK(tm_switch_validate(remotes.sides[at].sw, &reason) == TM_OK, "%s", reason);
        tm_switch_free(remotes.sides[at].sw);
        tm_table_free(remotes.sides[at].table);
        tm_table_free(remotes.sides[at].network);
    }
    tm_tested_ns = 0;
}

/* ---- what is said ---- */

void remotes_open(void) {
    static const uint8_t hello[] = {12, 0, 0, 0, WIRE_REMOTE_HELLO, 0, 0, 0, 1, 2, 3, 4};
    remote_side *near = &remotes.sides[NEAR];
    remote_judge_end(&remotes.judge);
    remote_judge_begin(&remotes.judge, ++remotes.sessions + 1000, remotes.now_ms);
    remotes.has_ended[NEAR] = remotes.has_ended[FAR] = remotes.is_closing = false;
    CHECK(tm_remote_begin(near->sw, near->client, NUMBER(FAR), remotes.judge.session) == TM_OK, "begin");
    CHECK(tm_remote_consumer(near->sw, remotes.judge.session, REMOTE_CONSUMER, 1) == TM_OK, "attach");
    remotes.is_attached = true;
    remote_judge_say(&remotes.judge.sides[NEAR].stream, hello, sizeof hello);
    CHECK(tm_remote_send(near->sw, remotes.judge.session, hello, sizeof hello) == TM_OK, "hello");
}

/* Fill the rest of the frame with bytes that differ from frame to frame. */
static void fill(uint32_t most) {
    for (uint32_t left = below(&remotes.dice, 16) == 0 ? below(&remotes.dice, most) : below(&remotes.dice, 300);
         left > 0; left--) {
        out.bytes[out.size++] = (uint8_t)roll(&remotes.dice);
    }
    wire_store32(out.bytes, out.size);
}

bool remotes_say_up(void) {
    begin(&out, WIRE_SUBSCRIBE);
    fill(60000);
    int result = tm_remote_send(remotes.sides[NEAR].sw, remotes.judge.session, out.bytes, out.size);
    CHECK(result == TM_OK || result == TM_TOO_MANY, "send: %d", result);
    if (result == TM_OK) {
        remote_judge_say(&remotes.judge.sides[NEAR].stream, out.bytes, out.size);
    }
    return result == TM_OK;
}

void remotes_say_credit(void) {
    remote_side *near = &remotes.sides[NEAR];
    const tm_event *events;
    size_t count;
    begin(&out, WIRE_CREDIT);
    put_byte(&out, 0x93);
    put_byte(&out, below(&remotes.dice, 100));
    put_byte(&out, 0);
    put_byte(&out, REMOTE_CONSUMER);
    wire_store32(out.bytes, out.size);
    remote_judge_say(&remotes.judge.sides[NEAR].stream, out.bytes, out.size);
    CHECK(tm_switch_feed(near->sw, near->client, out.bytes, out.size, &events, &count) == TM_OK, "feed");
    remotes_handle(NEAR, events, count);
}

static bool say_down(void) {
    remote_side *far = &remotes.sides[FAR];
    if (far->client == TM_CONNECTION_NONE || remotes.is_closing ||
        tm_switch_send(far->sw, far->client, out.bytes, out.size, TM_LANE_ORDERED) != TM_OK) {
        return false;
    }
    remote_judge_say(&remotes.judge.sides[FAR].stream, out.bytes, out.size);
    return true;
}

void remotes_deliver(uint32_t consumer) {
    begin(&out, WIRE_DELIVER);
    out.size = WIRE_HEADER_BYTES;
    wire_store16(out.bytes + WIRE_EXTENSION_SIZE, 8);
    static const uint8_t satisfied[] = {WIRE_SATISFIED, 0, 4, 0};
    memcpy(out.bytes + out.size, satisfied, sizeof satisfied);
    wire_store32(out.bytes + out.size + 4, consumer);
    out.size += 8;
    fill(60000);
    if (say_down() && consumer == REMOTE_CONSUMER && remotes.is_attached) {
        remote_judge_say(&remotes.judge.deliveries, out.bytes, out.size);
    }
    CHECK(tm_remote_flush(remotes.sides[FAR].sw) == TM_OK, "flush");
}

void remotes_answer(void) {
    begin(&out, WIRE_ACK);
    fill(300);
    if (say_down()) {
        remote_judge_say(&remotes.judge.answers, out.bytes, out.size);
    }
    CHECK(tm_remote_flush(remotes.sides[FAR].sw) == TM_OK, "flush");
}

/* ---- what comes ---- */

/* A home takes the session, as Python would. */
static void accept(const tm_event *event) {
    remote_side *far = &remotes.sides[FAR];
    uint32_t marks;
    const tm_event *events;
    size_t count;
    if (remote_judge_session_of(event->frame, &marks) != remotes.judge.session || far->client != TM_CONNECTION_NONE ||
        remotes.has_ended[FAR]) {
        return; /* a frame of an earlier session */
    }
    out.size = event->size;
    memcpy(out.bytes, event->frame, out.size);
    CHECK(tm_switch_open(far->sw, -1, &far->client) == TM_OK, "open");
    CHECK(tm_remote_accept(far->sw, far->client, out.bytes, out.size) == TM_OK, "accept");
    CHECK(tm_switch_poll(far->sw, 0, &events, &count) == TM_OK, "poll");
    remotes_handle(FAR, events, count);
    CHECK(tm_switch_admit(far->sw, far->client, &CLIENT) == TM_OK, "admit");
}

static void forget(unsigned side, uint32_t connection) {
    uint32_t left;
    CHECK(connection == remotes.sides[FAR].client && side == FAR, "connection %u of side %u", connection, side);
    CHECK(tm_switch_forget(remotes.sides[FAR].sw, connection, 1000, &left) == TM_OK && left == 0, "forget");
    remotes.sides[FAR].client = TM_CONNECTION_NONE;
    remotes.has_ended[FAR] = true;
}

void remotes_handle(unsigned side, const tm_event *events, size_t count) {
    uint32_t closed = TM_CONNECTION_NONE;
    bool begins = false;
    for (size_t i = 0; i < count; i++) {
        const tm_event *event = &events[i];
        uint64_t session = event->type == TM_EVENT_REMOTE_SAID || event->type == TM_EVENT_REMOTE_ENDED
                               ? tm_load64(event->frame)
                               : remotes.judge.session;
        CHECK(session == remotes.judge.session, "an event of session %lu", (unsigned long)session);
        if (event->type == TM_EVENT_FRAME) {
            CHECK(side == FAR && event->connection == remotes.sides[FAR].client, "a frame for side %u", side);
            remote_judge_hear(&remotes.judge.sides[NEAR].stream, event->frame, event->size, "home");
            remotes.heard += event->size;
        } else if (event->type == TM_EVENT_REMOTE_SAID) {
            remote_judge_hear(&remotes.judge.answers, event->frame + 8, event->size - 8, "router");
        } else if (event->type == TM_EVENT_REMOTE_ENDED) {
            CHECK(side == NEAR && !remotes.has_ended[NEAR], "a second end");
            remotes.has_ended[NEAR] = true;
        } else if (event->type == TM_EVENT_CLOSED) {
            closed = event->connection;
        } else if (event->type == TM_EVENT_REMOTE_BEGINS && !begins) {
            begins = true;
            accept(event);
            return; /* events are borrowed until the next call; there is one frame in a feed */
        } else {
            CHECK(event->type == TM_EVENT_OUTPUT || event->type == TM_EVENT_REMOTE_BEGINS, "event %u", event->type);
        }
    }
    if (closed != TM_CONNECTION_NONE) {
        forget(side, closed);
    }
}

/* ---- the path ---- */

static void put_on_path(unsigned from, const uint8_t *bytes, uint32_t size) {
    if (remotes.path_count == PATH_MAX_FRAMES) {
        return;
    }
    path_frame *to = &remotes.path[remotes.path_count++];
    *to = (path_frame){.bytes = malloc(size), .size = size, .from = (uint8_t)from};
    CHECK(to->bytes != NULL, "memory");
    memcpy(to->bytes, bytes, size);
}

static bool happens(uint32_t of_8) {
    return below(&remotes.dice, 8) < of_8;
}

static void leave(unsigned from) {
    remote_side *side = &remotes.sides[from];
    const uint8_t *bytes;
    size_t size;
    while (tm_switch_output(side->sw, side->link, &bytes, &size) == TM_OK && size > 0) {
        for (size_t at = 0; at < size; at += tm_load32(bytes + at)) {
            uint32_t length = tm_load32(bytes + at);
            remote_judge_leaves(&remotes.judge, bytes + at, length, remotes.now_ms);
            for (uint32_t copies = happens(remotes.again_of_8) ? 2 : 1; copies > 0; copies--) {
                if (!remotes.is_cut && !happens(remotes.lost_of_8)) {
                    put_on_path(from, bytes + at, length);
                }
            }
        }
        CHECK(tm_switch_sent(side->sw, side->link, size) == TM_OK, "sent");
    }
}

static void arrive(path_frame moved) {
    remote_side *to = &remotes.sides[1 - moved.from];
    const tm_event *events;
    size_t count;
    remote_judge_comes(&remotes.judge, moved.bytes, moved.size);
    CHECK(tm_switch_feed(to->sw, to->link, moved.bytes, moved.size, &events, &count) == TM_OK, "feed");
    remotes_handle(1 - moved.from, events, count);
    free(moved.bytes);
}

void remotes_carry(uint32_t most) {
    leave(NEAR);
    leave(FAR);
    for (; most > 0 && remotes.path_count > 0; most--) {
        uint32_t at = happens(remotes.swapped_of_8) ? below(&remotes.dice, remotes.path_count) : 0;
        path_frame moved = remotes.path[at];
        memmove(remotes.path + at, remotes.path + at + 1, (--remotes.path_count - at) * sizeof *remotes.path);
        arrive(moved);
        leave(NEAR);
        leave(FAR);
    }
}

void remotes_drop_path(void) {
    while (remotes.path_count > 0) {
        free(remotes.path[--remotes.path_count].bytes);
    }
}

/* ---- time ---- */

/* The client reads whole frames; what waits for it is bounded. */
static void read_client(void) {
    remote_side *near = &remotes.sides[NEAR];
    const uint8_t *bytes;
    size_t size;
    CHECK(tm_switch_output(near->sw, near->client, &bytes, &size) == TM_OK, "output");
    CHECK(size <= REMOTE_QUEUE / 2 + JUDGED_WINDOW + FRAME_MAX, "%zu bytes wait for the client", size);
    if (remotes.reads && size > 0) {
        remote_judge_hear(&remotes.judge.deliveries, bytes, size, "client");
        remotes.heard += size;
        CHECK(tm_switch_sent(near->sw, near->client, size) == TM_OK, "sent");
    }
}

void remotes_pass(uint32_t ms) {
    while (ms > 0) {
        uint32_t step = ms < REMOTE_TICK_MS ? ms : REMOTE_TICK_MS;
        ms -= step;
        remotes.now_ms += step;
        for (unsigned at = 0; at < SIDES; at++) {
            const tm_event *events;
            size_t count;
            tm_switch_advance(remotes.sides[at].sw, step);
            CHECK(tm_switch_tick(remotes.sides[at].sw, &events, &count) == TM_OK, "tick");
            remotes_handle(at, events, count);
            leave(at);
        }
        read_client();
    }
}
