/* test_log_cuts.c - truncated segments: each file of a log is cut at each sector, and one byte before and
 * behind it.
 *
 *     run_test_log_cuts [STEP [SEED]]      of the sectors, one in STEP is a cut
 *
 * Law: each committed record that is still needed is read unchanged or reported missing, whichever file was cut and
 * however the log ended. If the log knows how far a file was committed, it reports exactly the records that were cut
 * off. The cut file is set aside unchanged.
 */
#include <string.h>

#include "faulty_disk.h"
#include "log/checkpoint.h"
#include "log/log.h"

#define SEGMENT_BYTES 65536U
#define SEGMENTS 6U
#define FIRST_LIFE 3U /* segments of it */
#define BODY_MAX 2000U
#define DURABLES 2U
#define RECORDS_MAX 4000U
#define QUICK_STEP 16U

/* How the log ended before a file was cut. */
typedef enum {
    ENDED_CLOSED,
    ENDED_BEHIND_CHECKPOINT, /* killed when a checkpoint covered all of it */
    ENDED_PAST_CHECKPOINT,   /* killed in the segment in which the last checkpoint was written, a while later */
    ENDED_WITHOUT_ONE,       /* killed; no checkpoint knows of any segment */
    ENDINGS,
} ending;

/* A record that was committed. */
typedef struct written {
    uint64_t n;
    uint64_t serial; /* of its segment */
    uint64_t end;    /* of its record in the file */
    uint64_t seed;   /* of the body */
    uint32_t body_size;
    uint32_t durables; /* bits of the durable subscriptions that need it */
    bool may_come;     /* an ack is done with it */
    bool is_read;
} written;

typedef struct file_name {
    char name[TM_DISK_NAME_BYTES];
    char aside[TM_DISK_NAME_BYTES + sizeof TM_DISK_DAMAGED];
    uint64_t serial;
} file_name;

typedef struct world {
    dice dice;
    ending ending;
    faulty_disk *disk; /* what the log left; owned */
    written all[RECORDS_MAX];
    uint32_t count;
    file_name files[SEGMENTS + 2];
    uint32_t file_count;
    uint64_t cuts;
    uint64_t told;
    char at[64]; /* the current cut, for messages of failures */
} world;

static world w;

static tm_log *open_on(faulty_disk *disk) {
    tm_log_options options = {.bytes_max = 40 * SEGMENT_BYTES,
                              .segment_bytes = SEGMENT_BYTES,
                              .ring_bytes = 16384,
                              .hash_seed = 1,
                              .has_no_threads = 1};
    tm_log *log = NULL;
    CHECK(tm_log_open_on(&options, &disk->base, &log) == TM_OK, "opening");
    return log;
}

static void maintain(tm_log *log) {
    uint32_t is_idle = 0;
    for (unsigned i = 0; i < 500 && !is_idle; i++) {
        CHECK(tm_log_maintain(log, &is_idle) == TM_OK, "tending");
    }
}

/* ---- writing ---- */

static const uint8_t *body_of(const written *record) {
    static uint8_t body[BODY_MAX + 8];
    dice d = {record->seed};
    for (uint32_t i = 0; i < record->body_size; i += 8) {
        uint64_t word = roll(&d);
        memcpy(body + i, &word, sizeof word);
    }
    return body;
}

static void note(written record, uint64_t n) {
    CHECK(w.count < RECORDS_MAX, "too many records");
    record.n = n;
    w.all[w.count++] = record;
}

static void append_message(tm_log *log) {
    uint32_t durables[DURABLES];
    written record = {.seed = roll(&w.dice)};
    record.body_size = below(&w.dice, BODY_MAX);
    record.durables = 1 + below(&w.dice, 3);
    tm_log_entry entry = {
        .kind = TM_LOG_MESSAGE, .durables = durables, .body = body_of(&record), .body_size = record.body_size};
    for (uint32_t durable = 1; durable <= DURABLES; durable++) {
        if (record.durables >> (durable - 1) & 1) {
            durables[entry.durable_count++] = durable;
        }
    }
    uint64_t n;
    CHECK(tm_log_append(log, &entry, &n) == TM_OK, "appending");
    note(record, n);
}

/* The first durable subscription is done with a message; if the ack is lost, the message is read again. */
static void append_ack(tm_log *log) {
    written *done = &w.all[below(&w.dice, w.count)];
    tm_log_done range = {.holder = 1, .first = done->n, .last = done->n};
    tm_log_entry entry = {.kind = TM_LOG_ACK, .body = &range, .body_size = sizeof range};
    uint64_t n;
    CHECK(tm_log_append(log, &entry, &n) == TM_OK, "acknowledging");
    done->may_come = true;
    note((written){.body_size = sizeof range}, n);
}

