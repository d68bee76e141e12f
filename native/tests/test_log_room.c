/* test_log_room.c - a full log has room again once enough is acknowledged, whatever crashes happen before.
 *
 *     run_test_log_room [LIVES [SEED]]
 *
 * Law: the reserve works as store.h describes. The log is full of open messages; from then on each life ends in a
 * crash, and the next one accepts acks and losses again. The files never exceed `bytes_max`.
 */
#include <string.h>

#include "faulty_disk.h"
#include "log/log.h"

#define SEGMENT_BYTES 16384U
#define SEGMENTS 12U
#define RING_BYTES 65536U /* longer than segments */
#define BODY_BYTES 300U
#define DURABLE 7U
#define LOSS_BYTES 160U
#define RECORDS_MAX 2000U
#define ROUNDS 200U /* of maintenance, until there is room for an ack */
#define DURABLES 7U /* each has a record that counts its losses */

static tm_log *open_on(faulty_disk *disk) {
    tm_log_options options = {.bytes_max = SEGMENTS * SEGMENT_BYTES,
                              .segment_bytes = SEGMENT_BYTES,
                              .ring_bytes = RING_BYTES,
                              .hash_seed = 1,
                              .has_no_threads = 1};
    tm_log *log = NULL;
    CHECK(tm_log_open_on(&options, &disk->base, &log) == TM_OK, "opening");
    return log;
}

static faulty_disk *crash(faulty_disk *disk, tm_log *log, crash_kind kind, uint64_t seed) {
    faulty_disk *next = faulty_crash(disk, kind, seed);
    tm_log_close(log);
    return next;
}

/* Run maintenance until nothing is left to do. */
static void maintain(tm_log *log) {
    uint32_t is_idle = 0;
    for (unsigned i = 0; i < 500 && !is_idle; i++) {
        tm_log_maintain(log, &is_idle);
    }
    CHECK(is_idle, "maintenance does not end");
    tm_log_state state;
    tm_log_state_of(log, &state);
    CHECK(state.disk_bytes <= SEGMENTS * SEGMENT_BYTES, "%lu bytes", (unsigned long)state.disk_bytes);
}

static int append(tm_log *log, uint32_t body_bytes) {
    static const uint8_t body[SEGMENT_BYTES];
    uint32_t durable = DURABLE;
    uint64_t n;
    tm_log_entry entry = {
        .kind = TM_LOG_MESSAGE, .durables = &durable, .durable_count = 1, .body = body, .body_size = body_bytes};
    return tm_log_append(log, &entry, &n);
}

static void commit_all(tm_log *log) {
    int result;
    while ((result = tm_log_commit(log)) == TM_OK) {
    }
    CHECK(result == TM_ABSENT, "an admitted record has no room: %d", result);
}

/* Append messages until one is refused, `burst` of them before each commit; returns how many. */
static uint32_t fill(tm_log *log, uint32_t burst, uint32_t body_bytes) {
    uint32_t count = 0;
    int result = TM_OK;
    while (result != TM_LOG_FULL) {
        result = TM_OK;
        for (uint32_t i = 0; i < burst && result == TM_OK; i++) {
            result = append(log, body_bytes);
            count += result == TM_OK;
        }
        CHECK(count < RECORDS_MAX, "the log is never full");
        CHECK(result == TM_OK || result == TM_LOG_BUSY || result == TM_LOG_FULL, "refused with %d", result);
        commit_all(log);
        maintain(log);
    }
    return count;
}

/* Read the open numbers of the durable subscription. */
static uint32_t read_open(tm_log *log, uint64_t *numbers) {
    static tm_log_summary summaries[RECORDS_MAX];
    size_t count;
    CHECK(tm_log_summaries(log, DURABLE, 0, 0, summaries, RECORDS_MAX, &count) == TM_OK, "reading");
    for (size_t i = 0; i < count; i++) {
        numbers[i] = summaries[i].n;
    }
    return (uint32_t)count;
}

/* Append a record that frees others; it is on disk in the end. */
static uint64_t let_go(tm_log *log, const tm_log_entry *entry) {
    uint64_t n = 0;
    int result = TM_LOG_BUSY;
    for (unsigned i = 0; i < ROUNDS && result != TM_OK; i++) {
        result = tm_log_append(log, entry, &n);
        CHECK(result == TM_OK || result == TM_LOG_BUSY || result == TM_LOG_FULL, "an ack ends with %d", result);
        if (result != TM_OK) {
            uint32_t is_idle;
            tm_log_maintain(log, &is_idle);
        }
    }
    CHECK(result == TM_OK, "an ack is never accepted");
    for (unsigned i = 0; i < ROUNDS && tm_log_committed(log) < n; i++) {
        uint32_t is_idle;
        tm_log_commit(log);
        tm_log_maintain(log, &is_idle);
    }
    CHECK(tm_log_committed(log) >= n, "an ack does not come to disk");
    return n;
}

