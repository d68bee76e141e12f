/* test_arrivals.c - a switch that is a home, through random histories: frames that are lost, doubled and out of order,
 * crashes, faulty disks, lives of entries, and allocations that fail.
 *
 *     run_test_arrivals [LIVES [SEED]]
 *
 * Law: what a report says is on disk is there after any crash (C4). In the end a durable subscription has each message
 * that it wants once (C11) and in the order of its chain (C3), and no other. The judge knows what the entries sent and
 * what was reported. When a link flips bits, it checks only that every structure is valid.
 */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/tested.h"
#include "durable/custody/ids.h"
#include "durable/state.h"
#include "faulty_disk.h"
#include "frames.h"
#include "log/log.h"
#include "tm_custody.h"

#define HOME UINT64_C(99)
#define ENTRIES 2U
#define ENTRY(i) (10 + (uint64_t)(i))
#define MESSAGES 50U /* of each chain: together fewer than the ids that are known */
#define STEPS 500U
#define LIVES_WITH_FAULT 20U
#define SEGMENT_BYTES 16384U
#define RING_BYTES 8192U
#define DURABLE 1U

static const uint8_t WANTED[] = {0x91, 0x93, 0xa1, 'k', 0x01, 0x01};

/* The chain of an entry: message `i` has number NUMBER(i) there. Every fifth one came to both entries. */
#define NUMBER(i) (3 * (uint64_t)(i))
typedef struct sent_chain {
    uint64_t log;
    uint32_t life;
    uint32_t next;    /* message that is sent next, from 1 */
    uint64_t on_disk; /* as reported */
} sent_chain;

typedef struct home_world {
    dice dice;
    faulty_disk *disk;
    tm_log *log;
    tm_table *local;
    tm_table *network;
    tm_switch *sw;
    uint32_t link;
    sent_chain chains[ENTRIES];
    bool starves;    /* allocations fail now and then */
    bool is_hostile; /* the link flips a bit of most frames */
    bool is_cut;     /* the link broke a rule */
    uint64_t crashes;
} home_world;

static home_world w;
static frame out;
static wire attributes;

/* ---- a life ---- */

static void open_durable(void) {
    tm_durable_policy policy = {.bytes_max = 1 << 20, .ack_wait_ms = 30000, .unacked_max = 9};
    uint32_t subscriber;
    CHECK(tm_durable_open(w.sw, DURABLE, &policy, &subscriber) == TM_OK, "open");
    CHECK(tm_durable_recover(w.sw, DURABLE, 1) == TM_OK, "recover");
    CHECK(tm_durable_filter(w.sw, DURABLE, WANTED, sizeof WANTED, NULL, 0) == TM_OK, "filter");
}

static void open_link(void) {
    tm_admission link = {.number = ENTRY(0),
                         .queue_bytes_max = 1 << 20,
                         .frame_bytes_max = 1 << 16,
                         .version = WIRE_VERSION_CUSTODY,
                         .policy = TM_SLOW_DROP_NEWEST,
                         .is_link = 1};
    CHECK(tm_switch_open(w.sw, -1, &w.link) == TM_OK && tm_switch_admit(w.sw, w.link, &link) == TM_OK, "link");
}

static void open_link_again(void) {
    const tm_event *events;
    size_t count;
    uint32_t left;
    CHECK(tm_switch_close(w.sw, w.link, true) == TM_OK && tm_switch_tick(w.sw, &events, &count) == TM_OK, "close");
    do {
        CHECK(tm_switch_forget(w.sw, w.link, 9, &left) == TM_OK, "forget");
    } while (left > 0);
    w.is_cut = false;
    open_link();
}

static void start(faulty_disk *disk) {
    tm_log_options log = {.bytes_max = 80 * SEGMENT_BYTES,
                          .segment_bytes = SEGMENT_BYTES,
                          .ring_bytes = RING_BYTES,
                          .hash_seed = 1,
                          .has_no_threads = 1};
    tm_switch_options options = {.number = HOME,
                                 .epoch = 1,
                                 .connections_max = 8,
                                 .subscribers_max = 8,
                                 .frame_bytes_max = 1U << 16,
                                 .greeting_bytes_max = 4096,
                                 .publishers_max = 8,
                                 .hop_limit = 8};
    tm_durables_options durables = {.ring_bytes = RING_BYTES, .has_no_thread = 1};
    w.disk = disk;
    w.local = new_table(0);
    w.network = new_table(0);
    CHECK(tm_log_open_on(&log, &disk->base, &w.log) == TM_OK, "log");
    CHECK(tm_switch_new(&options, w.local, &w.sw) == TM_OK, "switch");
    CHECK(tm_switch_join(w.sw, w.network, 8, TM_FORWARD_WANTED) == TM_OK, "join");
    CHECK(tm_switch_durables(w.sw, w.log, &durables) == TM_OK, "durables");
    open_durable();
    open_link();
}

