/* departures_world.c - see departures_world.h. */
#include "departures_world.h"

#define SEGMENT_BYTES 16384U
#define RING_BYTES 8192U

static const uint8_t WANTED[] = {0x91, 0x93, 0xa1, 'k', 0x01, 0x01};

pair_world departures;
static frame out;
static wire attributes;

/* ---- both sides ---- */

static void begin_side(side *at, faulty_disk *disk, uint64_t number, uint64_t other) {
    tm_log_options log = {.bytes_max = 80 * SEGMENT_BYTES,
                          .segment_bytes = SEGMENT_BYTES,
                          .ring_bytes = RING_BYTES,
                          .hash_seed = 1,
                          .has_no_threads = 1};
    tm_switch_options options = {.number = number,
                                 .epoch = 1,
                                 .connections_max = 8,
                                 .subscribers_max = 8,
                                 .frame_bytes_max = 1U << 16,
                                 .greeting_bytes_max = 4096,
                                 .publishers_max = 8,
                                 .hop_limit = 8};
    tm_durables_options durables = {.ring_bytes = RING_BYTES, .has_no_thread = 1};
    tm_admission link = {.number = other,
                         .queue_bytes_max = 1 << 20,
                         .frame_bytes_max = 1 << 16,
                         .version = WIRE_VERSION_CUSTODY,
                         .policy = TM_SLOW_DROP_NEWEST,
                         .is_link = 1};
    uint32_t generation;
    *at = (side){.disk = disk, .local = new_table(0), .network = new_table(0)};
    CHECK(tm_log_open_on(&log, &disk->base, &at->log) == TM_OK, "log");
    CHECK(tm_switch_new(&options, at->local, &at->sw) == TM_OK, "switch");
    CHECK(tm_switch_join(at->sw, at->network, 8, TM_FORWARD_WANTED) == TM_OK, "join");
    CHECK(tm_switch_durables(at->sw, at->log, &durables) == TM_OK, "durables");
    CHECK(tm_switch_open(at->sw, -1, &at->link) == TM_OK && tm_switch_admit(at->sw, at->link, &link) == TM_OK, "link");
    CHECK(tm_switch_begin_routes(at->sw, 4, &generation) == TM_OK &&
              tm_switch_route(at->sw, generation, number, 0, &other, &other, 1) == TM_OK &&
              tm_switch_commit(at->sw, 0, 0) == TM_OK,
          "routes");
}

void departures_end_side(const side *at) {
    CHECK(tm_switch_durables(at->sw, NULL, NULL) == TM_OK, "end");
    tm_switch_free(at->sw);
    tm_table_free(at->local);
    tm_table_free(at->network);
    tm_log_close(at->log);
}

tm_custody_home departures_chain_to_home(void) {
    tm_custody_home home;
    CHECK(tm_custody_home_of(departures.entry.sw, HOME, &home) == TM_OK, "no chain");
    return home;
}

void departures_note_number(void) {
    uint64_t entered = departures.entry.sw->durables->homes.stats.entered;
    uint64_t last = departures_chain_to_home().last;
    bool is_new = entered != departures.entered && last > departures.last;
    departures.entered = entered;
    departures.last = last; /* an acknowledgement of what a crash took may raise it, too */
    if (is_new) {
        CHECK(departures.copy_count < COPIES, "more copies than there is room for");
        departures.copies[departures.copy_count++] =
            (copy){.number = last, .message = (uint32_t)departures.latest, .is_open = true};
    }
}

void departures_validate(void) {
    const char *reason = NULL;
    departures_note_number();
    departures_read_answers();
    CHECK(tm_durables_validate(departures.entry.sw, &reason) == TM_OK, "entry: %s", reason);
    CHECK(tm_durables_validate(departures.home.sw, &reason) == TM_OK, "home: %s", reason);
}

void departures_commit(const side *at) {
    const tm_event *events;
    size_t count;
    tm_log_commit(at->log);
    uint32_t is_idle = 0;
    for (unsigned i = 0; i < 9 && !is_idle; i++) {
        tm_log_maintain(at->log, &is_idle);
    }
    CHECK(tm_switch_poll(at->sw, 1000, &events, &count) == TM_OK, "poll");
    departures_hear(events, count);
    departures_validate();
}

/* ---- the home, and the Python of it ---- */

