/* durables_lives.c - see durables_lives.h. */
#include "durables_lives.h"

#include <string.h>

#include "durables_judge.h"
#include "log/log.h"
#include "switch/state.h"

#define RING_BYTES 8192U
#define LOG_BYTES (20U * SEGMENT_BYTES)
#define CONNECTIONS 64U

static const uint8_t IS_A[] = {0x91, 0x93, 0xa1, 'k', 0x01, 0x00};
static const uint8_t IS_B[] = {0x91, 0x93, 0xa1, 'k', 0x01, 0x01};
static const uint8_t IS_C[] = {0x91, 0x93, 0xa1, 'k', 0x01, 0x02};
static const uint8_t IS_ANY[] = {0x91, 0x92, 0xa1, 'k', 0x00};
static const uint8_t IS_DEAD[] = {0x92, 0x93, 0xa1, 'k', 0x01, 0x00, 0x93, 0xa1, 'v', 0x01, 0x00};
static const uint8_t VALUE[] = {'v'};

#define WANTS(filter) (filter), sizeof(filter)
const kind_of_durable DURABLES_OF_KINDS[DURABLES_KINDS] = {
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
     {.bytes_max = 600, .count_max = 4, .ack_wait_ms = 30000, .unacked_max = 9, .overflow = TM_DURABLE_REFUSE},
     0},
    {WANTS(IS_B), {.bytes_max = 1 << 20, .for_ms = 60000, .ack_wait_ms = 30000, .unacked_max = 9}, 0},
    {WANTS(IS_A),
     {.bytes_max = 1 << 20, .latest_by = VALUE, .latest_by_size = 1, .ack_wait_ms = 30000, .unacked_max = 9},
     0},
};

bool durables_wants(uint32_t kind, const seen_message *message) {
    const uint8_t *filter = DURABLES_OF_KINDS[kind].filter;
    bool is_kind = filter == IS_ANY || message->kind == (filter == IS_B ? 1 : filter == IS_C ? 2 : 0);
    return is_kind && (filter != IS_DEAD || message->value == 0);
}

bool durables_lets_go(uint32_t kind) {
    return DURABLES_OF_KINDS[kind].policy.latest_by_size > 0;
}

bool durables_by_age(uint32_t kind) {
    return DURABLES_OF_KINDS[kind].policy.for_ms > 0;
}

bool durables_takes_dead_letters(uint32_t kind) {
    return kind + 1 == DURABLES_OF_KINDS[0].dead_letter;
}

/* ---- memory that fails ---- */

void durables_starve(durables_world *w, uint64_t n) {
    if (w->starved == STARVED_DURABLES && w->sw->durables != NULL) {
        tm_durables_fail_allocation(w->sw, n);
    } else if (w->starved == STARVED_SWITCH) {
        tm_switch_fail_allocation(w->sw, n);
    } else if (w->starved == STARVED_LOG) {
        w->log->store->memory.fail_in = n;
    } else if (w->starved == STARVED_TABLE) {
        tm_table_fail_allocation(w->table, n);
    }
}

void durables_check_result(const durables_world *w, int result, const char *what) {
    bool may_fail = w->starved != STARVED_NOBODY && result == TM_NO_MEMORY;
    CHECK(result == TM_OK || may_fail, "%s: %d", what, result);
}

/* ---- one life ---- */

uint32_t durables_connect(durables_world *w, uint64_t number) {
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
    durables_check_result(w, result, "open");
    if (result != TM_OK) {
        return UINT32_MAX;
    }
    result = tm_switch_admit(w->sw, connection, &admission);
    durables_check_result(w, result, "admit");
    if (result != TM_OK) {
        CHECK(tm_switch_close(w->sw, connection, true) == TM_OK, "close");
        return UINT32_MAX;
    }
    return connection;
}

/* Without memory a connection may end by itself. */
bool durables_is_open(const durables_world *w, uint32_t connection) {
    tm_connection_stats stats = {0};
    CHECK(tm_switch_connection(w->sw, connection, &stats) == TM_OK, "no figures of a connection");
    return stats.state == 2;
}

void durables_disconnect(durables_world *w, uint32_t connection) {
    const tm_event *events;
    size_t count;
    uint32_t left;
    CHECK(tm_switch_close(w->sw, connection, true) == TM_OK, "close");
    CHECK(tm_switch_tick(w->sw, &events, &count) == TM_OK, "tick");
    do {
        CHECK(tm_switch_forget(w->sw, connection, 9, &left) == TM_OK, "forget");
    } while (left > 0);
}

