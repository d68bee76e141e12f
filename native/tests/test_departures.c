/* test_departures.c - an entry and a home, each a switch with a log, through random histories: frames and
 * acknowledgements that are lost, doubled and late, crashes and full disks at both, small windows and little room.
 *
 *     run_test_departures [LIVES [SEED]]
 *
 * Law: a message that was on the disk of the entry is in the end on that of the home, once, and in the order in which
 * it was published, or the home was told its number as one that was given up, and counts it. One that is confirmed as
 * held is on the disks of both, and was not given up. A publisher that was not answered, or refused, tries again. The
 * entry stores no more than its bound, and in the end nothing. The test does what Python
 * does in a router.
 */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/tested.h"
#include "durable/state.h"
#include "faulty_disk.h"
#include "frames.h"
#include "log/log.h"
#include "tm_custody.h"

#define ENTRY UINT64_C(10)
#define HOME UINT64_C(20)
#define PUBLISHER UINT64_C(1000)
#define MESSAGES 120U
#define COPIES (4U * MESSAGES)
#define STEPS 600U
#define LIVES_WITH_FAULT 20U
#define SEGMENT_BYTES 16384U
#define RING_BYTES 8192U
#define DURABLE 1U
#define ON_THE_WAY 64U
#define ROOM_SMALL 4096U
#define SUMMARIES 64U

static const uint8_t WANTED[] = {0x91, 0x93, 0xa1, 'k', 0x01, 0x01};

typedef struct side {
    faulty_disk *disk;
    tm_log *log;
    tm_table *local;
    tm_table *network;
    tm_switch *sw;
    uint32_t link;
} side;

/* A record of a message at the entry; one that is published again may have several. */
typedef struct copy {
    uint64_t number;
    uint32_t message;
    bool is_open;    /* it was appended in this run */
    bool is_due;     /* it was on disk there */
    bool is_told;    /* the home was told that it is given up */
    bool is_doubted; /* the home was told a doubt up to it, or past it */
} copy;

typedef struct pair_world {
    dice dice;
    side entry;
    side home;
    uint32_t publisher;
    uint64_t counter;
    uint64_t latest; /* message that was published last */
    copy copies[COPIES];
    uint32_t copy_count;
    bool is_held[MESSAGES + 1];    /* it is confirmed as held */
    bool is_awaited[MESSAGES + 1]; /* its publisher waits for that, or may try again */
    bool is_again[MESSAGES + 1];   /* it was published again */
    uint64_t held, refused, retried;
    uint64_t room;
    uint64_t entered; /* messages that the entry has stored in this run */
    frame way[ON_THE_WAY];
    uint32_t on_the_way;
    uint64_t on_disk; /* as the home reported last */
    bool is_early;
    uint64_t crashes, resent, given_up, doubts;
} pair_world;

static pair_world w;
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

static void end_side(const side *at) {
    CHECK(tm_switch_durables(at->sw, NULL, NULL) == TM_OK, "end");
    tm_switch_free(at->sw);
    tm_table_free(at->local);
    tm_table_free(at->network);
    tm_log_close(at->log);
}

static void hear(const tm_event *events, size_t count);

static tm_custody_home chain_to_home(void) {
    tm_custody_home home;
    CHECK(tm_custody_home_of(w.entry.sw, HOME, &home) == TM_OK, "no chain");
    return home;
}

/* Note the number of the last message if the entry has stored it now; it may have waited for the disk. */
static void note_number(void) {
    uint64_t entered = w.entry.sw->durables->homes.stats.entered;
    if (entered != w.entered) {
        w.entered = entered;
        CHECK(w.copy_count < COPIES, "more copies than there is room for");
        w.copies[w.copy_count++] =
            (copy){.number = chain_to_home().last, .message = (uint32_t)w.latest, .is_open = true};
    }
}

static void read_answers(void);