void departures_start_home(faulty_disk *disk) {
    tm_durable_policy policy = {.bytes_max = 1 << 20, .ack_wait_ms = 30000, .unacked_max = 9};
    uint32_t subscriber;
    begin_side(&departures.home, disk, HOME, ENTRY);
    CHECK(tm_durable_open(departures.home.sw, DURABLE, &policy, &subscriber) == TM_OK &&
              tm_durable_recover(departures.home.sw, DURABLE, 1) == TM_OK &&
              tm_durable_filter(departures.home.sw, DURABLE, WANTED, sizeof WANTED, NULL, 0) == TM_OK,
          "a durable subscription");
}

void departures_begin_chain(void) {
    tm_log_chain chain = {.router = ENTRY};
    int result = tm_custody_chain_of(departures.home.sw, ENTRY, &chain);
    CHECK(result == TM_OK || result == TM_ABSENT, "chain: %d", result);
    chain.log = departures.entry.sw->durables->homes.log;
    chain.life = tm_log_next(departures.entry.log) >> 40;
    result = tm_custody_set_chain(departures.home.sw, &chain);
    CHECK(result == TM_OK || result == TM_LOG_BUSY || result == TM_LOG_FULL, "set: %d", result);
}

void departures_hear(const tm_event *events, size_t count) {
    for (size_t i = 0; i < count; i++) {
        CHECK(events[i].type != TM_EVENT_FAULT, "fault: %s", events[i].text);
        tm_chain_report report;
        if (events[i].type == TM_EVENT_CHAINS) {
            CHECK(events[i].size == sizeof report, "%u bytes of reports of one chain", events[i].size);
            memcpy(&report, events[i].frame, sizeof report);
            departures.on_disk = report.on_disk;
            departures.is_early |= (report.why & TM_CHAIN_EARLY) != 0;
            if (report.why & TM_CHAIN_LATER) {
                departures_begin_chain();
            }
        }
    }
}

/* ---- the entry, and the Python of it ---- */

void departures_start_entry(faulty_disk *disk) {
    tm_admission client = {.number = PUBLISHER,
                           .queue_bytes_max = 1 << 20,
                           .credit_bytes = UINT64_C(1) << 50,
                           .credit_frames = 1U << 30,
                           .frame_bytes_max = 1U << 16,
                           .version = 2};
    begin_side(&departures.entry, disk, ENTRY, HOME);
    CHECK(tm_durables_advance(departures.entry.sw, departures.ahead_ms) == TM_OK, "advance");
    CHECK(tm_switch_open(departures.entry.sw, -1, &departures.publisher) == TM_OK &&
              tm_switch_admit(departures.entry.sw, departures.publisher, &client) == TM_OK,
          "publisher");
    uint64_t room = departures.refuses && below(&departures.dice, 2) ? departures.room / 2 : departures.room;
    CHECK(tm_custody_bound(departures.entry.sw, room, departures.age_ms, departures.refuses) == TM_OK &&
              tm_custody_open_home(departures.entry.sw, HOME) == TM_OK &&
              tm_custody_want(departures.entry.sw, HOME, 3, WANTED, sizeof WANTED) == TM_OK,
          "a home");
    CHECK(!departures.refuses || (tm_custody_open_home(departures.entry.sw, OTHER_HOME) == TM_OK &&
                                  tm_custody_want(departures.entry.sw, OTHER_HOME, 3, WANTED, sizeof WANTED) == TM_OK),
          "another home");
    departures.last = departures_chain_to_home().last;
    departures.entered = 0;
}

void departures_acknowledge_other(void) {
    tm_custody_home other;
    if (!departures.refuses || tm_custody_home_of(departures.entry.sw, OTHER_HOME, &other) != TM_OK) {
        return;
    }
    uint64_t committed = tm_log_committed(departures.entry.log);
    uint64_t have = other.last < committed ? other.last : committed;
    int result = have > other.have ? tm_custody_acknowledged(departures.entry.sw, OTHER_HOME, 1, have, 3000) : TM_OK;
    CHECK(result == TM_OK || result == TM_LOG_BUSY, "acknowledged by the other home: %d", result);
}

void departures_pass_time(int64_t ms) {
    departures.ahead_ms += ms;
    CHECK(tm_durables_advance(departures.entry.sw, ms) == TM_OK, "advance");
}

static bool is_wanted(uint64_t message) {
    return message % 4 != 0;
}

