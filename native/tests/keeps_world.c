/* keeps_world.c - see keeps_world.h. What happens; what comes out is in keeps_judge.c. */
#include "keeps_world.h"

#include <string.h>

#include "keeps_judge.h"
#include "log/log.h"
#include "switch/switch.h"

#define SEGMENT_BYTES 16384U
#define RING_BYTES 8192U
#define LOG_BYTES (20U * SEGMENT_BYTES)
#define CONNECTIONS 64U
#define PUBLISHER 1U
#define RECORD_OF_KEEP 64U  /* its kind in the book; the body is the kind of terms and the number */
#define RECORD_OF_BEGUN 65U /* as that, of a keep that takes over what is in the log, and may not have all of it */
#define BOOKED_BYTES 16U    /* of a keep that took over: with the number of the record by which it began */
#define ENOUGH 100000U
#define TAKES_ALL 2U /* a kind that wants all and lets nothing go */

static const uint8_t IS_A[] = {0x91, 0x93, 0xa1, 'k', 0x01, 0x00};
static const uint8_t IS_B[] = {0x91, 0x93, 0xa1, 'k', 0x01, 0x01};
static const uint8_t IS_C[] = {0x91, 0x93, 0xa1, 'k', 0x01, 0x02};
static const uint8_t IS_ANY[] = {0x91, 0x92, 0xa1, 'k', 0x00};
static const uint8_t IS_DEAD[] = {0x92, 0x93, 0xa1, 'k', 0x01, 0x00, 0x93, 0xa1, 'v', 0x01, 0x00};
static const uint8_t VALUE[] = {'v'};

typedef struct kind_of_keep {
    const uint8_t *filter;
    uint32_t filter_size;
    tm_keep_terms terms;
    uint32_t dead_letter; /* kind + 1 */
} kind_of_keep;

#define WANTS(filter) (filter), sizeof(filter)
static const kind_of_keep KINDS[KEEPS_KINDS] = {
    {WANTS(IS_A),
     {.bytes_max = 1 << 20,
      .ack_wait_ms = 30000,
      .deliveries_max = 3,
      .unacked_max = 3,
      .backoff_count = 2,
      .backoff_ms = {1000, 5000}},
     2},
    {WANTS(IS_DEAD), {.bytes_max = 1 << 20, .ack_wait_ms = 30000, .unacked_max = 100}, 0},
    {WANTS(IS_ANY),
     {.bytes_max = 1 << 20, .order_by = VALUE, .order_by_size = 1, .ack_wait_ms = 30000, .unacked_max = 4},
     0},
    {WANTS(IS_B),
     {.bytes_max = 1 << 20, .count_max = 3, .ack_wait_ms = 30000, .deliveries_max = 2, .unacked_max = 9},
     0},
    {WANTS(IS_C),
     {.bytes_max = 600, .count_max = 4, .ack_wait_ms = 30000, .unacked_max = 9, .overflow = TM_KEEP_REFUSE},
     0},
    {WANTS(IS_B), {.bytes_max = 1 << 20, .for_ms = 60000, .ack_wait_ms = 30000, .unacked_max = 9}, 0},
    {WANTS(IS_A),
     {.bytes_max = 1 << 20, .latest_by = VALUE, .latest_by_size = 1, .ack_wait_ms = 30000, .unacked_max = 9},
     0},
};

/* ---- choices ---- */

bool keeps_goes_on(const keeps_world *w) {
    return w->choices == NULL || w->choices < w->choices_end;
}

static uint32_t choose(keeps_world *w, uint32_t bound) {
    if (w->choices == NULL) {
        return below(&w->dice, bound);
    }
    return w->choices < w->choices_end ? *w->choices++ % bound : 0;
}

static bool wants(uint32_t kind, const seen_message *message) {
    const uint8_t *filter = KINDS[kind].filter;
    bool is_kind = filter == IS_ANY || message->kind == (filter == IS_B ? 1 : filter == IS_C ? 2 : 0);
    return is_kind && (filter != IS_DEAD || message->value == 0);
}

bool keeps_wants(uint32_t kind, const seen_message *message) {
    return wants(kind, message);
}

bool keeps_lets_go(uint32_t kind) {
    return KINDS[kind].terms.latest_by_size > 0;
}