static void acknowledge(tm_log *log, uint64_t holder, uint64_t first, uint64_t last) {
    tm_log_done done = {.holder = holder, .first = first, .last = last};
    tm_log_entry entry = {.kind = TM_LOG_ACK, .body = &done, .body_size = sizeof done};
    let_go(log, &entry);
}

/* Append a count of losses, as a durable subscription does: the record before is done. */
static void lose(tm_log *log, uint64_t n, uint64_t *before) {
    uint8_t body[LOSS_BYTES] = {0};
    tm_log_done done = {.holder = DURABLE, .first = n, .last = n};
    memcpy(body, &done, sizeof done);
    uint32_t catalog = TM_LOG_LOSS_DURABLE;
    tm_log_entry entry = {
        .kind = TM_LOG_DEAD_LETTER, .durables = &catalog, .durable_count = 1, .body = body, .body_size = sizeof body};
    uint64_t written = let_go(log, &entry);
    if (*before > 0) {
        acknowledge(log, TM_LOG_LOSS_DURABLE, *before, *before);
    }
    *before = written;
}

/* One reading with room for all records returns all, in whatever rows their copies are. */
static void check_read(tm_log *log, const uint64_t *numbers, uint32_t count) {
    static uint64_t records[SEGMENTS * SEGMENT_BYTES / 8];
    const uint8_t *bytes = (const uint8_t *)records;
    size_t size;
    CHECK(tm_log_read(log, DURABLE, 0, 0, records, sizeof records, &size) == TM_OK, "reading");
    uint32_t read = 0;
    for (size_t at = 0; at < size; at += ((const tm_log_record *)(bytes + at))->size, read++) {
        uint64_t n = ((const tm_log_record *)(bytes + at))->n;
        CHECK(read < count && n == numbers[read], "record %u is %lu", read, (unsigned long)n);
    }
    CHECK(read == count, "%u records of %u", read, count);
}

static void check_open(tm_log *log, const uint64_t *numbers, uint32_t count) {
    static uint64_t found[RECORDS_MAX];
    check_read(log, numbers, count);
    CHECK(read_open(log, found) == count && memcmp(found, numbers, count * sizeof *found) == 0,
          "other records are open");
}

/* ---- crash after crash ---- */

/* Each life accepts a loss of one subscription and an ack, and crashes. The losses of the others are in segments of
 * earlier lives that hold nothing else. */
static void takes_acks_in_any_life(crash_kind kind, uint32_t lives) {
    static uint64_t numbers[RECORDS_MAX];
    faulty_disk *disk = faulty_new(1);
    tm_log *log = open_on(disk);
    fill(log, 1, BODY_BYTES);
    uint32_t count = read_open(log, numbers);
    uint32_t first = 0;
    uint64_t losses[DURABLES] = {0};
    for (uint32_t life = 0; life < lives; life++) {
        disk = crash(disk, log, kind, life);
        log = open_on(disk);
        check_open(log, numbers + first, count - first);
        lose(log, numbers[first++], &losses[life % DURABLES]);
        acknowledge(log, DURABLE, 0, numbers[first++]);
        check_open(log, numbers + first, count - first);
    }
    acknowledge(log, DURABLE, 0, numbers[count - 1]);
    maintain(log);
    for (uint32_t i = 0; i < 20; i++) {
        CHECK(append(log, BODY_BYTES) == TM_OK, "the log is full, but no record is open");
        commit_all(log);
    }
    tm_log_close(log);
}

typedef struct crasher {
    faulty_disk *disk;
    faulty_disk *crashed; /* owned: the disk after a crash before call `at`; NULL: not yet */
    uint64_t at;
    crash_kind kind;
} crasher;

static void maybe_crash(void *context) {
    crasher *c = context;
    if (c->crashed == NULL && c->at-- == 0) {
        c->crashed = faulty_crash(c->disk, c->kind, c->at);
    }
}

/* Every second message is acknowledged, so that the segments are half full, and each life ends at some call of the
 * disk during compaction. */