static void end(void) {
    CHECK(tm_switch_durables(w.sw, NULL, NULL) == TM_OK, "end");
    tm_switch_free(w.sw);
    tm_table_free(w.local);
    tm_table_free(w.network);
}

static void validate(void) {
    const char *reason = NULL;
    CHECK(tm_durables_validate(w.sw, &reason) == TM_OK, "%s", reason);
}

/* ---- what is reported ---- */

static void begin_life(unsigned i);

static void hear(const tm_chain_report *report) {
    unsigned i = (unsigned)(report->entry - ENTRY(0));
    sent_chain *chain = &w.chains[i];
    CHECK(i < ENTRIES && report->why != 0 && report->on_disk <= report->have, "a report of %lx",
          (unsigned long)report->entry);
    if (w.is_hostile) {
        return;
    }
    if (report->log == chain->log) {
        chain->on_disk = report->on_disk > chain->on_disk ? report->on_disk : chain->on_disk;
    }
    if (report->why & TM_CHAIN_EARLY) {
        CHECK(report->early > report->have, "nothing is missing before %lu", (unsigned long)report->early);
        chain->next = (uint32_t)(report->have / NUMBER(1)) + 1;
    }
    if (report->why & TM_CHAIN_LATER) {
        begin_life(i);
    }
}

static void look(const tm_event *events, size_t count) {
    for (size_t i = 0; i < count; i++) {
        CHECK(w.is_hostile || events[i].type != TM_EVENT_FAULT, "fault: %s", events[i].text);
        w.is_cut |= events[i].type == TM_EVENT_FAULT;
        for (uint32_t at = 0; events[i].type == TM_EVENT_CHAINS && at < events[i].size; at += sizeof(tm_chain_report)) {
            tm_chain_report report;
            memcpy(&report, events[i].frame + at, sizeof report);
            hear(&report);
        }
    }
}

static void feed(void) {
    const tm_event *events;
    size_t count;
    if (w.starves && below(&w.dice, 3) == 0) {
        tm_durables_fail_allocation(w.sw, 1 + below(&w.dice, 3));
    }
    if (w.is_hostile && below(&w.dice, 4) > 0) {
        uint32_t bit = below(&w.dice, 8);
        out.bytes[4 + below(&w.dice, out.size - 4)] ^= (uint8_t)(1U << bit);
    }
    CHECK(tm_switch_feed(w.sw, w.link, out.bytes, out.size, &events, &count) == TM_OK, "feed");
    tm_durables_fail_allocation(w.sw, 0);
    look(events, count);
    validate();
    if (w.is_cut) {
        open_link_again();
    }
}

static void commit(void) {
    const tm_event *events;
    size_t count;
    tm_log_commit(w.log);
    uint32_t is_idle = 0;
    for (unsigned i = 0; i < 9 && !is_idle; i++) {
        tm_log_maintain(w.log, &is_idle);
    }
    CHECK(tm_switch_poll(w.sw, 1000, &events, &count) == TM_OK, "poll");
    look(events, count);
    validate();
}

/* ---- an entry ---- */

static uint64_t have_of(unsigned i) {
    tm_log_chain chain;
    int result = tm_custody_chain_of(w.sw, ENTRY(i), &chain);
    CHECK(result == TM_OK || result == TM_ABSENT, "chain: %d", result);
    return result == TM_OK && chain.log == w.chains[i].log ? chain.have : 0;
}

/* As the Python of a home: begin the life that an entry has now. */
static void begin_life(unsigned i) {
    const sent_chain *sent = &w.chains[i];
    tm_log_chain chain = {.router = ENTRY(i), .log = sent->log, .life = sent->life, .have = have_of(i)};
    int result = tm_custody_set_chain(w.sw, &chain);
    CHECK(result == TM_OK || result == TM_LOG_BUSY || result == TM_LOG_FULL, "set: %d", result);
}

static bool is_shared(unsigned message) {
    return message % 5 == 0;
}

static bool is_wanted(unsigned message) {
    return message % 4 != 0;
}

static uint64_t origin_of(unsigned i, unsigned message) {
    return 1000 + (is_shared(message) ? 0 : 1 + i);
}