bool keeps_takes_letters(uint32_t kind) {
    return kind + 1 == KINDS[0].dead_letter;
}

/* ---- memory that fails ---- */

static void starve(keeps_world *w, uint64_t n) {
    if (w->starved == STARVED_KEEPS && w->sw->keeps != NULL) {
        tm_keeps_fail_allocation(w->sw, n);
    } else if (w->starved == STARVED_SWITCH) {
        tm_switch_fail_allocation(w->sw, n);
    } else if (w->starved == STARVED_LOG) {
        w->log->store->memory.fail_in = n;
    } else if (w->starved == STARVED_TABLE) {
        tm_table_fail_allocation(w->table, n);
    }
}

static void check_result(const keeps_world *w, int result, const char *what) {
    bool may_fail = w->starved != STARVED_NOBODY && result == TM_NO_MEMORY;
    CHECK(result == TM_OK || may_fail, "%s: %d", what, result);
}

/* ---- one life ---- */

static uint32_t connect(keeps_world *w, uint64_t number) {
    tm_admission admission = {.number = number,
                              .queue_bytes_max = 4000,
                              .credit_bytes = UINT64_C(1) << 50,
                              .credit_frames = 1U << 30,
                              .frame_bytes_max = 1U << 16,
                              .table_bytes_max = UINT64_MAX,
                              .filters_max = 10,
                              .version = 2};
    uint32_t connection;
    int result = tm_switch_open(w->sw, -1, &connection);
    check_result(w, result, "open");
    if (result != TM_OK) {
        return UINT32_MAX;
    }
    result = tm_switch_admit(w->sw, connection, &admission);
    check_result(w, result, "admit");
    if (result != TM_OK) {
        CHECK(tm_switch_close(w->sw, connection, true) == TM_OK, "close");
        return UINT32_MAX;
    }
    return connection;
}

/* Without memory a connection may end by itself. */
static bool is_open(const keeps_world *w, uint32_t connection) {
    tm_connection_stats stats = {0};
    CHECK(tm_switch_connection(w->sw, connection, &stats) == TM_OK, "figures of a connection");
    return stats.state == 2;
}

static void disconnect(keeps_world *w, uint32_t connection) {
    const tm_event *events;
    size_t count;
    uint32_t left;
    CHECK(tm_switch_close(w->sw, connection, true) == TM_OK, "close");
    CHECK(tm_switch_tick(w->sw, &events, &count) == TM_OK, "tick");
    do {
        CHECK(tm_switch_forget(w->sw, connection, 9, &left) == TM_OK, "forget");
    } while (left > 0);
}

static void point_at_dead_letters(keeps_world *w) {
    for (uint32_t kind = 0; kind < KEEPS_KINDS; kind++) {
        uint32_t to = KINDS[kind].dead_letter;
        if (w->keeps[kind].number != 0) {
            CHECK(tm_keep_dead_letter(w->sw, w->keeps[kind].number, to > 0 ? w->keeps[to - 1].number : 0) == TM_OK,
                  "dead letter");
        }
    }
}

/* `since`: the number from which on records may be the keep's; 0: it is new. */
static int open_keep(keeps_world *w, uint32_t kind, uint32_t number, uint64_t since) {
    uint32_t subscriber;
    int result = tm_keep_open(w->sw, number, &KINDS[kind].terms, &subscriber);
    if (result == TM_OK && since > 0) {
        result = tm_keep_recover(w->sw, number, since);
    }
    return result == TM_OK ? tm_keep_filter(w->sw, number, KINDS[kind].filter, KINDS[kind].filter_size) : result;
}

static const uint8_t *body_of(const tm_log_record *record) {
    return (const uint8_t *)(record + 1) + (record->keeps + 1U) / 2 * 8;
}

