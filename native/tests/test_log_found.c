/* test_log_found.c - what crash points, power cuts and stress have found, each by itself: heads that never came to
 * disk, footers that went, a segment that was sealed while it was read.
 *
 * Law: what held nothing is not missed, what a checkpoint covers is missed when it is gone, and what is on disk when a
 * replay ends is in it.
 */
#include <string.h>

#include "faulty_disk.h"
#include "log/log.h"

#define SEGMENT_BYTES 16384U
#define BODY_BYTES 1000U
#define FIRST_DURABLE 1U
#define SECOND_DURABLE 2U

static tm_log *open_on(faulty_disk *disk) {
    tm_log_options options = {.bytes_max = 20 * SEGMENT_BYTES,
                              .segment_bytes = SEGMENT_BYTES,
                              .ring_bytes = 8192,
                              .hash_seed = 1,
                              .has_no_threads = 1};
    tm_log *log = NULL;
    CHECK(tm_log_open_on(&options, &disk->base, &log) == TM_OK, "opening");
    return log;
}

static uint64_t append(tm_log *log, uint32_t durable) {
    static const uint8_t body[BODY_BYTES];
    uint64_t n = 0;
    tm_log_entry entry = {
        .kind = TM_LOG_MESSAGE, .durables = &durable, .durable_count = 1, .body = body, .body_size = sizeof body};
    CHECK(tm_log_append(log, &entry, &n) == TM_OK && tm_log_commit(log) == TM_OK, "appending");
    return n;
}

static void maintain(tm_log *log) {
    uint32_t is_idle = 0;
    for (unsigned i = 0; i < 500 && !is_idle; i++) {
        tm_log_maintain(log, &is_idle);
    }
}

static void check_undamaged(tm_log *log, uint32_t calls) {
    tm_log_recovery recovery;
    tm_log_recovery_of(log, &recovery);
    CHECK(recovery.damages == 0 && tm_log_missing(log, NULL, 0) == 0, "damage is reported after a crash at call %u",
          calls);
}

/* ---- a head that is not written ---- */

typedef struct first_write {
    faulty_disk *disk;
    const tm_log *log;
} first_write;

static void fail_until_told(void *context) {
    const first_write *w = context;
    w->disk->fails_in = w->log->store->syncs_failed == 0;
}

/* The first write of a life fails, so its first segment has no head, and the second one is used. */
static void a_head_that_is_not_written_is_not_missed(void) {
    faulty_disk *disk = faulty_new(1);
    tm_log *log = open_on(disk);
    append(log, FIRST_DURABLE);
    maintain(log);
    faulty_disk *next = faulty_crash(disk, CRASH_ALL_KEPT, 2);
    tm_log_close(log);
    log = open_on(next);
    first_write failing = {next, log};
    next->before = fail_until_told;
    next->context = &failing;
    append(log, FIRST_DURABLE);
    CHECK(log->store->syncs_failed == 1, "no write failed");
    next->before = NULL;
    faulty_disk *last = faulty_crash(next, CRASH_ALL_KEPT, 3);
    tm_log_close(log);
    log = open_on(last);
    tm_log_recovery recovery;
    tm_log_recovery_of(log, &recovery);
    CHECK(recovery.damages == 0 && tm_log_missing(log, NULL, 0) == 0, "damage is reported, but there is none");
    tm_log_close(log);
}

/* ---- a head that is not synced ---- */

typedef struct nth_call {
    const faulty_disk *disk;
    uint32_t left;
    crash_kind kind;
    faulty_disk *then; /* what a process finds that starts after a crash before the call; owned */
} nth_call;

static void kill_at(void *context) {
    nth_call *call = context;
    if (call->left > 0 && --call->left == 0) {
        call->then = faulty_crash(call->disk, call->kind, call->disk->calls);
    }
}

/* A process is killed in the first commit of its life, the next one commits, and the power is cut. false: the commit
 * has not as many calls. Found by power cuts. */
static bool a_head_that_is_not_synced_is_not_missed(uint32_t calls) {
    faulty_disk *disk = faulty_new(calls);
    tm_log *log = open_on(disk);
    append(log, FIRST_DURABLE);
    maintain(log);
    faulty_disk *next = faulty_crash(disk, CRASH_ALL_KEPT, 2);
    tm_log_close(log);
    log = open_on(next);
    nth_call call = {next, calls, CRASH_OF_PROCESS, NULL};
    next->before = kill_at;
    next->context = &call;
    append(log, FIRST_DURABLE);
    next->before = NULL;
    tm_log_close(log);
    if (call.then == NULL) {
        return false;
    }
    log = open_on(call.then);
    append(log, FIRST_DURABLE);
    faulty_disk *last = faulty_crash(call.then, CRASH_ALL_LOST, 3);
    tm_log_close(log);
    log = open_on(last);
    check_undamaged(log, calls);
    tm_log_close(log);
    return true;
}

/* ---- a spare file that is not synced ---- */

/* The power is cut at some call of the first commit on a copy of a disk. false: the commit has not as many calls. */
static bool is_undamaged_after_a_cut(const faulty_disk *disk, uint32_t calls) {
    faulty_disk *copy = faulty_crash(disk, CRASH_OF_PROCESS, 1);
    tm_log *log = open_on(copy);
    nth_call call = {copy, calls, CRASH_ALL_LOST, NULL};
    copy->before = kill_at;
    copy->context = &call;
    append(log, FIRST_DURABLE);
    copy->before = NULL;
    tm_log_close(log);
    if (call.then == NULL) {
        return false;
    }
    log = open_on(call.then);
    check_undamaged(log, calls);
    append(log, FIRST_DURABLE);
    tm_log_close(log);
    return true;
}