static void put_place(unsigned i, unsigned message) {
    const sent_chain *chain = &w.chains[i];
    uint8_t *area = out.bytes + WIRE_HEADER_BYTES;
    memmove(area + WIRE_CUSTODY_BYTES, area, out.size - WIRE_HEADER_BYTES);
    out.size += WIRE_CUSTODY_BYTES;
    wire_store32(out.bytes, out.size);
    wire_store16(out.bytes + WIRE_EXTENSION_SIZE, WIRE_CUSTODY_BYTES);
    wire_store16(area, WIRE_CUSTODY);
    wire_store16(area + 2, WIRE_CUSTODY_BYTES - 4);
    wire_store64(out.bytes + WIRE_CUSTODY_HOME, HOME);
    wire_store64(out.bytes + WIRE_CUSTODY_HOME_LOG, w.sw->durables->arrivals.log + (below(&w.dice, 20) == 0));
    wire_store64(out.bytes + WIRE_CUSTODY_LOG, chain->log - (below(&w.dice, 30) == 0));
    wire_store32(out.bytes + WIRE_CUSTODY_LIFE, chain->life);
    wire_store32(out.bytes + WIRE_CUSTODY_BEFORE, chain->life - 1);
    wire_store64(out.bytes + WIRE_CUSTODY_NUMBER, NUMBER(message));
    wire_store64(out.bytes + WIRE_CUSTODY_PREVIOUS, NUMBER(message - 1));
}

static void send(unsigned i, unsigned message) {
    attributes.size = 0;
    put_map(&attributes, 1);
    put_string(&attributes, "k", 1);
    put_integer(&attributes, is_wanted(message));
    publish_frame(&out, origin_of(i, message), message, true, &attributes, message % 7 == 0 ? 2000 : 20);
    out.bytes[WIRE_KIND] = WIRE_DIRECTED;
    out.bytes[WIRE_FLAGS] |= WIRE_FLAG_DURABLE;
    out.bytes[WIRE_HOPS] = 3;
    wire_store64(out.bytes + WIRE_TRANSIT, ENTRY(i));
    wire_store64(out.bytes + WIRE_TRANSIT + 8, 1);
    wire_store64(out.bytes + WIRE_TRANSIT + 16, message);
    put_place(i, message);
    feed();
}

/* ---- steps ---- */

static void crash(void) {
    crash_kind kind = (crash_kind)below(&w.dice, CRASH_KINDS);
    faulty_disk *disk = faulty_crash(w.disk, kind, roll(&w.dice));
    end();
    tm_log_close(w.log);
    start(disk);
    w.crashes++;
    for (unsigned i = 0; i < ENTRIES; i++) {
        CHECK(w.is_hostile || have_of(i) >= w.chains[i].on_disk, "entry %u: %lu on disk, %lu were reported", i,
              (unsigned long)have_of(i), (unsigned long)w.chains[i].on_disk);
        w.chains[i].next = (uint32_t)(w.chains[i].on_disk / NUMBER(1)) + 1;
    }
}

/* Most frames are the next one; some are lost, early or repeated. */
static void send_some(unsigned i) {
    sent_chain *chain = &w.chains[i];
    uint32_t kind = below(&w.dice, 10);
    uint32_t message = kind == 0 ? 1 + below(&w.dice, MESSAGES) : chain->next;
    if (message <= MESSAGES && kind != 1) {
        send(i, message);
    }
    chain->next += kind != 0 && message <= MESSAGES;
}

static void step(void) {
    unsigned i = below(&w.dice, ENTRIES);
    uint32_t kind = below(&w.dice, 100);
    if (kind < 70) {
        send_some(i);
    } else if (kind < 88) {
        commit();
    } else if (kind < 92) {
        w.chains[i].next = (uint32_t)(w.chains[i].on_disk / NUMBER(1)) + 1; /* an acknowledgement is overdue */
    } else if (kind < 95) {
        w.chains[i].life++;
    } else if (kind < 97) {
        crash();
    } else {
        w.disk->is_full = kind == 97;
        w.disk->short_in = kind == 98 ? 3 : 0;
    }
}

/* Everything is sent again until it is on disk. */
static void settle(void) {
    w.disk->is_full = false;
    w.disk->short_in = 0;
    w.starves = false;
    for (unsigned round = 0; round < 40; round++) {
        for (unsigned i = 0; i < ENTRIES; i++) {
            tm_log_chain chain;
            if (tm_custody_chain_of(w.sw, ENTRY(i), &chain) == TM_ABSENT || chain.life != w.chains[i].life) {
                begin_life(i);
            }
            commit();
            for (unsigned message = (unsigned)(have_of(i) / NUMBER(1)) + 1; message <= MESSAGES; message++) {
                send(i, message);
            }
            commit();
        }
    }
    for (unsigned i = 0; i < ENTRIES; i++) {
        CHECK(w.chains[i].on_disk == NUMBER(MESSAGES), "entry %u: %lu on disk in the end", i,
              (unsigned long)w.chains[i].on_disk);
    }
}

/* ---- the end ---- */

static uint32_t seen[ENTRIES + 1][MESSAGES + 1];