/* A keep began to take over: if it has not come to its end, it is no keep. */
static int end_begun(keeps_world *w, const tm_log_record *begun, const uint8_t *records, size_t size) {
    uint32_t body[2];
    bool is_made = false;
    memcpy(body, body_of(begun), sizeof body);
    for (size_t at = 0; at < size; at += ((const tm_log_record *)(records + at))->size) {
        const tm_log_record *record = (const tm_log_record *)(records + at);
        is_made = is_made || (record->kind == RECORD_OF_KEEP && memcmp(body_of(record), body, sizeof body) == 0);
    }
    uint32_t left = 0;
    uint32_t subscriber;
    int result = is_made ? TM_OK : tm_keep_open(w->sw, body[1], &KINDS[body[0]].terms, &subscriber);
    result = result == TM_OK && !is_made ? tm_keep_forget(w->sw, body[1], UINT32_MAX, &left) : result;
    bool stays = result == TM_LOG_BUSY || result == TM_LOG_FULL || result == TM_LOG_FAILED;
    CHECK(result != TM_OK || tm_keeps_retire(w->sw, begun->n) == TM_OK, "retire");
    return stays ? TM_OK : result;
}

/* Open what the book has; what was known before and is on disk must be in it. */
static int open_recovered(keeps_world *w) {
    static uint8_t records[1 << 16];
    size_t size;
    int result = tm_log_read(w->log, TM_KEEPS_BOOK, 0, 0, records, sizeof records, &size);
    CHECK(result != TM_TOO_MANY, "a long book");
    bool is_there[KEEPS_KINDS] = {false};
    for (size_t at = 0; result == TM_OK && at < size;) {
        const tm_log_record *record = (const tm_log_record *)(records + at);
        at += record->size;
        if (record->kind < RECORD_OF_KEEP) {
            continue;
        }
        if (record->kind == RECORD_OF_BEGUN) {
            result = end_begun(w, record, records, size);
            continue;
        }
        uint32_t body[2];
        uint64_t begun = 0;
        memcpy(body, body_of(record), sizeof body);
        if (record->body_size == BOOKED_BYTES) {
            memcpy(&begun, body_of(record) + sizeof body, sizeof begun);
        }
        judge_recovered(w, body[0], body[1], record->n);
        is_there[body[0]] = true;
        result = open_keep(w, body[0], body[1], begun > 0 ? begun : record->n);
    }
    for (uint32_t kind = 0; kind < KEEPS_KINDS && result == TM_OK; kind++) {
        if (!is_there[kind]) {
            judge_gone(w, kind);
        }
    }
    return result;
}

/* ---- records ---- */

static void begin_records(keeps_world *w) {
    static const uint8_t prefix[] = "{\"t_us\":";
    tm_records_options options = {.prefix = prefix,
                                  .prefix_size = sizeof prefix - 1,
                                  .kept_prefix = prefix,
                                  .kept_prefix_size = sizeof prefix - 1,
                                  .share = UINT64_MAX,
                                  .ring_bytes = 2 * TM_FRAME_BYTES_MAX};
    CHECK(tm_records_new(&options, &w->records) == TM_OK, "records");
    CHECK(tm_switch_record(w->sw, w->records) == TM_OK, "recording");
    w->recorded = 0;
}

/* Each delivery is in the records, once. */
static void check_records(keeps_world *w) {
    static char lines[1U << 16];
    size_t size;
    uint64_t count;
    do {
        CHECK(tm_records_take(w->records, tm_records_end(w->records), (uint8_t *)lines, sizeof lines - 1, &size,
                              &count) == TM_OK,
              "records are not taken");
        lines[size] = '\0';
        for (const char *at = lines; (at = strstr(at, "\"what\":\"")) != NULL; at++) {
            w->recorded += strncmp(at, "\"what\":\"given", 13) == 0 || strncmp(at, "\"what\":\"replayed", 16) == 0;
        }
    } while (count > 0);
    CHECK(tm_records_lost(w->records) == 0, "records are lost");
    CHECK(w->recorded == w->sw->stats.deliveries, "%lu deliveries, %lu of them recorded",
          (unsigned long)w->sw->stats.deliveries, (unsigned long)w->recorded);
}