static void validate(void) {
    const char *reason = NULL;
    note_number();
    read_answers();
    CHECK(tm_durables_validate(w.entry.sw, &reason) == TM_OK, "entry: %s", reason);
    CHECK(tm_durables_validate(w.home.sw, &reason) == TM_OK, "home: %s", reason);
}

static void commit(const side *at) {
    const tm_event *events;
    size_t count;
    tm_log_commit(at->log);
    uint32_t is_idle = 0;
    for (unsigned i = 0; i < 9 && !is_idle; i++) {
        tm_log_maintain(at->log, &is_idle);
    }
    CHECK(tm_switch_poll(at->sw, 1000, &events, &count) == TM_OK, "poll");
    hear(events, count);
    validate();
}

/* ---- the home, and the Python of it ---- */

static void start_home(faulty_disk *disk) {
    tm_durable_policy policy = {.bytes_max = 1 << 20, .ack_wait_ms = 30000, .unacked_max = 9};
    uint32_t subscriber;
    begin_side(&w.home, disk, HOME, ENTRY);
    CHECK(tm_durable_open(w.home.sw, DURABLE, &policy, &subscriber) == TM_OK &&
              tm_durable_recover(w.home.sw, DURABLE, 1) == TM_OK &&
              tm_durable_filter(w.home.sw, DURABLE, WANTED, sizeof WANTED) == TM_OK,
          "a durable subscription");
}

/* Begin the life that the entry has now, behind what has been taken. */
static void begin_chain(void) {
    tm_log_chain chain = {.router = ENTRY};
    int result = tm_custody_chain_of(w.home.sw, ENTRY, &chain);
    CHECK(result == TM_OK || result == TM_ABSENT, "chain: %d", result);
    chain.log = w.entry.sw->durables->homes.log;
    chain.life = tm_log_next(w.entry.log) >> 40;
    result = tm_custody_set_chain(w.home.sw, &chain);
    CHECK(result == TM_OK || result == TM_LOG_BUSY || result == TM_LOG_FULL, "set: %d", result);
}

static void hear(const tm_event *events, size_t count) {
    for (size_t i = 0; i < count; i++) {
        CHECK(events[i].type != TM_EVENT_FAULT, "fault: %s", events[i].text);
        tm_chain_report report;
        if (events[i].type == TM_EVENT_CHAINS) {
            CHECK(events[i].size == sizeof report, "%u bytes of reports of one chain", events[i].size);
            memcpy(&report, events[i].frame, sizeof report);
            w.on_disk = report.on_disk;
            w.is_early |= (report.why & TM_CHAIN_EARLY) != 0;
            if (report.why & TM_CHAIN_LATER) {
                begin_chain();
            }
        }
    }
}

/* ---- the entry, and the Python of it ---- */

static void start_entry(faulty_disk *disk) {
    tm_admission client = {.number = PUBLISHER,
                           .queue_bytes_max = 1 << 20,
                           .credit_bytes = UINT64_C(1) << 50,
                           .credit_frames = 1U << 30,
                           .frame_bytes_max = 1U << 16,
                           .version = 2};
    begin_side(&w.entry, disk, ENTRY, HOME);
    CHECK(tm_switch_open(w.entry.sw, -1, &w.publisher) == TM_OK &&
              tm_switch_admit(w.entry.sw, w.publisher, &client) == TM_OK,
          "publisher");
    CHECK(tm_custody_bound(w.entry.sw, w.room) == TM_OK && tm_custody_open_home(w.entry.sw, HOME) == TM_OK &&
              tm_custody_want(w.entry.sw, HOME, 3, WANTED, sizeof WANTED) == TM_OK,
          "a home");
    w.entered = 0;
}

static bool is_wanted(uint64_t message) {
    return message % 4 != 0;
}