/* Append one batch; its records are noted with their places. */
static void append_batch(tm_log *log) {
    uint32_t first = w.count;
    append_message(log);
    for (uint32_t more = below(&w.dice, 3); more > 0; more--) {
        if (below(&w.dice, 8) == 0) {
            append_ack(log);
        } else {
            append_message(log);
        }
    }
    CHECK(tm_log_commit(log) == TM_OK, "committing");
    const tm_segment *segment = log->store->open;
    uint64_t bytes = 0;
    for (uint32_t i = first; i < w.count; i++) {
        bytes += tm_record_bytes((uint32_t)__builtin_popcount(w.all[i].durables), 0, w.all[i].body_size);
    }
    uint64_t at = segment->used - tm_sectors(sizeof(tm_batch_head) + bytes) + sizeof(tm_batch_head);
    for (uint32_t i = first; i < w.count; i++) {
        at += tm_record_bytes((uint32_t)__builtin_popcount(w.all[i].durables), 0, w.all[i].body_size);
        w.all[i].serial = segment->serial;
        w.all[i].end = at;
    }
}

/* Write until this many segments exist and the last of them is at least half full. */
static void fill(tm_log *log, uint32_t segments) {
    while (log->store->segment_count < segments || log->store->open->used < SEGMENT_BYTES / 2) {
        append_batch(log);
    }
}

static void note_files(const tm_log *log) {
    w.file_count = log->store->segment_count;
    CHECK(w.file_count == SEGMENTS, "%u segments", w.file_count);
    for (uint32_t i = 0; i < w.file_count; i++) {
        file_name *file = &w.files[i];
        file->serial = log->store->segments[i]->serial;
        tm_segment_name(file->name, log->store->segments[i]->first_n, file->serial);
        char name[TM_DISK_NAME_BYTES];
        memcpy(name, file->name, sizeof name);
        snprintf(file->aside, sizeof file->aside, TM_DISK_DAMAGED "/%s", name);
    }
}

/* Write two lives; the first one is killed, so that one segment in the middle has no footer. */
static void write_all(ending how, uint64_t seed) {
    w = (world){.dice = {seed}, .ending = how};
    faulty_disk *disk = faulty_new(seed);
    tm_log *log = open_on(disk);
    fill(log, FIRST_LIFE);
    faulty_disk *next = faulty_crash(disk, CRASH_OF_PROCESS, seed);
    tm_log_close(log);
    log = open_on(next);
    fill(log, SEGMENTS);
    if (how == ENDED_BEHIND_CHECKPOINT || how == ENDED_PAST_CHECKPOINT) {
        CHECK(tm_checkpoint_write(log->store, false) == TM_OK, "no checkpoint");
    }
    for (uint32_t i = 0; i < 5 && how == ENDED_PAST_CHECKPOINT; i++) {
        append_batch(log);
    }
    if (how == ENDED_CLOSED) {
        tm_store_finish(log->store);
    }
    note_files(log);
    w.disk = faulty_crash(next, CRASH_ALL_KEPT, seed);
    tm_log_close(log);
}

/* ---- reports ---- */

static bool is_missing(tm_log *log, uint64_t n, uint64_t *numbers) {
    static tm_log_range ranges[256];
    size_t count = tm_log_missing(log, ranges, 256);
    CHECK(count <= 256, "%zu ranges", count);
    bool is_found = false;
    *numbers = 0;
    for (size_t i = 0; i < count; i++) {
        is_found = is_found || (n >= ranges[i].first && n <= ranges[i].last);
        *numbers += ranges[i].last - ranges[i].first + 1;
    }
    return is_found;
}

static written *find(uint64_t n) {
    for (uint32_t i = 0; i < w.count; i++) {
        if (w.all[i].n == n) {
            return &w.all[i];
        }
    }
    return NULL;
}

/* Read the records of a durable subscription, and mark them. */
static void read_all(tm_log *log, uint32_t durable) {
    static uint64_t buffer[1 << 13];
    uint64_t after = 0;
    size_t size;
    for (uint32_t i = 0; i < w.count; i++) {
        w.all[i].is_read = false;
    }
    do {
        CHECK(tm_log_read(log, durable, 0, after, buffer, sizeof buffer, &size) == TM_OK, "reading");
        for (size_t at = 0; at < size;) {
            const tm_log_record *record = (const tm_log_record *)((const uint8_t *)buffer + at);
            after = record->n;
            at += record->size;
            written *expected = find(record->n);
            CHECK(expected != NULL && expected->durables >> (durable - 1) & 1, "%lx belongs to another subscription",
                  (unsigned long)after);
            if (record->kind != TM_LOG_LOST) {
                expected->is_read = true;
                CHECK(record->body_size == expected->body_size &&
                          memcmp(tm_record_body(record), body_of(expected), record->body_size) == 0,
                      "%lx has another body", (unsigned long)after);
            }
        }
    } while (size > 0);
}