static int begin_life(keeps_world *w) {
    tm_switch_options options = {.number = 99,
                                 .epoch = 1,
                                 .connections_max = CONNECTIONS,
                                 .subscribers_max = 2 * CONNECTIONS,
                                 .frame_bytes_max = 1U << 16,
                                 .greeting_bytes_max = 4096,
                                 .publishers_max = 4,
                                 .hop_limit = 8};
    tm_keeps_options keeps = {.ring_bytes = RING_BYTES, .has_no_thread = 1};
    w->table = new_table(0);
    CHECK(tm_switch_new(&options, w->table, &w->sw) == TM_OK, "new");
    begin_records(w);
    starve(w, w->failing);
    int result = tm_switch_keeps(w->sw, w->log, &keeps);
    result = result == TM_OK ? open_recovered(w) : result;
    if (result == TM_OK) {
        w->publisher = connect(w, PUBLISHER);
        result = w->publisher == UINT32_MAX ? TM_NO_MEMORY : TM_OK;
    }
    return result;
}

static void end_switch(keeps_world *w) {
    if (w->sw != NULL) {
        CHECK(tm_switch_keeps(w->sw, NULL, NULL) == TM_OK, "end");
        tm_switch_free(w->sw);
        tm_table_free(w->table);
        tm_records_free(w->records);
    }
    w->sw = NULL;
}

static void start(keeps_world *w, faulty_disk *disk) {
    tm_log_options options = {.bytes_max = LOG_BYTES,
                              .segment_bytes = SEGMENT_BYTES,
                              .ring_bytes = RING_BYTES,
                              .hash_seed = 1,
                              .has_no_threads = 1};
    w->disk = disk;
    CHECK(tm_log_open_on(&options, &disk->base, &w->log) == TM_OK, "the log does not open");
    int result = begin_life(w);
    if (result != TM_OK) { /* a router would end, and be started again */
        check_result(w, result, "a start");
        w->failing = 0;
        end_switch(w);
        CHECK(begin_life(w) == TM_OK, "a start with memory");
    }
    point_at_dead_letters(w);
}

/* `w->starved` and `w->failing` are of the next life, too. */
static void crash(keeps_world *w, crash_kind kind) {
    faulty_disk *disk = faulty_crash(w->disk, kind, roll(&w->dice));
    judge_crash(w);
    starve(w, 0);
    end_switch(w);
    tm_log_close(w->log);
    w->crashes++;
    start(w, disk);
}

void keeps_begin(keeps_world *w, uint64_t seed) {
    w->dice = (dice){seed};
    w->may_return = w->starved == STARVED_LOG;
    w->next_number = w->next_id = w->next_request = 1;
    start(w, faulty_new(seed));
}

void keeps_end(keeps_world *w) {
    starve(w, 0);
    end_switch(w);
    tm_log_close(w->log);
    w->log = NULL;
}

/* ---- frames in ---- */

static frame out;

static void feed(keeps_world *w, uint32_t connection) {
    const tm_event *events;
    size_t count;
    wire_store32(out.bytes, out.size);
    CHECK(tm_switch_feed(w->sw, connection, out.bytes, out.size, &events, &count) == TM_OK, "feed");
    for (size_t i = 0; i < count; i++) {
        bool is_strange = events[i].type == TM_EVENT_FRAME || events[i].type == TM_EVENT_FAULT;
        CHECK(w->is_hostile || !is_strange, "a sound frame goes up: event %u, %s", events[i].type, events[i].text);
    }
}

static void put_number(uint64_t number) {
    put_byte(&out, 0xcf);
    for (int shift = 56; shift >= 0; shift -= 8) {
        put_byte(&out, (unsigned)(number >> shift & 0xff));
    }
}

static void publish(keeps_world *w, bool is_again) {
    static wire attributes;
    if (w->message_count >= KEEPS_MESSAGES - 1) {
        return;
    }
    is_again = is_again && w->message_count > 0;
    uint64_t counter = is_again ? 1 + choose(w, w->message_count) : ++w->message_count;
    seen_message *message = &w->messages[counter];
    if (!is_again) {
        *message = (seen_message){.kind = (uint8_t)choose(w, 3), .value = (uint8_t)choose(w, 2)};
        judge_published(w, message);
    }
    attributes.size = 0;
    put_map(&attributes, 2);
    put_string(&attributes, "k", 1);
    put_integer(&attributes, message->kind);
    put_string(&attributes, "v", 1);
    put_integer(&attributes, message->value);
    publish_frame(&out, PUBLISHER, counter, true, &attributes, counter % 5 == 0 ? 300 : 20);
    out.bytes[WIRE_FLAGS] |= WIRE_FLAG_DURABLE | (is_again ? WIRE_FLAG_RETRY : 0);
    feed(w, w->publisher);
}