static void send(uint64_t message, uint8_t flags) {
    const tm_event *events;
    size_t count;
    uint64_t last = chain_to_home().last;
    w.latest = message;
    attributes.size = 0;
    put_map(&attributes, 1);
    put_string(&attributes, "k", 1);
    put_integer(&attributes, is_wanted(message));
    publish_frame(&out, PUBLISHER, message, true, &attributes, message % 7 == 0 ? 1500 : 20);
    out.bytes[WIRE_FLAGS] |= WIRE_FLAG_DURABLE | flags;
    CHECK(tm_switch_feed(w.entry.sw, w.publisher, out.bytes, out.size, &events, &count) == TM_OK, "publish");
    hear(events, count);
    uint64_t now = chain_to_home().last;
    note_number();
    read_answers();
    CHECK(is_wanted(message) || now == last, "an unwanted message is stored");
}

/* Publish a message, unless the publisher waits for the disk. */
static void publish(void) {
    if (w.counter == MESSAGES || w.entry.sw->durables->stats.held > 0) {
        return;
    }
    bool is_awaited = ++w.counter % 3 != 0;
    w.is_awaited[w.counter] = is_awaited;
    send(w.counter, is_awaited ? WIRE_FLAG_EVERY_HOME : 0);
}

/* Publish a message again whose publisher is not answered, or is refused. */
static void retry(void) {
    uint64_t message = 1 + below(&w.dice, (uint32_t)(w.counter + 1));
    if (message > w.counter || !w.is_awaited[message] || w.entry.sw->durables->stats.held > 0 ||
        w.copy_count + MESSAGES > COPIES) {
        return;
    }
    w.is_again[message] = true;
    w.retried++;
    send(message, WIRE_FLAG_EVERY_HOME | WIRE_FLAG_RETRY);
}

/* ---- what its publisher reads ---- */

/* A message is confirmed: it is on disk at both, in a record that is not given up, or as one that nothing wants. */
static void judge_held(uint64_t message) {
    if (!w.is_awaited[message]) {
        return;
    }
    bool is_there = !is_wanted(message);
    for (uint32_t i = 0; i < w.copy_count && !is_there; i++) {
        const copy *at = &w.copies[i];
        is_there = at->message == message && at->number <= w.on_disk && !at->is_told && !at->is_doubted &&
                   (at->is_due || at->number <= tm_log_committed(w.entry.log));
    }
    CHECK(is_there, "message %lu is confirmed as held", (unsigned long)message);
    w.is_held[message] = is_wanted(message);
    w.is_awaited[message] = false;
    w.held += is_wanted(message);
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
            judge_held(message);
        }
    }
    if (fields == 4 && read_count(&body) > 0) {
        body++;
        read_unsigned(&body);
        w.refused += read_unsigned(&body) == WIRE_REFUSED_NOT_HELD;
    }
}

static void read_answers(void) {
    const uint8_t *bytes;
    size_t size;
    CHECK(tm_switch_output(w.entry.sw, w.publisher, &bytes, &size) == TM_OK, "output");
    for (size_t at = 0; at < size; at += tm_load32(bytes + at)) {
        if (bytes[at + WIRE_KIND] == WIRE_ACK) {
            read_answer(bytes + at + WIRE_PREFIX_BYTES);
        }
    }
    CHECK(tm_switch_sent(w.entry.sw, w.publisher, size) == TM_OK, "sent");
}

/* ---- giving up ---- */

/* The home takes numbers that are given up behind what it has, and counts those that it does not have. */
static void take_gap(uint64_t previous, const uint64_t *numbers, uint32_t count) {
    tm_log_chain chain;
    if (tm_custody_chain_of(w.home.sw, ENTRY, &chain) != TM_OK || chain.have < previous ||
        chain.log != w.entry.sw->durables->homes.log || chain.have >= numbers[count - 1]) {
        return;
    }
    uint64_t before = chain.have;
    for (uint32_t i = 0; i < count; i++) {
        chain.lost += numbers[i] > before;
    }
    chain.have = numbers[count - 1];
    int result = tm_custody_set_chain(w.home.sw, &chain);
    CHECK(result == TM_OK || result == TM_LOG_BUSY || result == TM_LOG_FULL, "set: %d", result);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t at = 0; at < w.copy_count; at++) {
            w.copies[at].is_told |= w.copies[at].number == numbers[i] && numbers[i] > before;
        }
    }
}