static void copies_through_crashes(dice *dice, crash_kind kind) {
    static uint64_t numbers[RECORDS_MAX];
    faulty_disk *disk = faulty_new(roll(dice));
    tm_log *log = open_on(disk);
    uint32_t all = fill(log, 1 + below(dice, 5), BODY_BYTES);
    read_open(log, numbers);
    uint32_t count = 0;
    uint32_t kept = 3 + below(dice, 8);
    for (uint32_t i = 0; i < all; i++) {
        if (i % kept != 0) {
            tm_log_done done = {.holder = DURABLE, .first = numbers[i], .last = numbers[i]};
            tm_log_entry entry = {.kind = TM_LOG_ACK, .body = &done, .body_size = sizeof done};
            let_go(log, &entry);
        } else {
            numbers[count++] = numbers[i];
        }
    }
    for (uint32_t life = 0; life < 40; life++) {
        crasher c = {.disk = disk, .at = below(dice, 60), .kind = kind};
        disk->before = maybe_crash;
        disk->context = &c;
        uint32_t is_idle = 0;
        for (unsigned i = 0; i < 500 && !is_idle && c.crashed == NULL; i++) {
            tm_log_maintain(log, &is_idle);
        }
        disk->before = NULL;
        faulty_disk *next = c.crashed != NULL ? c.crashed : faulty_crash(disk, kind, life);
        tm_log_close(log);
        disk = next;
        log = open_on(disk);
        check_open(log, numbers, count);
    }
    maintain(log);
    check_open(log, numbers, count);
    uint64_t weight = tm_record_weight(BODY_BYTES, BODY_BYTES) + POSTING_WEIGHT;
    uint64_t room = (SEGMENTS - SEGMENTS_RESERVED - 2) * (SEGMENT_BYTES - SEGMENT_HEAD_BYTES) - 2 * weight * count;
    uint32_t more = fill(log, 100, BODY_BYTES);
    CHECK(more * weight >= room / 2, "room for %u messages, with %u of %u open", more, count, all);
    acknowledge(log, DURABLE, 0, numbers[count - 1]);
    tm_log_close(log);
}

/* ---- admission ---- */

/* A burst that is longer than the reserve stops before it, so that acks can use all of it. */
static void a_burst_leaves_the_reserve(uint32_t burst, uint32_t body_bytes) {
    static uint64_t numbers[RECORDS_MAX];
    faulty_disk *disk = faulty_new(1);
    tm_log *log = open_on(disk);
    fill(log, burst, body_bytes);
    CHECK(log->store->spare_count >= SEGMENTS_RESERVED, "messages used the reserve");
    uint32_t count = read_open(log, numbers);
    for (uint32_t i = 0; i < count; i += 2) {
        acknowledge(log, DURABLE, numbers[i], numbers[i]);
    }
    acknowledge(log, DURABLE, 0, numbers[count - 1]);
    maintain(log);
    CHECK(append(log, body_bytes) == TM_OK, "the log is full, but no record is open");
    tm_log_close(log);
}

/* ---- waiting does not help ---- */

static bool remove_spare(void *context, const char *name) {
    faulty_disk *disk = context;
    if (strncmp(name, "spare", 5) == 0) {
        disk->base.port->remove(&disk->base, name);
        return false;
    }
    return true;
}

/* Segments are sparse, and the disk has no room to copy them: appends are refused instead of waiting. */
static void a_log_that_cannot_copy_is_full(void) {
    static uint64_t numbers[RECORDS_MAX];
    faulty_disk *disk = faulty_new(1);
    tm_log *log = open_on(disk);
    fill(log, 1, BODY_BYTES);
    uint32_t count = read_open(log, numbers);
    for (uint32_t i = 0; i < count; i++) {
        tm_log_done done = {.holder = DURABLE, .first = numbers[i], .last = numbers[i]};
        tm_log_entry entry = {.kind = TM_LOG_ACK, .body = &done, .body_size = sizeof done};
        uint64_t n;
        if (i % 4 != 0 && tm_log_append(log, &entry, &n) == TM_OK) { /* as many as there is room for */
            tm_log_commit(log);
        }
    }
    disk = crash(disk, log, CRASH_ALL_KEPT, 1);
    for (unsigned i = 0; i < SEGMENTS; i++) {
        disk->base.port->list(&disk->base, remove_spare, disk);
    }
    disk->is_full = true;
    log = open_on(disk);
    maintain(log);
    CHECK(log->store->spare_count == 0 && log->store->cannot_copy, "the log can still copy");
    CHECK(append(log, BODY_BYTES) == TM_LOG_FULL && !tm_log_is_behind(log, 1), "a publisher would wait for ever");
    disk->is_full = false;
    maintain(log);
    CHECK(append(log, BODY_BYTES) == TM_OK, "the disk has room, but a message is refused");
    tm_log_close(log);
}