static void send_ack(keeps_world *w, const seen_member *member, uint64_t first, uint64_t last, uint32_t verdict,
                     uint32_t request) {
    begin(&out, WIRE_ACK);
    put_byte(&out, 0x98);
    put_byte(&out, WIRE_ACK_OF_DELIVER);
    put_number(request);
    put_byte(&out, 0x91);
    put_byte(&out, 0x92);
    put_number(first);
    put_number(last);
    put_byte(&out, 0x90);
    put_byte(&out, verdict);
    put_number(member->id);
    put_number(choose(w, 2) * 2000);
    put_byte(&out, 0xa2);
    put_byte(&out, 'n');
    put_byte(&out, 'o');
    judge_acked(w, member, first, last, verdict, request);
    feed(w, member->connection);
}

static void acknowledge(keeps_world *w, const seen_member *member) {
    const seen_keep *keep = &w->keeps[member->keep];
    if (keep->count == 0) {
        return;
    }
    uint32_t back = choose(w, keep->count < 8 ? keep->count : 8);
    uint64_t last = keep->positions[keep->count - 1 - back].n;
    uint64_t first = choose(w, 3) == 0 ? 0 : last;
    uint32_t verdict = choose(w, 12);
    send_ack(w, member, first, last, verdict < 9 ? 0 : verdict - 8, choose(w, 2) ? w->next_request++ : 0);
}

static void raise_credit(keeps_world *w, seen_member *member) {
    member->credit += choose(w, 5);
    begin(&out, WIRE_CREDIT);
    put_byte(&out, 0x93);
    put_number(member->credit);
    put_byte(&out, 0);
    put_number(member->id);
    feed(w, member->connection);
}

/* A frame of a member, some bytes of which are any. */
static void send_strange(keeps_world *w, seen_member *member) {
    static const uint8_t kinds[] = {WIRE_ACK, WIRE_ACK, WIRE_CREDIT, 0x25, 0x26, 0x27, 0x28};
    if (choose(w, 2) == 0) {
        begin(&out, kinds[choose(w, sizeof kinds)]);
        for (uint32_t left = choose(w, 64); left > 0; left--) {
            put_byte(&out, choose(w, 256));
        }
    } else { /* one that nearly is an ACK */
        uint32_t at = WIRE_PREFIX_BYTES + choose(w, 40);
        begin(&out, WIRE_ACK);
        static const uint8_t start[] = {0x98, WIRE_ACK_OF_DELIVER,
                                        0x01, 0x92,
                                        0x92, 0x00,
                                        0xcd, 0xff,
                                        0xff, 0x92,
                                        0xcf, 0,
                                        1,    0,
                                        0,    0,
                                        0,    0,
                                        0,    0xcf,
                                        0xff, 0xff,
                                        0xff, 0xff,
                                        0xff, 0xff,
                                        0xff, 0xff,
                                        0x90};
        for (size_t i = 0; i < sizeof start; i++) {
            put_byte(&out, start[i]);
        }
        put_byte(&out, choose(w, 4));
        put_number(member->id);
        put_byte(&out, 1);
        put_byte(&out, 0xa0);
        for (uint32_t more = choose(w, 3); more > 0 && at < out.size; more--) {
            out.bytes[at++] = (uint8_t)choose(w, 256);
        }
    }
    feed(w, member->connection);
}

/* ---- keeps and members ---- */

static void leave(keeps_world *w, seen_member *member, bool is_by_word) {
    judge_left(w, member);
    if (is_by_word) {
        CHECK(tm_keep_detach(w->sw, member->connection, member->id) == TM_OK, "detach");
    }
    disconnect(w, member->connection);
    *member = (seen_member){0};
}

static void forget(keeps_world *w, uint32_t kind) {
    seen_keep *keep = &w->keeps[kind];
    for (seen_member *m = w->members; m < w->members + KEEPS_MEMBERS; m++) {
        if (m->id != 0 && m->keep == kind) {
            leave(w, m, false);
        }
    }
    uint32_t left = 0;
    do {
        int result = tm_keep_forget(w->sw, keep->number, 1, &left);
        if (result != TM_OK) {
            CHECK(result == TM_LOG_BUSY || result == TM_LOG_FAILED || result == TM_LOG_FULL, "forget: %d", result);
            return;
        }
    } while (left > 0);
    CHECK(tm_keeps_retire(w->sw, keep->n) == TM_OK, "retire");
    judge_gone(w, kind);
    point_at_dead_letters(w);
}