/* A process is killed at some call of its first life, in which it makes spare files. false: it has not as many calls.
 * Found by crash points. */
static bool a_spare_file_that_is_not_synced_is_not_missed(uint32_t calls) {
    faulty_disk *disk = faulty_new(calls);
    nth_call call = {disk, calls, CRASH_OF_PROCESS, NULL};
    disk->before = kill_at;
    disk->context = &call;
    tm_log *log = open_on(disk);
    maintain(log);
    disk->before = NULL;
    tm_log_close(log);
    if (call.then == NULL) {
        return false;
    }
    uint32_t later = 1;
    while (is_undamaged_after_a_cut(call.then, later)) {
        later++;
    }
    tm_log_close(open_on(call.then));
    CHECK(later > 4, "a commit has %u calls", later - 1);
    return true;
}

/* ---- a footer that is lost ---- */

static void flip_bit(faulty_disk *disk, const char *name, uint64_t at) {
    for (uint32_t i = 0; i < FAULTY_FILES; i++) {
        if (disk->names[i].file >= 0 && strcmp(disk->names[i].name, name) == 0) {
            disk->files[disk->names[i].file].bytes->now[at] ^= 1;
            return;
        }
    }
    CHECK(false, "%s is missing", name);
}

/* The segment behind another goes; the power is cut, which takes the other's footer; its last batch loses a bit. */
static void a_batch_that_a_checkpoint_covers_is_missed(void) {
    faulty_disk *disk = faulty_new(1);
    tm_log *log = open_on(disk);
    while (log->store->segment_count < 2) { /* the last one of these is in the second */
        append(log, FIRST_DURABLE);
    }
    tm_log_done done = {.holder = FIRST_DURABLE, .first = tm_log_committed(log), .last = tm_log_committed(log)};
    while (log->store->segment_count < 3) {
        append(log, SECOND_DURABLE);
    }
    tm_log_entry ack = {.kind = TM_LOG_ACK, .body = &done, .body_size = sizeof done};
    uint64_t n;
    CHECK(tm_log_append(log, &ack, &n) == TM_OK, "acknowledging");
    done = (tm_log_done){.holder = SECOND_DURABLE, .last = n};
    CHECK(tm_log_append(log, &ack, &n) == TM_OK && tm_log_commit(log) == TM_OK, "acknowledging");
    maintain(log);
    append(log, FIRST_DURABLE);
    maintain(log); /* the next checkpoint: the folder is synced with it */
    const tm_segment *first = log->store->segments[0];
    CHECK(log->store->segments[1]->previous != first->serial, "the next segment still exists");
    CHECK(log->store->checkpoint_seq == log->store->seq, "no checkpoint");
    char name[TM_DISK_NAME_BYTES];
    tm_segment_name(name, first->first_n, first->serial);
    uint64_t at = first->used - 2 * SECTOR_BYTES;
    faulty_disk *next = faulty_crash(disk, CRASH_ALL_LOST, 2);
    tm_log_close(log);
    flip_bit(next, name, at);
    log = open_on(next);
    CHECK(tm_log_missing(log, NULL, 0) > 0, "a committed record is treated as a torn tail");
    tm_log_close(log);
}

/* ---- a segment that is sealed while it is read ---- */

static struct {
    const tm_disk_port *port;
    tm_log *log; /* NULL: nothing is appended */
} reading;

/* Read, and let the log go on to the next segment meanwhile. */
static int64_t read_while_the_log_goes_on(tm_disk *disk, int file, void *out, size_t size, uint64_t at) {
    tm_log *log = reading.log;
    reading.log = NULL;
    uint32_t count = log != NULL ? log->store->segment_count : 0;
    while (log != NULL && log->store->segment_count == count) {
        append(log, FIRST_DURABLE);
    }
    return reading.port->read(disk, file, out, size, at);
}

/* Found by a durable subscription that began with what was in the log, while others published. */
static void a_replay_has_what_a_segment_got_before_it_was_sealed(void) {
    faulty_disk *disk = faulty_new(1);
    tm_log *log = open_on(disk);
    uint64_t first = append(log, FIRST_DURABLE);
    tm_disk_port port = *disk->base.port;
    reading.port = disk->base.port;
    reading.log = log;
    port.read = read_while_the_log_goes_on;
    disk->base.port = &port;
    static uint8_t out[16 * SEGMENT_BYTES];
    tm_log_place place = {0};
    tm_log_replayed replayed = {0};
    uint64_t found = 0;
    while (!replayed.is_all) {
        size_t size = 0;
        CHECK(tm_log_replay(log, NULL, NULL, UINT32_MAX, &place, out, sizeof out, &size, &replayed) == TM_OK,
              "a replay");
        for (size_t used = 0; used < size; used += ((const tm_log_record *)(out + used))->size) {
            found++;
        }
    }
    CHECK(reading.log == NULL && log->store->segment_count > 1, "the segment was not sealed");
    uint64_t expected = tm_log_committed(log) - first + 1;
    CHECK(found == expected, "a replay has %d of %d records", (int)found, (int)expected);
    disk->base.port = reading.port;
    tm_log_close(log);
}

int main(void) {
    a_head_that_is_not_written_is_not_missed();
    uint32_t calls = 1;
    while (a_head_that_is_not_synced_is_not_missed(calls)) {
        calls++;
    }
    CHECK(calls > 4, "a commit has %u calls", calls - 1);
    calls = 1;
    while (a_spare_file_that_is_not_synced_is_not_missed(calls)) {
        calls++;
    }
    CHECK(calls > 4, "a first life has %u calls", calls - 1);
    a_batch_that_a_checkpoint_covers_is_missed();
    a_replay_has_what_a_segment_got_before_it_was_sealed();
    return 0;
}
