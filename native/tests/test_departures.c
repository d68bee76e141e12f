/* test_departures.c - an entry and a home, each a switch with a log, through random histories: frames and
 * acknowledgements that are lost, doubled and late, crashes and full disks at both, small windows and little room.
 *
 *     run_test_departures [LIVES [SEED]]
 *
 * Law: a message that was on the disk of the entry is in the end on that of the home, once, and in the order in which
 * it was published, or the home was told its number as one that was given up, and counts it. One that is confirmed as
 * held is on the disks of both, and was not given up. A publisher that was not answered, or refused, tries again. The
 * entry stores at most its bound, none for longer than it may wait, and in the end nothing. In some lives it refuses
 * what has no room, and gives up nothing for that; what was refused, and is published again, is there once. The test
 * gives up, sends from the log and acknowledges as Python does.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "base/tested.h"
#include "departures_world.h"
#include "durable/core/append.h"

#define STEPS 600U
#define LIVES_WITH_FAULT 20U
#define ROOM_SMALL 4096U
#define SUMMARIES 256U
#define AGE_MS 50000U
#define PASSING_MS 20000

/* ---- giving up ---- */

/* The home takes numbers that are given up behind what it has, and counts those that it does not have. */
static void take_gap(uint64_t previous, const uint64_t *numbers, uint32_t count) {
    tm_log_chain chain;
    if (tm_custody_chain_of(departures.home.sw, ENTRY, &chain) != TM_OK || chain.have < previous ||
        chain.log != departures.entry.sw->durables->homes.log || chain.have >= numbers[count - 1]) {
        return;
    }
    uint64_t before = chain.have;
    for (uint32_t i = 0; i < count; i++) {
        chain.lost += numbers[i] > before;
    }
    chain.have = numbers[count - 1];
    int result = tm_custody_set_chain(departures.home.sw, &chain);
    CHECK(result == TM_OK || result == TM_LOG_BUSY || result == TM_LOG_FULL, "set: %d", result);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t at = 0; at < departures.copy_count; at++) {
            departures.copies[at].is_told |= departures.copies[at].number == numbers[i] && numbers[i] > before;
        }
    }
}

/* The home takes a doubt behind what it has. */
static void take_doubt(uint64_t previous, uint64_t last) {
    tm_log_chain chain;
    if (tm_custody_chain_of(departures.home.sw, ENTRY, &chain) != TM_OK || chain.have < previous ||
        chain.log != departures.entry.sw->durables->homes.log || chain.have >= last) {
        return;
    }
    for (uint32_t at = 0; at < departures.copy_count; at++) {
        if (departures.copies[at].number > chain.have && departures.copies[at].number <= last) {
            departures.copies[at].is_doubted = true;
            departures.copies[at].is_told = false;
        }
    }
    chain.doubts++;
    chain.have = last;
    int result = tm_custody_set_chain(departures.home.sw, &chain);
    CHECK(result == TM_OK || result == TM_LOG_BUSY || result == TM_LOG_FULL, "set: %d", result);
    departures.doubts++;
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
    tm_custody_home home = departures_chain_to_home();
    int result = tm_log_read(departures.entry.log, HOME, 1, home.gap - 1, record, sizeof record, &size);
    CHECK(result == TM_OK || result == TM_TOO_MANY, "read: %d", result);
    if (size == 0 || ((const tm_log_record *)(void *)record)->n != home.gap) {
        return;
    }
    uint32_t count = read_numbers((const tm_log_record *)(void *)record, numbers);
    uint32_t first = 0;
    while (first < count && numbers[first] <= home.sent) {
        first++;
    }
    bool is_lost = below(&departures.dice, 4) == 0;
    if (!is_lost && count > 0) {
        take_gap(home.sent, numbers + first, count - first);
    } else if (!is_lost) {
        take_doubt(home.sent, numbers[0]);
    }
    CHECK(numbers[count > 0 ? count - 1 : 0] == home.gap_last, "other numbers than the entry knows");
    CHECK(tm_custody_sent_gap(departures.entry.sw, HOME, home.gap_last) == TM_OK, "a gap that was sent");
}

/* Read the oldest messages for the home that are not given up; return how many, and how many have waited for longer
 * than they may, with those before them. */
static size_t read_open(tm_log_summary *open, uint64_t may_wait_ms, size_t *old) {
    size_t count = 0;
    tm_custody_home home = departures_chain_to_home();
    uint64_t after = home.given_up > home.have ? home.given_up : home.have;
    CHECK(tm_log_summaries(departures.entry.log, HOME, 1, after, open, SUMMARIES, &count) == TM_OK, "summaries");
    *old = 0;
    for (size_t i = 0; i < count && departures.age_ms != 0; i++) {
        bool is_old = open[i].is_enough && open[i].at_ms + may_wait_ms <= durable_wall_ms(departures.entry.sw);
        *old = is_old ? i + 1 : *old;
    }
    return count;
}