/* Have a keep without filters take over what is in the log. */
static int take_over(keeps_world *w, uint32_t number, tm_table *wanted) {
    static uint64_t records[2048];
    tm_keep_start start = {0};
    tm_log_place place = {0};
    for (uint32_t round = 0; round < 2000; round++) {
        tm_log_replayed replayed;
        size_t size = 0;
        size_t used = 0;
        tm_keep_mark(w->sw, &start);
        int result =
            tm_log_replay(w->log, wanted, 0, 1 + choose(w, 9), &place, records, sizeof records, &size, &replayed);
        for (size_t at = 0; result == TM_OK && at < size; at += used) {
            result = tm_keep_seed(w->sw, number, &start, (const uint8_t *)records + at, size - at, &used);
            bool waits = result == TM_LOG_BUSY && tm_log_commit(w->log) == TM_OK;
            result = waits ? TM_OK : result;
        }
        if (result == TM_OK && choose(w, 2) == 0) {
            publish(w, false);
        }
        result = result == TM_OK && replayed.is_all ? tm_keep_join(w->sw, number, &start, wanted) : result;
        if (replayed.is_all && result == TM_LOG_BUSY && tm_log_commit(w->log) == TM_OK) {
            continue;
        }
        if (result != TM_OK || replayed.is_all) {
            return result;
        }
    }
    return TM_LOG_BUSY;
}

/* A keep that begins with what is in the log: it is in the book once it has that. */
static void make_from_log(keeps_world *w, uint32_t kind) {
    uint32_t body[2] = {kind, w->next_number++};
    uint32_t subscriber;
    uint64_t n;
    tm_table *wanted = new_table(0);
    uint64_t begun;
    uint32_t handle;
    CHECK(tm_table_add(wanted, KINDS[kind].filter, KINDS[kind].filter_size, 0, &handle) == TM_OK, "a filter");
    bool is_begun = tm_keeps_append(w->sw, RECORD_OF_BEGUN, (const uint8_t *)body, sizeof body, &begun) == TM_OK;
    if (is_begun && tm_keep_open(w->sw, body[1], &KINDS[kind].terms, &subscriber) == TM_OK) {
        int result = take_over(w, body[1], wanted);
        result = result == TM_OK ? tm_keep_filter(w->sw, body[1], KINDS[kind].filter, KINDS[kind].filter_size) : result;
        uint8_t booked[BOOKED_BYTES];
        memcpy(booked, body, sizeof body);
        memcpy(booked + sizeof body, &begun, sizeof begun);
        result = result == TM_OK ? tm_keeps_append(w->sw, RECORD_OF_KEEP, booked, sizeof booked, &n) : result;
        if (result == TM_OK) {
            judge_made(w, kind, body[1], n);
            judge_took_over(w, kind, TAKES_ALL);
            CHECK(tm_keeps_await(w->sw, n) == TM_OK, "await");
            point_at_dead_letters(w);
            w->taken_over++;
            CHECK(tm_keeps_retire(w->sw, begun) == TM_OK, "retire");
        } else {
            uint32_t left = 1; /* if it stays, the next start ends it */
            tm_keep_forget(w->sw, body[1], UINT32_MAX, &left);
            CHECK(left > 0 || tm_keeps_retire(w->sw, begun) == TM_OK, "retire");
        }
    }
    tm_table_free(wanted);
}