void durables_point_at_dead_letters(durables_world *w) {
    for (uint32_t kind = 0; kind < DURABLES_KINDS; kind++) {
        uint32_t to = DURABLES_OF_KINDS[kind].dead_letter;
        if (w->durables[kind].number != 0) {
            CHECK(tm_durable_dead_letter(w->sw, w->durables[kind].number, to > 0 ? w->durables[to - 1].number : 0) ==
                      TM_OK,
                  "dead letter");
        }
    }
}

/* Give a subscription to its owner, whose pools change with each of them; no bound is reached. */
static int own(durables_world *w, uint32_t kind, uint32_t number) {
    uint32_t owner = 1 + kind % 2;
    const uint32_t pools[] = {kind % 3, 3 + kind % 5};
    int result = tm_durable_own(w->sw, number, owner);
    result = result == TM_OK ? tm_durables_bound(w->sw, owner, UINT64_MAX, pools, kind % 4 > 0 ? 2 : 1) : result;
    return result == TM_OK ? tm_durables_bound_pool(w->sw, 3 + number % 6, UINT64_MAX) : result;
}

/* `since`: the first number of records that may belong to the subscription; 0: it is new. */
int durables_open(durables_world *w, uint32_t kind, uint32_t number, uint64_t since) {
    uint32_t subscriber;
    int result = tm_durable_open(w->sw, number, &DURABLES_OF_KINDS[kind].policy, &subscriber);
    result = result == TM_OK ? own(w, kind, number) : result;
    if (result == TM_OK && since > 0) {
        result = tm_durable_recover(w->sw, number, since);
    }
    return result == TM_OK ? tm_durable_filter(w->sw, number, DURABLES_OF_KINDS[kind].filter,
                                               DURABLES_OF_KINDS[kind].filter_size, NULL, 0)
                           : result;
}

static const uint8_t *body_of(const tm_log_record *record) {
    return (const uint8_t *)(record + 1) + (record->durables + 1U) / 2 * 8;
}

/* A subscription began to copy the log; until it has finished, it does not exist. */
static int end_begun(durables_world *w, const tm_log_record *begun, const uint8_t *records, size_t size) {
    uint32_t body[2];
    bool is_made = false;
    memcpy(body, body_of(begun), sizeof body);
    for (size_t at = 0; at < size; at += ((const tm_log_record *)(records + at))->size) {
        const tm_log_record *record = (const tm_log_record *)(records + at);
        is_made = is_made || (record->kind == RECORD_OF_DURABLE && memcmp(body_of(record), body, sizeof body) == 0);
    }
    uint32_t left = 0;
    uint32_t subscriber;
    int result = is_made ? TM_OK : tm_durable_open(w->sw, body[1], &DURABLES_OF_KINDS[body[0]].policy, &subscriber);
    result = result == TM_OK && !is_made ? tm_durable_forget(w->sw, body[1], UINT32_MAX, &left) : result;
    bool stays = result == TM_LOG_BUSY || result == TM_LOG_FULL || result == TM_LOG_FAILED;
    CHECK(result != TM_OK || tm_durables_retire(w->sw, begun->n) == TM_OK, "retire");
    return stays ? TM_OK : result;
}

