/* test_log_full.c - a log whose disk is full: it opens, gives out, takes acks, and says so until there is room.
 *
 * Law: an existing log opens on a full disk, and a log that has made room by itself needs none of
 * the disk.
 */
#include <errno.h>
#include <string.h>

#include "faulty_disk.h"
#include "log/log.h"

#define SEGMENT_BYTES 16384U
#define BODY_BYTES 1000U
#define DURABLE 7U
#define RECORDS_MAX 200U

static int attempt_open(faulty_disk *disk, tm_log **log) {
    tm_log_options options = {.bytes_max = 40 * SEGMENT_BYTES,
                              .segment_bytes = SEGMENT_BYTES,
                              .ring_bytes = 8192,
                              .hash_seed = 1,
                              .has_no_threads = 1};
    return tm_log_open_on(&options, &disk->base, log);
}

static tm_log *open_on(faulty_disk *disk) {
    tm_log *log = NULL;
    CHECK(attempt_open(disk, &log) == TM_OK, "opening");
    return log;
}

static void maintain(tm_log *log) {
    uint32_t is_idle = 0;
    for (unsigned i = 0; i < 500 && !is_idle; i++) {
        tm_log_maintain(log, &is_idle); /* a full disk refuses what is not done with, and that is no end */
    }
}

static int append(tm_log *log) {
    static const uint8_t body[BODY_BYTES];
    uint32_t durable = DURABLE;
    uint64_t n;
    tm_log_entry entry = {
        .kind = TM_LOG_MESSAGE, .durables = &durable, .durable_count = 1, .body = body, .body_size = sizeof body};
    int result = tm_log_append(log, &entry, &n);
    return result == TM_OK ? tm_log_commit(log) : result;
}

static int acknowledge(tm_log *log, uint64_t first, uint64_t last) {
    tm_log_done done = {.holder = DURABLE, .first = first, .last = last};
    tm_log_entry entry = {.kind = TM_LOG_ACK, .body = &done, .body_size = sizeof done};
    uint64_t n;
    int result = tm_log_append(log, &entry, &n);
    return result == TM_OK ? tm_log_commit(log) : result;
}

/* Numbers that are open, and the last of them. */
static uint32_t count_open(tm_log *log, uint64_t *last) {
    static tm_log_summary summaries[RECORDS_MAX];
    size_t count;
    CHECK(tm_log_summaries(log, DURABLE, 0, 0, summaries, RECORDS_MAX, &count) == TM_OK, "reading");
    *last = count > 0 ? summaries[count - 1].n : 0;
    return (uint32_t)count;
}

static tm_log_state state_of(tm_log *log) {
    tm_log_state state;
    tm_log_state_of(log, &state);
    return state;
}

/* A log that refuses messages, as its disk is full; returns how many it has. */
static uint32_t fill(faulty_disk *disk, tm_log *log) {
    uint32_t count = 0;
    int result = TM_OK;
    while (result == TM_OK) {
        disk->is_full = count >= 30;
        result = append(log);
        count += result == TM_OK;
        CHECK(count < RECORDS_MAX, "the log is never full");
        maintain(log);
    }
    CHECK(result == TM_LOG_FULL, "refused with %d", result);
    CHECK(state_of(log).is_disk_full && state_of(log).disk_error == ENOSPC, "the state has no reason");
    return count;
}

static faulty_disk *crash(faulty_disk *disk, tm_log *log, crash_kind kind) {
    faulty_disk *next = faulty_crash(disk, kind, 1);
    next->is_full = disk->is_full;
    tm_log_close(log);
    return next;
}

static void a_log_opens_on_a_full_disk(crash_kind kind) {
    faulty_disk *disk = faulty_new(1);
    tm_log *log = open_on(disk);
    uint32_t count = fill(disk, log);
    uint64_t last;
    for (unsigned life = 0; life < 6; life++) { /* more of them than there are reserved segments */
        uint64_t before = state_of(log).life;
        disk = crash(disk, log, kind);
        log = open_on(disk);
        CHECK(state_of(log).is_disk_full && state_of(log).is_full, "the state is not full");
        CHECK(state_of(log).life > before, "the life did not increase");
        CHECK(count_open(log, &last) == count, "messages are missing");
        int result = append(log);
        CHECK(result == TM_LOG_FULL || result == TM_LOG_BUSY, "a message is not refused");
        maintain(log); /* until it has been looked for what may go, a message waits */
        CHECK(append(log) == TM_LOG_FULL, "a message is accepted by a log without room");
    }
    tm_log_recovery recovery;
    tm_log_recovery_of(log, &recovery);
    CHECK(recovery.damages == 0 && tm_log_missing(log, NULL, 0) == 0, "damage is reported, but there is none");
    CHECK(acknowledge(log, 0, last - 1) == TM_OK, "an ack is refused");
    CHECK(count_open(log, &last) == 1, "an ack is not on disk");
    maintain(log); /* the segments that are done with go, behind a checkpoint for which a spare file made way */
    CHECK(append(log) == TM_OK && !state_of(log).is_full, "finished segments are not reused");
    disk = crash(disk, log, kind);
    log = open_on(disk);
    CHECK(count_open(log, &last) == 2, "a record that was accepted on a full disk is missing");
    disk->is_full = false;
    maintain(log);
    CHECK(!state_of(log).is_disk_full && !state_of(log).is_full, "the state is full, but the disk is not");
    tm_log_close(log);
}

static void it_is_over_when_there_is_room(void) {
    faulty_disk *disk = faulty_new(1);
    tm_log *log = open_on(disk);
    fill(disk, log);
    disk->is_full = false;
    maintain(log);
    CHECK(!state_of(log).is_disk_full && !state_of(log).is_full, "the state is still full");
    CHECK(append(log) == TM_OK, "a message is refused");
    tm_log_close(log);
}

static void a_new_log_on_a_full_disk_says_why_it_is_none(void) {
    faulty_disk *disk = faulty_new(1);
    disk->is_full = true;
    tm_log *log = NULL;
    CHECK(attempt_open(disk, &log) == TM_LOG_FULL, "another result");
}

int main(void) {
    a_log_opens_on_a_full_disk(CRASH_ALL_LOST);
    a_log_opens_on_a_full_disk(CRASH_OF_PROCESS);
    it_is_over_when_there_is_room();
    a_new_log_on_a_full_disk_says_why_it_is_none();
    return 0;
}