static void make(keeps_world *w, uint32_t kind) {
    seen_keep *keep = &w->keeps[kind];
    if (keep->number != 0) {
        forget(w, kind);
        return;
    }
    if ((w->kinds >> kind & 1) == 0) {
        return;
    }
    if (choose(w, 3) == 0) {
        make_from_log(w, kind);
        return;
    }
    uint32_t body[2] = {kind, w->next_number++};
    uint64_t n;
    if (tm_keeps_append(w->sw, RECORD_OF_KEEP, (const uint8_t *)body, sizeof body, &n) != TM_OK) {
        return;
    }
    int result = open_keep(w, kind, body[1], 0);
    if (result == TM_OK) {
        judge_made(w, kind, body[1], n);
        CHECK(tm_keeps_await(w->sw, n) == TM_OK, "await");
        point_at_dead_letters(w);
        return;
    }
    check_result(w, result, "a keep");
    uint32_t left;
    tm_keep_forget(w->sw, body[1], UINT32_MAX, &left);
    CHECK(tm_keeps_retire(w->sw, n) == TM_OK, "retire");
}

static void attach(keeps_world *w, uint32_t kind, uint64_t credit) {
    seen_member *member = w->members;
    while (member < w->members + KEEPS_MEMBERS && member->id != 0) {
        member++;
    }
    if (w->keeps[kind].number == 0 || member == w->members + KEEPS_MEMBERS) {
        return;
    }
    uint32_t id = w->next_id++;
    uint32_t connection = connect(w, 1000 + id);
    if (connection == UINT32_MAX) {
        return;
    }
    bool is_latest = choose(w, 3) == 0;
    int result = is_open(w, connection)
                     ? tm_keep_attach(w->sw, w->keeps[kind].number, connection, id, credit, 0, is_latest)
                     : TM_NO_MEMORY;
    check_result(w, result, "attach");
    if (result == TM_OK) {
        *member = (seen_member){.id = id, .connection = connection, .keep = kind, .credit = credit};
        if (!w->is_damaged) { /* else the count itself may be lost */
            memcpy(member->lost, w->keeps[kind].lost, sizeof member->lost);
        }
    } else {
        disconnect(w, connection);
    }
}

/* ---- the disk and time ---- */

static void poll(keeps_world *w) {
    const tm_event *events;
    size_t count;
    CHECK(tm_switch_poll(w->sw, 0, &events, &count) == TM_OK, "poll");
}

static void commit(keeps_world *w) {
    uint32_t is_idle;
    if (tm_log_commit(w->log) == TM_LOG_FAILED) {
        crash(w, choose(w, CRASH_OF_PROCESS));
    }
    tm_log_tend(w->log, &is_idle);
    poll(w);
}

static void pass_time(keeps_world *w, uint32_t ms, int64_t wall_ms) {
    const tm_event *events;
    size_t count;
    tm_switch_advance(w->sw, ms);
    CHECK(tm_keeps_advance(w->sw, wall_ms) == TM_OK, "advance");
    CHECK(tm_switch_tick(w->sw, &events, &count) == TM_OK, "tick");
}

static void let_time_pass(keeps_world *w) {
    static const uint32_t steps[] = {0, 500, 9999, 20000, 31000};
    uint32_t ms = steps[choose(w, 5)];
    uint32_t jump = choose(w, 8);
    pass_time(w, ms, jump == 0 ? (int64_t)3600000 : jump == 1 ? -3600000 : (int64_t)ms);
}

static void trouble_disk(keeps_world *w) {
    uint32_t what = choose(w, 4);
    w->disk->is_full = what == 0 ? !w->disk->is_full : w->disk->is_full;
    w->disk->fails_in = what == 1 ? 20 : what == 2 ? 0 : w->disk->fails_in;
    w->disk->short_in = what == 3 ? 8 : 0;
}

/* Everything is committed and in a checkpoint; then segments lose bits, and say nothing. It is found by a start, by who
 * reads it, or by the scrubber. */
static void damage(keeps_world *w) {
    uint32_t is_idle = 0;
    uint32_t is_through = 0;
    while (tm_log_commit(w->log) == TM_OK) {
    }
    for (unsigned i = 0; i < 500 && !is_idle; i++) {
        tm_log_tend(w->log, &is_idle);
    }
    if (w->log->store->checkpoint_seq != w->log->store->seq) { /* a disk that is full or fails has none */
        return;
    }
    for (uint32_t flips = 1 + choose(w, 30); flips > 0; flips--) {
        w->damages += faulty_flip(w->disk, "segment");
    }
    w->is_damaged = w->may_return = true;
    while (choose(w, 2) == 0 && !is_through) {
        tm_log_scrub(w->log, SEGMENT_BYTES, &is_through);
    }
    if (choose(w, 2) == 0) {
        crash(w, CRASH_ALL_LOST);
    }
}