/* The home takes a doubt behind what it has. */
static void take_doubt(uint64_t previous, uint64_t last) {
    tm_log_chain chain;
    if (tm_custody_chain_of(w.home.sw, ENTRY, &chain) != TM_OK || chain.have < previous ||
        chain.log != w.entry.sw->durables->homes.log || chain.have >= last) {
        return;
    }
    for (uint32_t at = 0; at < w.copy_count; at++) {
        if (w.copies[at].number > chain.have && w.copies[at].number <= last) {
            w.copies[at].is_doubted = true;
            w.copies[at].is_told = false;
        }
    }
    chain.doubts++;
    chain.have = last;
    int result = tm_custody_set_chain(w.home.sw, &chain);
    CHECK(result == TM_OK || result == TM_LOG_BUSY || result == TM_LOG_FULL, "set: %d", result);
    w.doubts++;
}

/* Read the numbers in a record that gives up; return how many there are. */
static uint32_t read_numbers(const tm_log_record *record, uint64_t *numbers) {
    const uint8_t *body = (const uint8_t *)(record + 1) + sizeof(tm_log_home);
    const tm_log_given_up *head = (const tm_log_given_up *)(const void *)body;
    const uint8_t *at = body + sizeof *head + head->ranges * sizeof(tm_log_range);
    uint64_t n = 0;
    CHECK(record->kind == TM_LOG_GIVEN_UP && head->numbers <= COPIES, "a record of kind %u", record->kind);
    for (uint32_t i = 0; i < head->numbers || i == 0; i++) {
        uint64_t step = 0;
        uint32_t shift = 0;
        for (bool has_more = true; has_more; shift += 7) {
            has_more = *at >= 128;
            step |= (uint64_t)(*at++ & 127) << shift;
        }
        numbers[i] = n += step;
    }
    CHECK(at == body + record->body_size, "bytes behind the numbers");
    return head->numbers;
}

/* Send the numbers that were given up first behind what was sent, once they are on disk; the frame may be lost. */
static void send_gap(void) {
    static uint8_t record[1 << 14];
    uint64_t numbers[COPIES];
    size_t size = 0;
    tm_custody_home home = chain_to_home();
    int result = tm_log_read(w.entry.log, HOME, 1, home.gap - 1, record, sizeof record, &size);
    CHECK(result == TM_OK || result == TM_TOO_MANY, "read: %d", result);
    if (size == 0 || ((const tm_log_record *)(void *)record)->n != home.gap) {
        return;
    }
    uint32_t count = read_numbers((const tm_log_record *)(void *)record, numbers);
    uint32_t first = 0;
    while (first < count && numbers[first] <= home.sent) {
        first++;
    }
    bool is_lost = below(&w.dice, 4) == 0;
    if (!is_lost && count > 0) {
        take_gap(home.sent, numbers + first, count - first);
    } else if (!is_lost) {
        take_doubt(home.sent, numbers[0]);
    }
    CHECK(numbers[count > 0 ? count - 1 : 0] == home.gap_last, "other numbers than the entry knows");
    CHECK(tm_custody_sent_gap(w.entry.sw, HOME, home.gap_last) == TM_OK, "a gap that was sent");
}