/* Give up what is past a bound, if the chain says that something may be; then the rest is within both. */
static void give_up(void) {
    tm_log_summary open[SUMMARIES];
    size_t old;
    int result = TM_OK;
    tm_custody_home home = departures_chain_to_home();
    while (result == TM_OK && home.is_past) {
        if (home.doubt > tm_log_committed(departures.entry.log)) {
            return;
        }
        size_t count = read_open(open, departures.age_ms, &old);
        result = tm_custody_give_up(departures.entry.sw, HOME, open, count);
        tm_custody_home after = departures_chain_to_home();
        bool is_young = after.given_up != home.given_up && (old == 0 || after.given_up > open[old - 1].n);
        CHECK(!is_young || (home.bytes > departures.room && !departures.refuses),
              "a message was given up that may wait");
        departures.given_up += result == TM_OK;
        departures.old += after.gone_old - home.gone_old;
        home = after;
    }
    CHECK(result == TM_OK || result == TM_ABSENT || result == TM_LOG_BUSY || result == TM_LOG_FULL, "give up: %d",
          result);
    uint64_t bytes = 0;
    size_t count = read_open(open, departures.age_ms + departures.age_ms / 8, &old);
    for (size_t i = 0; i < count; i++) {
        bytes += open[i].is_enough ? open[i].body_size : 0;
    }
    bool is_within = result == TM_OK || result == TM_ABSENT;
    CHECK(!is_within || bytes <= departures.room, "%lu bytes wait for the home", (unsigned long)bytes);
    CHECK(!is_within || old == 0, "a message waits for longer than it may");
    departures_validate();
}

/* Send what the home is behind by, from the log: from a place that may be old, as answers come late. */
static void catch_up(void) {
    static uint8_t records[1 << 14];
    size_t size = 0;
    size_t used = 0;
    if (departures_chain_to_home().gap != 0) {
        send_gap();
    }
    uint64_t after = departures_chain_to_home().sent;
    uint64_t mark = tm_custody_mark(departures.entry.sw);
    if (below(&departures.dice, 4) == 0) {
        departures_commit(&departures.entry);
    }
    size_t room = below(&departures.dice, 3) == 0 ? 1 << 11 : sizeof records;
    int result = tm_log_read(departures.entry.log, HOME, 1, after, records, room, &size);
    CHECK(result == TM_OK || result == TM_TOO_MANY, "read: %d", result);
    size = result == TM_OK ? size : 0;
    CHECK(tm_custody_send(departures.entry.sw, HOME, after, records, size, &used) == TM_OK && used <= size, "send");
    if (used == size) {
        result = tm_custody_send_tail(departures.entry.sw, HOME, mark);
        CHECK(result == TM_OK || result == TM_LOG_BUSY, "tail: %d", result);
    }
    departures_validate();
}

/* The home acknowledges what it has reported, or asks; the frame may be lost. */
static void acknowledge(void) {
    uint64_t window = below(&departures.dice, 3) == 0 ? 700 : 3000;
    departures_acknowledge_other();
    if (below(&departures.dice, 4) == 0) {
        return;
    }
    uint64_t have = departures.on_disk;
    int result =
        tm_custody_acknowledged(departures.entry.sw, HOME, departures.home.sw->durables->arrivals.log, have, window);
    CHECK(result == TM_OK || result == TM_LOG_BUSY || (result == TM_MISUSED && have < departures_chain_to_home().have),
          "acknowledged: %d", result);
    departures_read_answers();
    if (departures.is_early || below(&departures.dice, 3) == 0) { /* it asks, or an acknowledgement is overdue */
        CHECK(tm_custody_go_back(departures.entry.sw, HOME, departures_chain_to_home().have) == TM_OK, "back");
        departures.is_early = false;
    }
}

/* ---- the way between them ---- */

static void fetch(void) {
    const uint8_t *bytes;
    size_t size;
    CHECK(tm_switch_output(departures.entry.sw, departures.entry.link, &bytes, &size) == TM_OK, "output");
    for (size_t at = 0; at < size; at += tm_load32(bytes + at)) {
        if (bytes[at + WIRE_KIND] == WIRE_DIRECTED && departures.on_the_way < ON_THE_WAY) {
            frame *next = &departures.way[departures.on_the_way++];
            next->size = tm_load32(bytes + at);
            memcpy(next->bytes, bytes + at, next->size);
        }
    }
    CHECK(tm_switch_sent(departures.entry.sw, departures.entry.link, size) == TM_OK, "sent");
}