static void see(const tm_log_record *record, uint64_t *last) {
    const uint8_t *body = (const uint8_t *)(record + 1) + (record->durables + 1U) / 2 * 8;
    unsigned i = (unsigned)(record->from_router - ENTRY(0));
    uint64_t message = tm_load64(body + WIRE_COUNTER);
    CHECK(i < ENTRIES && record->from_n == NUMBER(message) && is_wanted((unsigned)message), "a message of no chain");
    CHECK(record->from_n > last[i], "message %lu is out of order", (unsigned long)message);
    CHECK(body[WIRE_KIND] == WIRE_PUBLISH && tm_load16(body + WIRE_EXTENSION_SIZE) == 0, "it is stored as it came");
    last[i] = record->from_n;
    seen[tm_load64(body + WIRE_ORIGIN) - 1000][message]++;
}

static void see_all(void) {
    static uint8_t records[1 << 15];
    uint64_t last[ENTRIES] = {0};
    uint64_t after = 0;
    size_t size;
    memset(seen, 0, sizeof seen);
    do {
        CHECK(tm_log_read(w.log, DURABLE, 0, after, records, sizeof records, &size) == TM_OK, "read");
        for (size_t at = 0; at < size; at += ((const tm_log_record *)(records + at))->size) {
            after = ((const tm_log_record *)(records + at))->n;
            see((const tm_log_record *)(records + at), last);
        }
    } while (size > 0);
}

static void judge(void) {
    see_all();
    for (unsigned message = 1; message <= MESSAGES; message++) {
        for (unsigned i = 0; i < ENTRIES; i++) {
            uint32_t count = seen[origin_of(i, message) - 1000][message];
            CHECK(count == is_wanted(message), "message %u of entry %u is there %u times", message, i, count);
        }
    }
    tm_custody_stats stats;
    CHECK(tm_custody_figures(w.sw, &stats) == TM_OK && stats.chains == ENTRIES, "figures");
}

static void live(uint64_t seed, bool is_hostile) {
    w = (home_world){.dice = {seed}, .starves = seed % 2 == 0, .is_hostile = is_hostile};
    start(faulty_new(seed));
    for (unsigned i = 0; i < ENTRIES; i++) {
        w.chains[i] = (sent_chain){.log = 7, .life = 1, .next = 1};
        begin_life(i);
    }
    for (unsigned i = 0; i < STEPS; i++) {
        step();
    }
    if (!is_hostile) {
        settle();
        judge();
    }
    end();
    tm_log_close(w.log);
}

static void the_last_ids_are_known(void) {
    tm_memory memory = {0};
    tm_custody_ids ids = {.memory = &memory};
    for (uint64_t counter = 1; counter <= 3 * CUSTODY_IDS_MAX; counter++) {
        CHECK(!tm_custody_ids_has(&ids, 5, counter), "an id is known before it is noted");
        tm_custody_ids_note(&ids, 5, counter);
        CHECK(tm_custody_ids_has(&ids, 5, counter) && !tm_custody_ids_has(&ids, 6, counter), "an id is not known");
        CHECK(counter <= CUSTODY_IDS_MAX || (!tm_custody_ids_has(&ids, 5, counter - CUSTODY_IDS_MAX) &&
                                             tm_custody_ids_has(&ids, 5, counter - CUSTODY_IDS_MAX + 1)),
              "more or fewer ids are known than the last ones");
        CHECK(tm_custody_ids_are_sound(&ids), "unsound");
    }
    tm_custody_ids_free(&ids);
    CHECK(memory.bytes == 0, "memory is left");
}

/* true if one of some lives with a planted fault, in a process of their own, finds something wrong. */
static bool is_found(tm_fault fault) {
    pid_t child = fork();
    CHECK(child >= 0, "no process");
    if (child == 0) {
        CHECK(freopen("/dev/null", "w", stderr) != NULL, "cannot redirect the output");
        tm_broken = fault;
        for (uint64_t seed = 1; seed <= LIVES_WITH_FAULT; seed++) {
            live(seed, false);
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
    the_last_ids_are_known();
    for (uint64_t i = 0; i < lives; i++) {
        printf("seed %lu\n", (unsigned long)(seed + i));
        fflush(stdout);
        live(seed + i, false);
        crashes += w.crashes;
        live(seed + i, true);
    }
    CHECK(lives < 10 || crashes > 0, "no crash happened");
    printf("%lu lives, %lu crashes\n", (unsigned long)lives, (unsigned long)crashes);
    fflush(stdout);
    for (int fault = TM_BREAKS_OF_DURABLES + 1; fault < TM_BREAKS_OF_ARRIVALS && argc == 1; fault++) {
        CHECK(is_found((tm_fault)fault), "planted fault %d is not found", fault);
    }
    return 0;
}