/* Give up what is past the bound; then the rest is within it. */
static void give_up(void) {
    tm_log_summary open[SUMMARIES];
    size_t count = 0;
    int result = TM_OK;
    while (result == TM_OK) {
        tm_custody_home home = chain_to_home();
        if (home.doubt > tm_log_committed(w.entry.log)) {
            return;
        }
        uint64_t after = home.given_up > home.have ? home.given_up : home.have;
        CHECK(tm_log_summaries(w.entry.log, HOME, 1, after, open, SUMMARIES, &count) == TM_OK, "summaries");
        result = tm_custody_give_up(w.entry.sw, HOME, open, count);
        w.given_up += result == TM_OK;
    }
    CHECK(result == TM_ABSENT || result == TM_LOG_BUSY || result == TM_LOG_FULL, "give up: %d", result);
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        bytes += open[i].is_enough ? open[i].body_size : 0;
    }
    CHECK(result != TM_ABSENT || bytes <= w.room, "%lu bytes wait for the home", (unsigned long)bytes);
    validate();
}

/* Send what the home is behind by, from the log: from a place that may be old, as answers come late. */
static void catch_up(void) {
    static uint8_t records[1 << 14];
    size_t size = 0;
    size_t used = 0;
    if (chain_to_home().gap != 0) {
        send_gap();
    }
    uint64_t after = chain_to_home().sent;
    uint64_t mark = tm_custody_mark(w.entry.sw);
    if (below(&w.dice, 4) == 0) {
        commit(&w.entry);
    }
    size_t room = below(&w.dice, 3) == 0 ? 1 << 11 : sizeof records;
    int result = tm_log_read(w.entry.log, HOME, 1, after, records, room, &size);
    CHECK(result == TM_OK || result == TM_TOO_MANY, "read: %d", result);
    size = result == TM_OK ? size : 0;
    CHECK(tm_custody_send(w.entry.sw, HOME, after, records, size, &used) == TM_OK && used <= size, "send");
    if (used == size) {
        result = tm_custody_send_tail(w.entry.sw, HOME, mark);
        CHECK(result == TM_OK || result == TM_LOG_BUSY, "tail: %d", result);
    }
    validate();
}

/* The home acknowledges what it has reported, or asks; the frame may be lost. */
static void acknowledge(void) {
    uint64_t window = below(&w.dice, 3) == 0 ? 700 : 3000;
    if (below(&w.dice, 4) == 0) {
        return;
    }
    uint64_t have = w.on_disk;
    int result = tm_custody_acknowledged(w.entry.sw, HOME, w.home.sw->durables->arrivals.log, have, window);
    CHECK(result == TM_OK || result == TM_LOG_BUSY || (result == TM_MISUSED && have < chain_to_home().have),
          "acknowledged: %d", result);
    read_answers();
    if (w.is_early || below(&w.dice, 3) == 0) { /* it asks, or an acknowledgement is overdue */
        CHECK(tm_custody_go_back(w.entry.sw, HOME, chain_to_home().have) == TM_OK, "back");
        w.is_early = false;
    }
}

/* ---- the way between them ---- */

static void fetch(void) {
    const uint8_t *bytes;
    size_t size;
    CHECK(tm_switch_output(w.entry.sw, w.entry.link, &bytes, &size) == TM_OK, "output");
    for (size_t at = 0; at < size; at += tm_load32(bytes + at)) {
        if (bytes[at + WIRE_KIND] == WIRE_DIRECTED && w.on_the_way < ON_THE_WAY) {
            frame *next = &w.way[w.on_the_way++];
            next->size = tm_load32(bytes + at);
            memcpy(next->bytes, bytes + at, next->size);
        }
    }
    CHECK(tm_switch_sent(w.entry.sw, w.entry.link, size) == TM_OK, "sent");
}

static void arrive(const frame *one) {
    const tm_event *events;
    size_t count;
    CHECK(tm_switch_feed(w.home.sw, w.home.link, one->bytes, one->size, &events, &count) == TM_OK, "feed");
    hear(events, count);
}

/* Bring all frames; some are lost, or come twice, if `is_lossy`. */
static void carry(bool is_lossy) {
    fetch();
    for (uint32_t i = 0; i < w.on_the_way; i++) {
        uint32_t fate = is_lossy ? below(&w.dice, 12) : 2;
        for (uint32_t times = fate == 0 ? 0 : fate == 1 ? 2 : 1; times > 0; times--) {
            arrive(&w.way[i]);
        }
    }
    w.on_the_way = 0;
    validate();
}