/* Open the subscriptions in the catalog; those that were known and on disk must be in it. */
static int open_recovered(durables_world *w) {
    static uint8_t records[1 << 16];
    size_t size;
    int result = tm_log_read(w->log, TM_DURABLES_CATALOG, 0, 0, records, sizeof records, &size);
    CHECK(result != TM_TOO_MANY, "the catalog is too long");
    bool is_there[DURABLES_KINDS] = {false};
    for (size_t at = 0; result == TM_OK && at < size;) {
        const tm_log_record *record = (const tm_log_record *)(records + at);
        at += record->size;
        if (record->kind < RECORD_OF_DURABLE) {
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
        result = durables_open(w, body[0], body[1], begun > 0 ? begun : record->n);
    }
    for (uint32_t kind = 0; kind < DURABLES_KINDS && result == TM_OK; kind++) {
        if (!is_there[kind]) {
            judge_gone(w, kind);
        }
    }
    return result;
}

/* ---- records ---- */

static void begin_records(durables_world *w) {
    static const uint8_t prefix[] = "{\"t_us\":";
    tm_records_options options = {.prefix = prefix,
                                  .prefix_size = sizeof prefix - 1,
                                  .stored_prefix = prefix,
                                  .stored_prefix_size = sizeof prefix - 1,
                                  .share = UINT64_MAX,
                                  .ring_bytes = 2 * TM_FRAME_BYTES_MAX};
    CHECK(tm_records_new(&options, &w->records) == TM_OK, "records");
    CHECK(tm_switch_record(w->sw, w->records) == TM_OK, "recording");
    w->recorded = 0;
}

void durables_check_records(durables_world *w) {
    static char lines[1U << 16];
    size_t size;
    uint64_t count;
    do {
        CHECK(tm_records_take(w->records, tm_records_end(w->records), (uint8_t *)lines, sizeof lines - 1, &size,
                              &count) == TM_OK,
              "records cannot be read");
        lines[size] = '\0';
        for (const char *at = lines; (at = strstr(at, "\"what\":\"")) != NULL; at++) {
            w->recorded += strncmp(at, "\"what\":\"given", 13) == 0 || strncmp(at, "\"what\":\"replayed", 16) == 0;
        }
    } while (count > 0);
    CHECK(tm_records_lost(w->records) == 0, "records are lost");
    CHECK(w->recorded == w->sw->stats.deliveries, "%lu deliveries, %lu of them recorded",
          (unsigned long)w->sw->stats.deliveries, (unsigned long)w->recorded);
}

/* ---- lives ---- */

static int begin_life(durables_world *w) {
    tm_switch_options options = {.number = 99,
                                 .epoch = 1,
                                 .connections_max = CONNECTIONS,
                                 .subscribers_max = 2 * CONNECTIONS,
                                 .frame_bytes_max = 1U << 16,
                                 .greeting_bytes_max = 4096,
                                 .publishers_max = 4,
                                 .hop_limit = 8};
    tm_durables_options durables = {.ring_bytes = RING_BYTES, .has_no_thread = 1};
    w->table = new_table(0);
    CHECK(tm_switch_new(&options, w->table, &w->sw) == TM_OK, "new");
    begin_records(w);
    durables_starve(w, w->failing);
    int result = tm_switch_durables(w->sw, w->log, &durables);
    result = result == TM_OK ? open_recovered(w) : result;
    if (result == TM_OK) {
        w->bystander_sent = w->bystander_confirmed;
        w->bystander = w->is_slow ? durables_connect(w, BYSTANDER) : UINT32_MAX;
        w->publisher = durables_connect(w, PUBLISHER);
        result = w->publisher == UINT32_MAX ? TM_NO_MEMORY : TM_OK;
    }
    return result;
}

static void end_switch(durables_world *w) {
    if (w->sw != NULL) {
        w->holds += w->sw->durables != NULL ? w->sw->durables->stats.holds : 0;
        CHECK(tm_switch_durables(w->sw, NULL, NULL) == TM_OK, "end");
        tm_switch_free(w->sw);
        tm_table_free(w->table);
        tm_records_free(w->records);
    }
    w->sw = NULL;
}

static void start(durables_world *w, faulty_disk *disk) {
    tm_log_options options = {.bytes_max = LOG_BYTES,
                              .segment_bytes = SEGMENT_BYTES,
                              .ring_bytes = RING_BYTES,
                              .hash_seed = 1,
                              .has_no_threads = 1};
    w->disk = disk;
    CHECK(tm_log_open_on(&options, &disk->base, &w->log) == TM_OK, "the log does not open");
    int result = begin_life(w);
    if (result != TM_OK) { /* a router would exit and be restarted */
        durables_check_result(w, result, "a start");
        w->failing = 0;
        end_switch(w);
        CHECK(begin_life(w) == TM_OK, "a start fails although there is memory");
    }
    durables_point_at_dead_letters(w);
}

/* `w->starved` and `w->failing` apply to the next life, too. */
void durables_crash(durables_world *w, crash_kind kind) {
    faulty_disk *disk = faulty_crash(w->disk, kind, roll(&w->dice));
    judge_crash(w);
    durables_starve(w, 0);
    end_switch(w);
    tm_log_close(w->log);
    w->crashes++;
    start(w, disk);
    judge_dead_again(w);
}

void durables_begin(durables_world *w, uint64_t seed) {
    w->dice = (dice){seed};
    w->may_return = w->starved == STARVED_LOG;
    w->next_number = w->next_id = w->next_request = 1;
    start(w, faulty_new(seed));
}

void durables_end(durables_world *w) {
    durables_starve(w, 0);
    end_switch(w);
    tm_log_close(w->log);
    w->log = NULL;
}