static void send(uint64_t message, uint8_t flags) {
    const tm_event *events;
    size_t count;
    departures_note_number();
    uint64_t last = departures.last;
    departures.latest = message;
    attributes.size = 0;
    put_map(&attributes, 1);
    put_string(&attributes, "k", 1);
    put_integer(&attributes, is_wanted(message));
    publish_frame(&out, PUBLISHER, message, true, &attributes, message % 7 == 0 ? 1500 : 20);
    out.bytes[WIRE_FLAGS] |= WIRE_FLAG_DURABLE | flags;
    CHECK(tm_switch_feed(departures.entry.sw, departures.publisher, out.bytes, out.size, &events, &count) == TM_OK,
          "publish");
    departures_hear(events, count);
    uint64_t now = departures_chain_to_home().last;
    departures_note_number();
    departures_read_answers();
    CHECK(is_wanted(message) || now == last, "an unwanted message is stored");
}

void departures_publish(void) {
    if (departures.counter == MESSAGES || departures.entry.sw->durables->stats.held > 0) {
        return;
    }
    departures.is_awaited[++departures.counter] = true;
    send(departures.counter, departures_waits_for_homes(departures.counter) ? WIRE_FLAG_EVERY_HOME : 0);
}

bool departures_waits_for_homes(uint64_t message) {
    return message % 3 != 0;
}

void departures_retry(void) {
    uint64_t message = 1 + below(&departures.dice, (uint32_t)(departures.counter + 1));
    if (message > departures.counter || !departures.is_awaited[message] ||
        departures.entry.sw->durables->stats.held > 0 || departures.copy_count + MESSAGES > COPIES) {
        return;
    }
    departures_retry_message(message);
}

void departures_retry_message(uint64_t message) {
    departures.is_again[message] = true;
    departures.retried++;
    send(message, (departures_waits_for_homes(message) ? WIRE_FLAG_EVERY_HOME : 0) | WIRE_FLAG_RETRY);
}

/* ---- what its publisher reads ---- */

/* A message is confirmed, unless nothing wants it: it is on disk at the entry in a record for the home; if its
 * publisher waits for homes, at the home, too, in a record that is not given up. */
static void judge_confirmed(uint64_t message) {
    if (!departures.is_awaited[message]) {
        return;
    }
    bool is_there = !is_wanted(message);
    bool is_held = departures_waits_for_homes(message);
    for (uint32_t i = 0; i < departures.copy_count && !is_there; i++) {
        const copy *at = &departures.copies[i];
        is_there = at->message == message && (at->is_due || at->number <= tm_log_committed(departures.entry.log)) &&
                   (!is_held || (at->number <= departures.on_disk && !at->is_told && !at->is_doubted));
    }
    CHECK(is_there, "message %lu is confirmed as %s", (unsigned long)message, is_held ? "held" : "stored");
    departures.is_held[message] = is_held && is_wanted(message);
    departures.is_awaited[message] = false;
    departures.held += departures.is_held[message];
}

static uint32_t read_count(const uint8_t **at) {
    uint32_t count = *(*at)++;
    if (count != 0xdc) {
        return count & 15U;
    }
    count = (uint32_t)(*at)[0] << 8 | (*at)[1];
    *at += 2;
    return count;
}

static void read_answer(const uint8_t *body) {
    uint32_t fields = read_count(&body);
    CHECK(*body++ == WIRE_ACK_OF_PUBLISH, "an answer to another kind of frame");
    read_unsigned(&body);
    for (uint32_t ranges = read_count(&body); ranges > 0; ranges--) {
        body++;
        uint64_t first = read_unsigned(&body);
        uint64_t last = read_unsigned(&body);
        for (uint64_t message = first; message <= last; message++) {
            judge_confirmed(message);
        }
    }
    if (fields == 4 && read_count(&body) > 0) {
        body++;
        uint64_t message = read_unsigned(&body);
        uint64_t code = read_unsigned(&body);
        departures.refused += code == WIRE_REFUSED_NOT_HELD;
        departures.full += departures.refuses && code == WIRE_REFUSED_LOG_FULL;
        departures.is_full[message] |= code == WIRE_REFUSED_LOG_FULL;
    }
}

void departures_read_answers(void) {
    const uint8_t *bytes;
    size_t size;
    CHECK(tm_switch_output(departures.entry.sw, departures.publisher, &bytes, &size) == TM_OK, "output");
    for (size_t at = 0; at < size; at += tm_load32(bytes + at)) {
        if (bytes[at + WIRE_KIND] == WIRE_ACK) {
            read_answer(bytes + at + WIRE_PREFIX_BYTES);
        }
    }
    CHECK(tm_switch_sent(departures.entry.sw, departures.publisher, size) == TM_OK, "sent");
}