/* ---- crashes ---- */

static void note_due(void) {
    uint64_t committed = tm_log_committed(w.entry.log);
    for (uint32_t i = 0; i < w.copy_count; i++) {
        w.copies[i].is_due |= w.copies[i].is_open && w.copies[i].number <= committed;
        w.copies[i].is_open = false;
    }
}

static faulty_disk *crashed(const side *at) {
    faulty_disk *disk = faulty_crash(at->disk, (crash_kind)below(&w.dice, CRASH_KINDS), roll(&w.dice));
    end_side(at);
    w.crashes++;
    return disk;
}

static void crash(bool is_entry) {
    if (is_entry) {
        note_number();
        read_answers();
        note_due();
        w.resent += w.entry.sw->durables->homes.stats.resent;
        start_entry(crashed(&w.entry));
    } else {
        uint64_t reported = w.on_disk;
        start_home(crashed(&w.home));
        tm_log_chain chain;
        bool is_there = tm_custody_chain_of(w.home.sw, ENTRY, &chain) == TM_OK;
        CHECK(is_there ? chain.have >= reported : reported == 0, "%lu were reported to be on disk",
              (unsigned long)reported);
        if (!is_there) {
            begin_chain(); /* the entry says again that it holds the statement */
        }
    }
}

/* ---- steps ---- */

static void step(void) {
    uint32_t kind = below(&w.dice, 100);
    if (kind < 34) {
        publish();
    } else if (kind < 40) {
        retry();
    } else if (kind < 60) {
        carry(true);
    } else if (kind < 72) {
        commit(below(&w.dice, 2) ? &w.entry : &w.home);
    } else if (kind < 82) {
        acknowledge();
    } else if (kind < 92) {
        give_up();
        catch_up();
    } else if (kind < 95) {
        crash(kind == 92);
    } else {
        faulty_disk *disk = below(&w.dice, 2) ? w.entry.disk : w.home.disk;
        disk->is_full = kind == 95;
        disk->short_in = kind == 96 ? 3 : 0;
    }
}

static void settle(void) {
    w.entry.disk->is_full = w.home.disk->is_full = false;
    w.entry.disk->short_in = w.home.disk->short_in = 0;
    for (unsigned round = 0; round < 400 && chain_to_home().have < chain_to_home().last; round++) {
        commit(&w.entry);
        give_up();
        catch_up();
        carry(false);
        commit(&w.home);
        acknowledge();
    }
    commit(&w.entry);
    tm_custody_home home = chain_to_home();
    CHECK(home.have == home.last, "the home has %lu of %lu", (unsigned long)home.have, (unsigned long)home.last);
    note_due();
}