/* ---- disk use of open records ---- */

/* One of every n messages stays open: files take at most twice the weight of open records, plus the open segment and
 * the last one that was more than half open. */
static void files_take_twice_what_is_open(uint32_t kept, uint32_t small, uint32_t large) {
    static uint64_t numbers[RECORDS_MAX];
    faulty_disk *disk = faulty_new(1);
    tm_log *log = open_on(disk);
    uint32_t appended = 0;
    int result = TM_OK;
    while (result == TM_OK) { /* small ones stay among large ones: by a count of records they would seem many */
        result = append(log, appended % kept == 0 ? small : large);
        appended += result == TM_OK;
        commit_all(log);
        maintain(log);
    }
    uint32_t count = read_open(log, numbers);
    uint64_t open_bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i % kept != 0) {
            acknowledge(log, DURABLE, numbers[i], numbers[i]);
        } else {
            open_bytes += tm_record_weight(small, small) + POSTING_WEIGHT;
        }
    }
    maintain(log);
    tm_log_state state;
    tm_log_state_of(log, &state);
    uint64_t bytes = (state.segments - 1) * (SEGMENT_BYTES - SEGMENT_HEAD_BYTES);
    uint64_t most = log->store->is_tight ? 2 * open_bytes : log->store->bytes_max / 100 * TIGHT_PERCENT;
    CHECK(bytes <= most + SEGMENT_BYTES, "%lu bytes of files for %lu that are open", (unsigned long)bytes,
          (unsigned long)open_bytes);
    tm_log_close(log);
}

/* ---- what is copied ---- */

/* Append messages, of which all but the last `behind` are acknowledged at any time, from `*first` on; return how many
 * records were copied. */
static uint64_t flow(tm_log *log, uint64_t *first, uint32_t messages, uint32_t behind) {
    static uint64_t numbers[RECORDS_MAX];
    for (uint32_t i = 0; i < messages; i++) {
        numbers[i] = tm_log_next(log);
        CHECK(append(log, BODY_BYTES) == TM_OK, "the log is full, and little is open");
        commit_all(log);
        if (i >= behind) {
            tm_log_done done = {.holder = DURABLE, .first = *first, .last = numbers[i - behind]};
            tm_log_entry entry = {.kind = TM_LOG_ACK, .body = &done, .body_size = sizeof done};
            let_go(log, &entry);
        }
        maintain(log);
    }
    tm_log_state state;
    tm_log_state_of(log, &state);
    *first = tm_log_next(log);
    return state.copied;
}

/* What the last closed segment has open is not copied, as its holder is about to be done with it. What stays open is.
 */
static void what_is_nearly_done_is_not_copied(void) {
    faulty_disk *disk = faulty_new(1);
    tm_log *log = open_on(disk);
    uint64_t first = 0;
    CHECK(flow(log, &first, 300, 4) == 0, "records were copied that were done a moment later");
    CHECK(flow(log, &first, 300, 4) >= 4, "records that stay open were not copied");
    tm_log_close(log);
}

int main(int count, char **arguments) {
    uint32_t lives = count > 1 ? (uint32_t)strtoul(arguments[1], NULL, 10) : 40;
    dice dice = {count > 2 ? strtoull(arguments[2], NULL, 10) : 1};
    for (crash_kind kind = CRASH_ALL_LOST; kind < CRASH_KINDS; kind++) {
        takes_acks_in_any_life(kind, lives);
        for (uint32_t i = 0; i < lives / 4; i++) {
            copies_through_crashes(&dice, kind);
        }
    }
    a_burst_leaves_the_reserve(1, BODY_BYTES);
    a_burst_leaves_the_reserve(1000, BODY_BYTES);
    a_burst_leaves_the_reserve(1000, 3000);
    a_log_that_cannot_copy_is_full();
    files_take_twice_what_is_open(2, 300, 300);
    files_take_twice_what_is_open(2, 100, 2000);
    files_take_twice_what_is_open(5, 100, 300);
    what_is_nearly_done_is_not_copied();
    return 0;
}