static void arrive(const frame *one) {
    const tm_event *events;
    size_t count;
    CHECK(tm_switch_feed(departures.home.sw, departures.home.link, one->bytes, one->size, &events, &count) == TM_OK,
          "feed");
    departures_hear(events, count);
}

/* Bring all frames; some are lost, or come twice, if `is_lossy`. */
static void carry(bool is_lossy) {
    fetch();
    for (uint32_t i = 0; i < departures.on_the_way; i++) {
        uint32_t fate = is_lossy ? below(&departures.dice, 12) : 2;
        for (uint32_t times = fate == 0 ? 0 : fate == 1 ? 2 : 1; times > 0; times--) {
            arrive(&departures.way[i]);
        }
    }
    departures.on_the_way = 0;
    departures_validate();
}

/* ---- crashes ---- */

static void note_due(void) {
    uint64_t committed = tm_log_committed(departures.entry.log);
    for (uint32_t i = 0; i < departures.copy_count; i++) {
        departures.copies[i].is_due |= departures.copies[i].is_open && departures.copies[i].number <= committed;
        departures.copies[i].is_open = false;
    }
}

static faulty_disk *crashed(const side *at) {
    crash_kind kind = (crash_kind)below(&departures.dice, CRASH_KINDS);
    faulty_disk *disk = faulty_crash(at->disk, kind, roll(&departures.dice));
    departures_end_side(at);
    departures.crashes++;
    return disk;
}

static void crash(bool is_entry) {
    if (is_entry) {
        departures_note_number();
        departures_read_answers();
        note_due();
        departures.resent += departures.entry.sw->durables->homes.stats.resent;
        departures_start_entry(crashed(&departures.entry));
    } else {
        uint64_t reported = departures.on_disk;
        departures_start_home(crashed(&departures.home));
        tm_log_chain chain;
        bool is_there = tm_custody_chain_of(departures.home.sw, ENTRY, &chain) == TM_OK;
        CHECK(is_there ? chain.have >= reported : reported == 0, "%lu were reported to be on disk",
              (unsigned long)reported);
        if (!is_there) {
            departures_begin_chain(); /* the entry says again that it holds the statement */
        }
    }
}

/* ---- steps ---- */

static void step(void) {
    uint32_t kind = below(&departures.dice, 100);
    if (kind < 34) {
        departures_publish();
    } else if (kind < 40) {
        departures_retry();
    } else if (kind < 60) {
        carry(true);
    } else if (kind < 72) {
        departures_commit(below(&departures.dice, 2) ? &departures.entry : &departures.home);
    } else if (kind < 82) {
        acknowledge();
    } else if (kind < 92) {
        give_up();
        catch_up();
    } else if (kind < 95) {
        crash(kind == 92);
    } else {
        faulty_disk *disk = below(&departures.dice, 2) ? departures.entry.disk : departures.home.disk;
        disk->is_full = kind == 95;
        disk->short_in = kind == 96 ? 3 : 0;
        departures_pass_time(kind == 97 ? PASSING_MS : 0);
    }
}

static void settle(void) {
    departures.entry.disk->is_full = departures.home.disk->is_full = false;
    departures.entry.disk->short_in = departures.home.disk->short_in = 0;
    for (unsigned round = 0; round < 400 && departures_chain_to_home().have < departures_chain_to_home().last;
         round++) {
        departures_commit(&departures.entry);
        give_up();
        catch_up();
        carry(false);
        departures_commit(&departures.home);
        acknowledge();
    }
    departures_commit(&departures.entry);
    tm_custody_home home = departures_chain_to_home();
    CHECK(home.have == home.last, "the home has %lu of %lu", (unsigned long)home.have, (unsigned long)home.last);
}

/* What was refused for want of room is taken when it comes again, as there is room now. */
static void retry_refused(void) {
    for (uint64_t message = 1; message <= departures.counter; message++) {
        bool is_lacking = departures.is_full[message] && departures.is_awaited[message];
        if (is_lacking && !departures_waits_for_homes(message) && departures.copy_count < COPIES) {
            departures_retry_message(message);
            settle();
            CHECK(!departures.is_awaited[message], "message %lu was refused, and again", (unsigned long)message);
        }
    }
}