static void judge(void) {
    static uint8_t records[1 << 15];
    bool is_there[MESSAGES + 1] = {false};
    uint64_t after = 0;
    uint64_t before = 0;
    size_t size;
    do {
        CHECK(tm_log_read(w.home.log, DURABLE, 0, after, records, sizeof records, &size) == TM_OK, "read");
        for (size_t at = 0; at < size; at += ((const tm_log_record *)(records + at))->size) {
            const tm_log_record *record = (const tm_log_record *)(records + at);
            const uint8_t *body = (const uint8_t *)(record + 1) + (record->durables + 1U) / 2 * 8;
            uint64_t counter = tm_load64(body + WIRE_COUNTER);
            CHECK(!is_there[counter], "message %lu is there twice", (unsigned long)counter);
            CHECK(counter > before || w.is_again[counter], "message %lu is out of order", (unsigned long)counter);
            before = w.is_again[counter] ? before : counter;
            is_there[counter] = true;
            after = record->n;
        }
    } while (size > 0);
    uint64_t missing = 0;
    for (uint32_t i = 0; i < w.copy_count; i++) {
        const copy *at = &w.copies[i];
        CHECK(is_there[at->message] || !at->is_due || at->is_told || at->is_doubted,
              "message %u was on disk at the entry, and is not at the home", at->message);
        missing += at->is_told;
    }
    for (uint32_t message = 1; message <= MESSAGES; message++) {
        CHECK(is_there[message] || !w.is_held[message], "message %u was held, and is not at the home", message);
    }
    tm_log_chain chain;
    CHECK(tm_custody_chain_of(w.home.sw, ENTRY, &chain) == TM_OK && chain.lost == missing,
          "%lu messages are missing, and the home counts %lu", (unsigned long)missing, (unsigned long)chain.lost);
    CHECK(tm_log_read(w.entry.log, HOME, 1, chain_to_home().have, records, sizeof records, &size) == TM_OK, "read");
    for (size_t at = 0; at < size; at += ((const tm_log_record *)(void *)(records + at))->size) {
        CHECK(((const tm_log_record *)(void *)(records + at))->kind == TM_LOG_GIVEN_UP,
              "the entry stores what the home has acknowledged");
    }
    CHECK(chain_to_home().bytes == 0, "the entry counts what the home has acknowledged");
}

static void live(uint64_t seed) {
    w = (pair_world){.dice = {seed}};
    w.room = seed % 2 ? ROOM_SMALL : 1 << 20;
    start_entry(faulty_new(seed));
    start_home(faulty_new(seed + 1));
    begin_chain();
    for (unsigned i = 0; i < STEPS; i++) {
        step();
    }
    settle();
    judge();
    end_side(&w.entry);
    end_side(&w.home);
}

/* true if one of some lives with a planted fault, in a process of their own, finds something wrong. */
static bool is_found(tm_fault fault) {
    pid_t child = fork();
    CHECK(child >= 0, "no process");
    if (child == 0) {
        CHECK(freopen("/dev/null", "w", stderr) != NULL, "cannot redirect the output");
        tm_broken = fault;
        for (uint64_t seed = 1; seed <= LIVES_WITH_FAULT; seed++) {
            live(seed);
        }
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child, "no process");
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

int main(int argc, char **argv) {
    uint64_t lives = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    uint64_t crashes = 0;
    uint64_t resent = 0;
    uint64_t given_up = 0;
    uint64_t doubts = 0;
    uint64_t held = 0;
    uint64_t refused = 0;
    uint64_t retried = 0;
    live(5048); /* a home had a message that its entry had sent and lost */
    for (uint64_t i = 0; i < lives; i++) {
        printf("seed %lu\n", (unsigned long)(seed + i));
        fflush(stdout);
        live(seed + i);
        crashes += w.crashes;
        resent += w.resent;
        given_up += w.given_up;
        doubts += w.doubts;
        held += w.held;
        refused += w.refused;
        retried += w.retried;
    }
    CHECK(lives < 10 || (crashes > 0 && resent > 0 && given_up > 0 && doubts > 0),
          "no crash happened, nothing was sent from a log, or nothing was given up");
    CHECK(lives < 10 || (held > 0 && refused > 0 && retried > 0), "nothing was held, refused or published again");
    printf("%lu lives, %lu crashes, %lu copies from the log, %lu times given up, %lu doubts\n", (unsigned long)lives,
           (unsigned long)crashes, (unsigned long)resent, (unsigned long)given_up, (unsigned long)doubts);
    printf("%lu held, %lu refused, %lu published again\n", (unsigned long)held, (unsigned long)refused,
           (unsigned long)retried);
    fflush(stdout);
    for (int fault = TM_BREAKS_OF_ARRIVALS + 1; fault < TM_BREAK_END && argc == 1; fault++) {
        CHECK(is_found((tm_fault)fault), "planted fault %d is not found", fault);
    }
    return 0;
}