/* Each record is read or reported; returns how many numbers are reported. `*lost`: those of `file` that are cut off. */
static uint64_t judge(tm_log *log, const file_name *file, uint64_t size, uint64_t *lost) {
    uint64_t numbers = 0;
    *lost = 0;
    for (uint32_t durable = 1; durable <= DURABLES; durable++) {
        read_all(log, durable);
        *lost = 0;
        for (uint32_t i = 0; i < w.count; i++) {
            const written *record = &w.all[i];
            bool is_cut = record->serial == file->serial && record->end > size / SECTOR_BYTES * SECTOR_BYTES;
            bool is_told = is_missing(log, record->n, &numbers);
            bool is_due = record->durables >> (durable - 1) & 1 && !(record->may_come && durable == 1);
            CHECK(!is_cut || is_told, "%s: record %u is cut off and not reported missing", w.at, i);
            CHECK(!is_due || record->is_read || is_told, "%s: record %u is lost and not reported", w.at, i);
            CHECK(!record->is_read || !is_told, "%s: record %u is read and reported missing", w.at, i);
            *lost += is_cut;
        }
    }
    return numbers;
}

/* true if the committed end of a file is on disk outside the file itself. That of the last file is not, unless the log
 * was closed: more may have followed the last checkpoint. */
static bool is_known(const file_name *file) {
    bool is_last = file == &w.files[w.file_count - 1];
    return !is_last || w.ending == ENDED_CLOSED;
}

/* true if recovery cannot exclude that segments before a file are gone. The head of the file names the segment before
 * it. Without the head, the first number of the file must follow the last one of the file before, which is so except at
 * the first file of a life. */
static bool may_follow_others(const file_name *file, size_t size) {
    uint32_t i = (uint32_t)(file - w.files);
    return size < sizeof(tm_segment_head) && i % FIRST_LIFE == 0;
}

static void cut(const file_name *file, size_t size) {
    snprintf(w.at, sizeof w.at, "file %u cut at %zu", (unsigned)(file - w.files), size);
    static uint8_t before[SEGMENT_BYTES];
    faulty_disk *disk = faulty_crash(w.disk, CRASH_OF_PROCESS, 1);
    CHECK(size < faulty_find(disk, file->name)->size, "no cut");
    if (size > 0) {
        memcpy(before, faulty_find(disk, file->name)->bytes->now, size);
    }
    faulty_cut(disk, file->name, size);
    uint64_t lost;
    uint64_t again;
    tm_log *log = open_on(disk);
    tm_log_recovery recovery;
    tm_log_recovery_of(log, &recovery);
    uint64_t told = judge(log, file, size, &lost);
    CHECK(told == lost || (told > lost && !is_known(file)), "%s: %lu numbers are cut off, %lu reported", w.at,
          (unsigned long)lost, (unsigned long)told);
    CHECK(recovery.missing == told && (recovery.damages > 0 || told == 0), "the recovery reports other numbers");
    CHECK(recovery.lost_copies == 0 || may_follow_others(file, size), "%s: copies are lost, but none was made", w.at);
    maintain(log);
    const faulty_file *aside = faulty_find(disk, file->aside);
    CHECK(aside != NULL && faulty_find(disk, file->name) == NULL, "the file is not set aside");
    CHECK(aside->size == size && (size == 0 || memcmp(aside->bytes->now, before, size) == 0),
          "the file has other contents");
    CHECK(judge(log, file, size, &again) == told && again == lost, "the report differs after the file is set aside");
    tm_store_finish(log->store);
    faulty_disk *later = faulty_crash(disk, CRASH_ALL_LOST, 1);
    tm_log_close(log);
    log = open_on(later);
    CHECK(judge(log, file, size, &again) == told && again == lost, "the report differs at the next start");
    tm_log_close(log);
    w.cuts++;
    w.told += told > 0;
}

static void cut_each(uint32_t step) {
    for (uint32_t i = 0; i < w.file_count; i++) {
        size_t size = faulty_find(w.disk, w.files[i].name)->size;
        cut(&w.files[i], 100);
        for (size_t at = 0; at <= size; at += (size_t)SECTOR_BYTES * (at < SEGMENT_HEAD_BYTES ? 1 : step)) {
            for (int beside = -1; beside <= 1; beside++) {
                size_t place = at + (size_t)beside;
                if (place < size) { /* there is none before the first one */
                    cut(&w.files[i], place);
                }
            }
        }
    }
}

int main(int count, char **arguments) {
    uint32_t step = count > 1 ? (uint32_t)strtoul(arguments[1], NULL, 10) : QUICK_STEP;
    uint64_t seed = count > 2 ? strtoull(arguments[2], NULL, 10) : 1;
    CHECK(step > 0, "step");
    for (ending how = 0; how < ENDINGS; how++) {
        printf("seed %lu, ending %d: ", (unsigned long)seed, (int)how);
        fflush(stdout);
        write_all(how, seed);
        cut_each(step);
        printf("%lu cuts of %u files with %u records, %lu of them reported missing, 0 silent\n", (unsigned long)w.cuts,
               w.file_count, w.count, (unsigned long)w.told);
        w.disk->base.port->free(&w.disk->base);
    }
    return 0;
}