/* ---- a step ---- */

static void act(keeps_world *w) {
    uint32_t what = choose(w, 100);
    seen_member *member = &w->members[choose(w, KEEPS_MEMBERS)];
    if (what < 30) {
        publish(w, what < 4);
    } else if (what < 48) {
        commit(w);
    } else if (what < 58) {
        let_time_pass(w);
    } else if (what < 66) {
        attach(w, choose(w, KEEPS_KINDS), choose(w, 9));
    } else if (what < 70) {
        uint32_t kind = choose(w, KEEPS_KINDS);
        if (w->keeps[kind].number == 0 || what == 69) {
            make(w, kind);
        }
    } else if (what < 72) {
        crash(w, choose(w, CRASH_KINDS));
    } else if (what < 73) {
        if (w->is_damaging && choose(w, 2) == 0) {
            damage(w);
        } else {
            trouble_disk(w);
        }
    } else if (member->id != 0) {
        if (what < 90) {
            acknowledge(w, member);
        } else if (what < 96) {
            raise_credit(w, member);
        } else if (what < 98 || !w->is_hostile) {
            leave(w, member, what & 1);
        } else {
            send_strange(w, member);
        }
    }
}

/* Who was cut for want of memory comes again. */
static void mend_connections(keeps_world *w) {
    for (seen_member *m = w->members; m < w->members + KEEPS_MEMBERS; m++) {
        if (m->id != 0 && !is_open(w, m->connection)) {
            leave(w, m, false);
        }
    }
    if (!is_open(w, w->publisher)) {
        disconnect(w, w->publisher);
        w->publisher = connect(w, PUBLISHER);
    }
}

static void check(keeps_world *w) {
    const char *reason = "";
    CHECK(tm_keeps_validate(w->sw, &reason) == TM_OK, "%s", reason);
    check_records(w);
    CHECK(tm_switch_validate(w->sw, &reason) == TM_OK, "%s", reason);
    CHECK(tm_table_validate(w->table, &reason) == TM_OK, "%s", reason);
    judge_output(w);
}

void keeps_step(keeps_world *w) {
    bool is_starved = w->starved != STARVED_NOBODY && w->failing == 0 && choose(w, 3) == 0;
    if (is_starved) {
        starve(w, 1 + choose(w, 5));
    }
    act(w);
    if (is_starved) {
        starve(w, 0);
    }
    if (w->starved != STARVED_NOBODY) {
        judge_output(w);
        mend_connections(w);
    }
    check(w);
}

/* ---- the end ---- */

void keeps_settle(keeps_world *w) {
    w->starved = STARVED_NOBODY;
    w->is_hostile = false;
    w->choices = NULL;
    tm_keeps_fail_allocation(w->sw, 0);
    tm_switch_fail_allocation(w->sw, 0);
    tm_table_fail_allocation(w->table, 0);
    w->log->store->memory.fail_in = 0;
    w->disk->is_full = false;
    w->disk->fails_in = w->disk->short_in = 0;
    crash(w, CRASH_ALL_LOST);
    for (uint32_t kind = 0; kind < KEEPS_KINDS; kind++) {
        attach(w, kind, ENOUGH);
    }
    for (uint32_t round = 0; round < 400; round++) {
        for (seen_member *m = w->members; m < w->members + KEEPS_MEMBERS; m++) {
            if (m->id != 0) {
                send_ack(w, m, 0, UINT64_MAX, 0, 0);
            } else if (w->keeps[round % KEEPS_KINDS].number != 0 && !judge_has_member(w, round % KEEPS_KINDS)) {
                attach(w, round % KEEPS_KINDS, ENOUGH);
            }
        }
        commit(w);
        pass_time(w, 31000, 1);
        check(w);
        seen_member *oldest = &w->members[round % KEEPS_MEMBERS];
        if (oldest->id != 0 && judge_is_at_rest(w, oldest->keep)) {
            judge_end(w, oldest->keep);
            leave(w, oldest, true);
            if (judge_all_ended(w)) {
                return;
            }
        }
    }
    CHECK(judge_all_ended(w), "messages are stuck");
}