static void judge(void) {
    static uint8_t records[1 << 15];
    bool is_there[MESSAGES + 1] = {false};
    uint64_t after = 0;
    uint64_t before = 0;
    size_t size;
    do {
        CHECK(tm_log_read(departures.home.log, DURABLE, 0, after, records, sizeof records, &size) == TM_OK, "read");
        for (size_t at = 0; at < size; at += ((const tm_log_record *)(records + at))->size) {
            const tm_log_record *record = (const tm_log_record *)(records + at);
            const uint8_t *body = (const uint8_t *)(record + 1) + (record->durables + 1U) / 2 * 8;
            uint64_t counter = tm_load64(body + WIRE_COUNTER);
            CHECK(!is_there[counter], "message %lu is there twice", (unsigned long)counter);
            CHECK(counter > before || departures.is_again[counter], "message %lu is out of order",
                  (unsigned long)counter);
            before = departures.is_again[counter] ? before : counter;
            is_there[counter] = true;
            after = record->n;
        }
    } while (size > 0);
    uint64_t missing = 0;
    for (uint32_t i = 0; i < departures.copy_count; i++) {
        const copy *at = &departures.copies[i];
        CHECK(is_there[at->message] || !at->is_due || at->is_told || at->is_doubted,
              "message %u was on disk at the entry, and is not at the home", at->message);
        missing += at->is_told;
    }
    for (uint32_t message = 1; message <= MESSAGES; message++) {
        CHECK(is_there[message] || !departures.is_held[message], "message %u was held, and is not at the home",
              message);
    }
    tm_log_chain chain;
    CHECK(tm_custody_chain_of(departures.home.sw, ENTRY, &chain) == TM_OK && chain.lost == missing,
          "%lu messages are missing, and the home counts %lu", (unsigned long)missing, (unsigned long)chain.lost);
    CHECK(tm_log_read(departures.entry.log, HOME, 1, departures_chain_to_home().have, records, sizeof records, &size) ==
              TM_OK,
          "read");
    for (size_t at = 0; at < size; at += ((const tm_log_record *)(void *)(records + at))->size) {
        CHECK(((const tm_log_record *)(void *)(records + at))->kind == TM_LOG_GIVEN_UP,
              "the entry stores what the home has acknowledged");
    }
    CHECK(departures_chain_to_home().bytes == 0, "the entry counts what the home has acknowledged");
}

static void live(uint64_t seed) {
    departures = (pair_world){.dice = {seed}};
    departures.room = seed % 2 ? ROOM_SMALL : 1 << 20;
    departures.refuses = seed % 4 == 3;
    departures.age_ms = seed % 3 ? AGE_MS : 0;
    departures_start_entry(faulty_new(seed));
    departures_start_home(faulty_new(seed + 1));
    departures_begin_chain();
    for (unsigned i = 0; i < STEPS; i++) {
        step();
    }
    settle();
    retry_refused();
    note_due();
    judge();
    departures_end_side(&departures.entry);
    departures_end_side(&departures.home);
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
    uint64_t old = 0;
    uint64_t doubts = 0;
    uint64_t held = 0;
    uint64_t refused = 0;
    uint64_t full = 0;
    uint64_t retried = 0;
    live(5048); /* a home had a message that its entry had sent and lost */
    for (uint64_t i = 0; i < lives; i++) {
        printf("seed %lu\n", (unsigned long)(seed + i));
        fflush(stdout);
        live(seed + i);
        crashes += departures.crashes;
        resent += departures.resent;
        given_up += departures.given_up;
        old += departures.old;
        doubts += departures.doubts;
        held += departures.held;
        refused += departures.refused;
        full += departures.full;
        retried += departures.retried;
    }
    CHECK(lives < 10 || (crashes > 0 && resent > 0 && given_up > 0 && old > 0 && doubts > 0),
          "no crash happened, nothing was sent from a log, or nothing was given up for a bound");
    CHECK(lives < 10 || (held > 0 && refused > 0 && full > 0 && retried > 0),
          "nothing was held, refused or published again");
    printf("%lu lives, %lu crashes, %lu copies from the log, %lu times given up, %lu for age, %lu doubts\n",
           (unsigned long)lives, (unsigned long)crashes, (unsigned long)resent, (unsigned long)given_up,
           (unsigned long)old, (unsigned long)doubts);
    printf("%lu held, %lu refused, %lu without room, %lu published again\n", (unsigned long)held,
           (unsigned long)refused, (unsigned long)full, (unsigned long)retried);
    fflush(stdout);
    for (int fault = TM_BREAKS_OF_ARRIVALS + 1; fault < TM_BREAKS_OF_DEPARTURES && argc == 1; fault++) {
        CHECK(is_found((tm_fault)fault), "planted fault %d is not found", fault);
    }
    return 0;
}
