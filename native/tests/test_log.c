/* test_log.c - pieces of the log by themselves, a log with its threads on a real folder, and each allocation failing.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/tested.h"
#include "faulty_disk.h"
#include "log/crc.h"
#include "log_model.h"

#define SEGMENT_BYTES 16384U
#define NUMBERS 200U
#define MESSAGES 20000U
#define DURABLES_MAX 40U

/* ---- pieces ---- */

/* CRC-32C by its definition. */
static uint32_t crc_by_bits(uint32_t before, const uint8_t *at, size_t size) {
    uint32_t crc = ~before;
    for (size_t bit = 0; bit < size * 8; bit++) {
        uint32_t out = (crc ^ (uint32_t)(at[bit / 8] >> bit % 8)) & 1;
        crc = crc >> 1 ^ (out ? 0x82f63b78U : 0);
    }
    return ~crc;
}

static void check_sums(void) {
    CHECK(tm_crc(0, "123456789", 9) == 0xe3069283U, "not CRC-32C");
    CHECK(tm_crc(tm_crc(0, "1234", 4), "56789", 5) == 0xe3069283U, "wrong in two pieces");
    CHECK(tm_crc(0, "", 0) == 0, "the checksum of no bytes is not 0");
    uint8_t bytes[1200];
    dice d = {48};
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)below(&d, 256);
    }
    for (size_t size = 0; size <= sizeof bytes - 8; size++) { /* whatever is read at once */
        const uint8_t *at = bytes + size % 8;
        uint32_t before = (uint32_t)roll(&d);
        CHECK(tm_crc(before, at, size) == crc_by_bits(before, at, size), "%zu bytes", size);
    }
}

/* Ranges beside one bit a number. */
static void ranges_are_sets(uint64_t seed) {
    dice d = {seed};
    tm_memory memory = {0};
    tm_ranges set = {0};
    bool bits[NUMBERS] = {0};
    for (unsigned step = 0; step < 4000; step++) {
        uint64_t first = below(&d, NUMBERS);
        uint64_t last = first + below(&d, below(&d, 4) == 0 ? 40 : 3);
        last = last < NUMBERS ? last : NUMBERS - 1;
        bool adds = below(&d, 2) == 0;
        CHECK(adds ? tm_ranges_add(&set, &memory, first, last) : tm_ranges_cut(&set, &memory, first, last), "memory");
        memset(bits + first, adds, last - first + 1);
        for (uint32_t n = 0; n < NUMBERS; n++) {
            CHECK(tm_ranges_has(&set, n) == bits[n], "number %u", n);
        }
        for (uint32_t i = 1; i < set.count; i++) {
            CHECK(set.spans[i - 1].last + 1 < set.spans[i].first, "ranges touch");
        }
    }
    tm_ranges_free(&set, &memory);
    CHECK(memory.bytes == 0, "memory is left");
}

/* ---- a real folder, with threads ---- */

static tm_log *open_folder(const char *folder) {
    tm_log_options options = {.folder = folder,
                              .bytes_max = 256U << 20,
                              .segment_bytes = 1U << 20,
                              .ring_bytes = 1U << 20,
                              .checkpoint_ms = 20,
                              .scrub_bytes_per_s = 50U << 20};
    tm_log *log = NULL;
    CHECK(tm_log_open(&options, &log) == TM_OK, "opening %s", folder);
    return log;
}

static uint64_t append_for(tm_log *log, uint64_t count, uint16_t durable_count) {
    uint8_t body[150];
    uint32_t durables[DURABLES_MAX];
    for (uint32_t i = 0; i < DURABLES_MAX; i++) {
        durables[i] = 7 + i;
    }
    uint64_t n = 0;
    for (uint64_t i = 0; i < count;) {
        memset(body, (int)i, sizeof body);
        tm_log_entry entry = {.durables = durables,
                              .durable_count = durable_count,
                              .body = body,
                              .body_size = sizeof body,
                              .kind = TM_LOG_MESSAGE};
        int result = tm_log_append(log, &entry, &n);
        CHECK(result == TM_OK || result == TM_LOG_BUSY, "appending: %d", result);
        i += result == TM_OK;
        tm_log_flush(log);
        if (result == TM_LOG_BUSY) {
            usleep(100);
        }
    }
    while (tm_log_committed(log) < n) {
        usleep(100);
    }
    return n;
}

static uint64_t append_some(tm_log *log, uint64_t count) {
    return append_for(log, count, 1);
}

static uint64_t count_open(tm_log *log, uint64_t *last) {
    static uint64_t buffer[1 << 15];
    uint64_t after = 0;
    uint64_t count = 0;
    size_t size;
    do {
        CHECK(tm_log_read(log, 7, 0, after, buffer, sizeof buffer, &size) == TM_OK, "reading");
        for (size_t at = 0; at < size; count++) {
            const tm_log_record *record = (const tm_log_record *)((uint8_t *)buffer + at);
            CHECK(record->n > after, "numbers descend");
            after = record->n;
            at += record->size;
        }
    } while (size > 0);
    *last = after;
    return count;
}

static void acknowledge(tm_log *log, uint32_t holder, uint64_t last) {
    tm_log_done done = {.holder = holder, .last = last};
    tm_log_entry ack = {.kind = TM_LOG_ACK, .body = &done, .body_size = sizeof done};
    uint64_t n;
    CHECK(tm_log_append(log, &ack, &n) == TM_OK, "acknowledging");
    tm_log_flush(log);
}

/* Space follows what is open. */
static void wait_for_segments(tm_log *log, uint64_t most) {
    tm_log_state state;
    for (unsigned i = 0; i < 500; i++) {
        tm_log_state_of(log, &state);
        if (state.segments <= most) {
            break;
        }
        usleep(20000);
    }
    CHECK(state.segments <= most, "%lu segments are left", (unsigned long)state.segments);
}

static void a_folder_is_opened_again(void) {
    char folder[] = "/tmp/tamis-log-XXXXXX";
    char command[64];
    CHECK(mkdtemp(folder) != NULL, "no folder");
    tm_log *log = open_folder(folder);
    tm_log *second = NULL;
    tm_log_options options = {.folder = folder, .bytes_max = 8U << 20, .segment_bytes = 1U << 20, .ring_bytes = 8192};
    CHECK(tm_log_open(&options, &second) == TM_LOG_DISK, "a folder in use is opened");
    uint64_t last;
    uint64_t n = append_some(log, MESSAGES);
    CHECK(count_open(log, &last) == MESSAGES && last == n, "committed records are not read");
    uint64_t place = 0;
    uint32_t is_behind;
    tm_log_recent(log, &place, &is_behind);
    CHECK(is_behind, "the ring holds more than it can");
    acknowledge(log, 7, n - 100);
    tm_log_close(log);
    log = open_folder(folder);
    uint64_t open = count_open(log, &last);
    CHECK(open == 100, "%lu of 100 are read again", (unsigned long)open);
    wait_for_segments(log, 3);
    tm_log_state state;
    tm_log_state_of(log, &state);
    CHECK(count_open(log, &last) == 100 && state.missing == 0, "compaction loses records");
    CHECK(append_some(log, 1) > n, "a number is used twice");
    tm_log_close(log);
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0, "removing %s", folder);
}

/* More holders than records are no reason to copy what is open; when the last is done with, its space is free. */
static void what_many_wait_for_stays(void) {
    char folder[] = "/tmp/tamis-log-XXXXXX";
    char command[64];
    CHECK(mkdtemp(folder) != NULL, "no folder");
    tm_log *log = open_folder(folder);
    uint64_t n = append_for(log, MESSAGES / 4, DURABLES_MAX);
    tm_log_state state;
    for (unsigned i = 0; i < 30; i++) {
        usleep(10000);
        tm_log_state_of(log, &state);
        CHECK(state.copied == 0, "%lu records are copied, and all are open", (unsigned long)state.copied);
    }
    CHECK(state.segments > 3, "only %lu segments", (unsigned long)state.segments);
    for (uint64_t part = 1; part <= 5; part++) {
        for (uint32_t i = 0; i < DURABLES_MAX; i++) {
            acknowledge(log, 7 + i, n - (5 - part) * (MESSAGES / 4 / 5));
        }
        usleep(30000);
    }
    wait_for_segments(log, 3);
    tm_log_close(log);
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0, "removing %s", folder);
}

/* ---- allocations ---- */

/* Some work over which the `fail`-th allocation of the store fails. Returns whether it came to that. */
static bool fail_one(uint64_t fail) {
    dice d = {7};
    static model m;
    model_begin(&m);
    faulty_disk *disk = faulty_new(1);
    tm_log_options options = {.bytes_max = 20 * SEGMENT_BYTES,
                              .segment_bytes = SEGMENT_BYTES,
                              .ring_bytes = 8192,
                              .hash_seed = 1,
                              .fail_in = fail,
                              .has_no_threads = 1};
    tm_log *log = NULL;
    int result = tm_log_open_on(&options, &disk->base, &log);
    if (result != TM_OK) {
        CHECK(result == TM_NO_MEMORY, "opening: %d", result);
        return true;
    }
    uint32_t is_idle;
    uint64_t n = 0;
    for (unsigned step = 0; step < 300; step++) {
        tm_log_entry entry;
        model_record record;
        tm_log_done done;
        uint32_t holder;
        if (step % 5 == 4 && model_draw_ack(&m, &d, &done, &holder)) {
            entry = (tm_log_entry){.kind = TM_LOG_ACK, .body = &done, .body_size = sizeof done};
            if (tm_log_append(log, &entry, &n) == TM_OK) {
                model_ack(&m, holder, &done, n);
            }
        } else {
            model_draw(&m, &d, 1900, &entry, &record);
            if (tm_log_append(log, &entry, &n) == TM_OK) {
                model_add(&m, &record, &entry, n);
            }
        }
        result = tm_log_commit(log);
        CHECK(result == TM_OK || result == TM_NO_MEMORY || result == TM_ABSENT, "committing: %d", result);
        result = tm_log_maintain(log, &is_idle);
        CHECK(result == TM_OK || result == TM_NO_MEMORY, "tending: %d", result);
    }
    const char *reason = NULL;
    for (unsigned attempts = 0; attempts < 2; attempts++) {
        result = tm_log_commit(log);
    }
    reason = model_compare(&m, log, tm_log_committed(log), true, &n);
    CHECK(reason == NULL, "allocation %lu fails: %s (number %lx)", (unsigned long)fail, reason, (unsigned long)n);
    CHECK(tm_log_missing(log, NULL, 0) == 0, "records are missing");
    bool has_failed = log->store->memory.fail_in == 0;
    tm_log_close(log);
    return has_failed;
}

int main(void) {
    check_sums();
    for (uint64_t seed = 1; seed <= 3; seed++) {
        ranges_are_sets(seed);
    }
    a_folder_is_opened_again();
    what_many_wait_for_stays();
    uint64_t fail = 1;
    while (fail_one(fail)) {
        fail += fail < 60 ? 1 : fail / 20;
    }
    printf("up to allocation %lu failed in turn\n", (unsigned long)fail);
    return 0;
}
