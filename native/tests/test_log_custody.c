/* test_log_custody.c - chains in a log: versions of a folder, limits, and each failing allocation, write and sync.
 *
 * Law: what a commit has confirmed of a chain is there afterwards, whatever failed before it.
 */
#include <string.h>

#include "base/tested.h"
#include "faulty_disk.h"
#include "log/log.h"

#define SEGMENT_BYTES 16384U
#define ENTRY UINT64_C(0x1111)
#define HOME UINT64_C(0x2222)
#define DURABLE 7U

static tm_log_options options_of(uint64_t fail_in) {
    return (tm_log_options){.bytes_max = 80 * SEGMENT_BYTES,
                            .segment_bytes = SEGMENT_BYTES,
                            .ring_bytes = 8192,
                            .hash_seed = 1,
                            .fail_in = fail_in,
                            .has_no_threads = 1};
}

static int try_open(faulty_disk *disk, uint64_t fail_in, tm_log **log) {
    tm_log_options options = options_of(fail_in);
    *log = NULL;
    return tm_log_open_on(&options, &disk->base, log);
}

static tm_log *open_on(faulty_disk *disk) {
    tm_log *log;
    CHECK(try_open(disk, 0, &log) == TM_OK, "opening");
    return log;
}

static void maintain(tm_log *log) {
    uint32_t is_idle = 0;
    for (unsigned i = 0; i < 500 && !is_idle; i++) {
        tm_log_maintain(log, &is_idle);
    }
}

/* Append an entry and commit until it is on disk. Fails the test after 20 calls that fail in a row. */
static uint64_t put(tm_log *log, const tm_log_entry *entry) {
    uint64_t n = 0;
    int result = tm_log_append(log, entry, &n);
    for (int i = 0; i < 20 && (result == TM_LOG_BUSY || result == TM_LOG_FULL); i++) {
        tm_log_commit(log);
        maintain(log);
        result = tm_log_append(log, entry, &n);
    }
    CHECK(result == TM_OK, "appending kind %u: %d", entry->kind, result);
    for (int i = 0; i < 20 && tm_log_committed(log) < n; i++) {
        tm_log_commit(log);
        maintain(log);
    }
    CHECK(tm_log_committed(log) >= n, "record %lx is not on disk", (unsigned long)n);
    return n;
}

static tm_log_entry chain_entry(uint16_t kind, const tm_log_chain *said, tm_log_home *peer) {
    *peer = (tm_log_home){said->router, 0};
    return (tm_log_entry){.kind = kind, .homes = peer, .home_count = 1, .body = said, .body_size = sizeof *said};
}

static uint64_t put_chain(tm_log *log, uint16_t kind, tm_log_chain said) {
    tm_log_home peer;
    tm_log_entry entry = chain_entry(kind, &said, &peer);
    return put(log, &entry);
}

static uint64_t put_message(tm_log *log, uint64_t home, uint64_t from_router, uint64_t from_n) {
    static const uint8_t body[200];
    static const uint32_t durable = DURABLE;
    tm_log_home peer = {home, 0};
    tm_log_entry entry = {.kind = TM_LOG_MESSAGE,
                          .homes = &peer,
                          .home_count = home != 0,
                          .durables = &durable,
                          .durable_count = home == 0,
                          .from_router = from_router,
                          .from_n = from_n,
                          .body = body,
                          .body_size = sizeof body};
    return put(log, &entry);
}

static uint64_t put_given_up(tm_log *log, uint64_t home, uint64_t first, uint64_t last) {
    struct {
        tm_log_given_up head;
        tm_log_range range;
    } body = {{1, 2}, {first, last}};
    tm_log_home peer = {home, 0};
    tm_log_entry entry = {
        .kind = TM_LOG_GIVEN_UP, .homes = &peer, .home_count = 1, .body = &body, .body_size = sizeof body};
    return put(log, &entry);
}

static void forget(tm_log *log, uint64_t router, uint64_t is_home) {
    tm_log_done done = {.holder = router, .is_home = is_home};
    tm_log_entry entry = {.kind = TM_LOG_FORGET, .body = &done, .body_size = sizeof done};
    put(log, &entry);
}

static size_t open_of(tm_log *log, uint64_t home) {
    tm_log_summary summaries[64];
    size_t count = 0;
    int result = tm_log_summaries(log, home, 1, 0, summaries, 64, &count);
    result = result == TM_NO_MEMORY ? tm_log_summaries(log, home, 1, 0, summaries, 64, &count) : result;
    CHECK(result == TM_OK, "reading numbers: %d", result);
    return count;
}

/* Close a log, and return the disk as it is after that. */
static faulty_disk *ended(tm_log *log, faulty_disk *disk, crash_kind kind) {
    faulty_disk *next = faulty_crash(disk, kind, disk->calls);
    tm_log_close(log);
    return next;
}

/* ---- versions ---- */

static char *version_in(faulty_disk *disk, const char *beginning) {
    for (uint32_t i = 0; i < FAULTY_FILES; i++) {
        const faulty_name *at = &disk->names[i];
        if (at->file >= 0 && strncmp(at->name, beginning, strlen(beginning)) == 0 &&
            strcmp(at->name, "checkpoint.room") != 0) {
            return (char *)&disk->files[at->file].bytes->now[7];
        }
    }
    CHECK(false, "there is no %s", beginning);
}

static int result_of(const faulty_disk *disk, tm_fault fault) {
    tm_log *log;
    tm_fault before = tm_broken;
    tm_broken = fault;
    int result = try_open(faulty_crash(disk, CRASH_ALL_KEPT, 5), 0, &log);
    tm_log_close(log);
    tm_broken = before;
    return result;
}

/* A folder stays one of version 2 until a record of custody is written; then a program of version 2 refuses it, and
 * what it had is still there. When all of that has gone, it is of version 2 again. */
static void a_folder_is_newer_with_custody_alone(void) {
    faulty_disk *disk = faulty_new(1);
    tm_log *log = open_on(disk);
    put_message(log, 0, 0, 0);
    maintain(log);
    disk = ended(log, disk, CRASH_ALL_KEPT);
    CHECK(*version_in(disk, "segment") == '2' && *version_in(disk, "checkpoint") == '2', "version 3 without custody");
    CHECK(result_of(disk, TM_BREAK_KNOW_PLAIN_ONLY) == TM_OK, "an older program refuses what it knows");
    log = open_on(disk);
    put_chain(log, TM_LOG_CHAIN, (tm_log_chain){.router = ENTRY, .log = 5, .life = 6, .have = 7});
    disk = ended(log, disk, CRASH_ALL_KEPT);
    CHECK(result_of(disk, TM_BREAK_KNOW_PLAIN_ONLY) == TM_LOG_NEWER, "an older program reads chains");
    log = open_on(disk);
    maintain(log);
    tm_log_summary summary;
    size_t count = 0;
    CHECK(tm_log_summaries(log, DURABLE, 0, 0, &summary, 1, &count) == TM_OK && count == 1, "a message is gone");
    disk = ended(log, disk, CRASH_ALL_KEPT);
    CHECK(*version_in(disk, "checkpoint") == '3', "chains in a checkpoint of version 2");
    CHECK(result_of(disk, TM_BREAK_KNOW_PLAIN_ONLY) == TM_LOG_NEWER, "an older program reads chains");
    log = open_on(disk);
    forget(log, ENTRY, TM_LOG_ENTRY);
    put_message(log, 0, 0, 0);
    disk = ended(log, disk, CRASH_ALL_KEPT);
    log = open_on(disk);
    put_message(log, 0, 0, 0);
    maintain(log);
    disk = ended(log, disk, CRASH_ALL_KEPT);
    CHECK(*version_in(disk, "checkpoint") == '2', "a checkpoint of version 3 without chains");
    disk->base.port->free(&disk->base);
}

/* A segment or a checkpoint of version 4, sound as far as version 3 can tell, is refused; a bit that flips is not. */
static void a_later_version_is_refused(const char *name) {
    faulty_disk *disk = faulty_new(1);
    tm_log *log = open_on(disk);
    put_chain(log, TM_LOG_CHAIN, (tm_log_chain){.router = ENTRY, .log = 5});
    maintain(log);
    disk = ended(log, disk, CRASH_ALL_KEPT);
    char *version = version_in(disk, name); /* in bytes that no other disk has by now */
    *version = '4';
    CHECK(result_of(disk, TM_BREAK_NOTHING) == TM_OK, "a bit that has flipped in a %s makes a log unusable", name);
    bool is_segment = strcmp(name, "segment") == 0;
    uint8_t *bytes = (uint8_t *)version - 7;
    size_t crc_at = is_segment ? offsetof(tm_segment_head, crc) : 68;
    uint32_t crc = tm_crc(0, bytes, crc_at);
    crc = is_segment ? crc : tm_crc(crc, bytes + 72, faulty_find(disk, name)->size - 72);
    memcpy(bytes + crc_at, &crc, sizeof crc);
    CHECK(result_of(disk, TM_BREAK_NOTHING) == TM_LOG_NEWER, "a %s of version 4 is read", name);
    disk->base.port->free(&disk->base);
}

/* ---- limits ---- */

static void there_are_at_most_so_many_chains(void) {
    faulty_disk *disk = faulty_new(1);
    tm_log *log = open_on(disk);
    tm_log_chain said = {.log = 1};
    tm_log_home peer;
    uint64_t n;
    for (said.router = 1; said.router <= TM_LOG_CHAINS_MAX; said.router++) {
        tm_log_entry entry = chain_entry(TM_LOG_CHAIN, &said, &peer);
        int result = tm_log_append(log, &entry, &n);
        if (result == TM_LOG_BUSY) { /* the ring is full */
            put(log, &entry);
        }
        CHECK(result == TM_OK || result == TM_LOG_BUSY, "chain %lu: %d", (unsigned long)said.router, result);
    }
    tm_log_entry entry = chain_entry(TM_LOG_CHAIN, &said, &peer);
    CHECK(tm_log_append(log, &entry, &n) == TM_TOO_MANY, "one chain too many");
    put_chain(log, TM_LOG_CHAIN, (tm_log_chain){.router = 1, .log = 9});
    forget(log, 1, TM_LOG_ENTRY);
    CHECK(tm_log_append(log, &entry, &n) == TM_OK, "no chain in place of one that was deleted");
    CHECK(tm_log_chains(log, NULL, 0) == TM_LOG_CHAINS_MAX - 1, "a chain that is not on disk counts");
    tm_log_close(log);
}

static void what_is_no_record_of_its_kind_is_misused(void) {
    faulty_disk *disk = faulty_new(1);
    tm_log *log = open_on(disk);
    tm_log_chain said = {.router = HOME};
    tm_log_home peers[2] = {{HOME, 0}, {ENTRY, 0}};
    tm_log_given_up given_up[1] = {{.ranges = 1}};
    const tm_log_entry wrong[] = {
        {.kind = TM_LOG_CHAIN, .body = &said, .body_size = sizeof said},
        {.kind = TM_LOG_CHAIN, .homes = peers, .home_count = 2, .body = &said, .body_size = sizeof said},
        {.kind = TM_LOG_HOME_HAS, .homes = peers, .home_count = 1, .body = &said, .body_size = sizeof said - 8},
        {.kind = TM_LOG_GIVEN_UP, .homes = peers, .home_count = 1, .body = given_up, .body_size = sizeof given_up},
        {.kind = TM_LOG_GIVEN_UP, .homes = peers, .home_count = 1},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint64_t n;
        CHECK(tm_log_append(log, &wrong[i], &n) == TM_MISUSED, "entry %zu is accepted", i);
    }
    tm_log_close(log);
}

/* ---- each failure in turn ---- */

/* What a router does as an entry and as a home; the last numbers are returned in `had`. */
static void live(tm_log *log, uint64_t had[2]) {
    put_chain(log, TM_LOG_CHAIN, (tm_log_chain){.router = ENTRY, .log = 5, .life = 6});
    put_message(log, 0, ENTRY, 20);
    put_chain(log, TM_LOG_CHAIN, (tm_log_chain){.router = ENTRY, .log = 5, .life = 6, .have = 21, .lost = 3});
    uint64_t first = put_message(log, HOME, 0, 0);
    uint64_t second = put_message(log, HOME, 0, 0);
    put_given_up(log, HOME, first, second);
    uint64_t third = put_message(log, HOME, 0, 0);
    for (unsigned i = 0; i < 60; i++) { /* some segments, in which only the last number of HOME_HAS is open */
        put_chain(log, TM_LOG_HOME_HAS, (tm_log_chain){.router = HOME, .log = 8, .have = first - 1});
        put_message(log, 0, ENTRY, 22 + i);
    }
    had[0] = 22 + 59;
    had[1] = first - 1;
    CHECK(third > second, "numbers descend");
}

static void judge(tm_log *log, const uint64_t had[2], const char *when, uint64_t which) {
    tm_log_chain found[4];
    CHECK(tm_log_chains(log, found, 4) == 2, "%s %lu: not two chains", when, (unsigned long)which);
    tm_log_chain entry = {.router = ENTRY, .log = 5, .life = 6, .have = had[0], .lost = 3, .n = found[0].n};
    tm_log_chain home = {.router = HOME, .log = 8, .have = had[1], .is_home = 1, .n = found[1].n};
    CHECK(memcmp(&found[0], &entry, sizeof entry) == 0, "%s %lu: the chain of the entry", when, (unsigned long)which);
    CHECK(memcmp(&found[1], &home, sizeof home) == 0, "%s %lu: the chain of the home", when, (unsigned long)which);
    size_t count = open_of(log, HOME);
    CHECK(count == 2, "%s %lu: %zu records wait for the home, not a gap and a message", when, (unsigned long)which,
          count);
}

static void live_and_judge(faulty_disk *disk, uint64_t fail_in, const char *when, uint64_t which) {
    uint64_t had[2];
    tm_log *log;
    faulty_disk *spare = faulty_crash(disk, CRASH_ALL_KEPT, 1);
    if (try_open(disk, fail_in, &log) != TM_OK) {
        log = open_on(spare);
        disk = spare;
    } else {
        spare->base.port->free(&spare->base);
    }
    live(log, had);
    judge(log, had, when, which);
    disk = ended(log, disk, CRASH_ALL_LOST);
    if (try_open(faulty_crash(disk, CRASH_ALL_KEPT, 2), fail_in, &log) == TM_OK) {
        judge(log, had, when, which);
    }
    tm_log_close(log);
    log = open_on(disk);
    judge(log, had, when, which);
    tm_log_close(log);
}

typedef struct failing {
    faulty_disk *disk;
    uint64_t left;
    bool is_short;
    bool has_failed;
} failing;

/* Let one call fail, or be short, and the next ones not. */
static void fail_once(void *context) {
    failing *f = context;
    bool is_now = f->left > 0 && --f->left == 0;
    f->has_failed = f->has_failed || is_now;
    *(f->is_short ? &f->disk->short_in : &f->disk->fails_in) = is_now;
}

static uint64_t each_call_fails(bool is_short) {
    for (uint64_t which = 1;; which++) {
        faulty_disk *disk = faulty_new(which);
        failing f = {disk, which, is_short, false};
        disk->before = fail_once;
        disk->context = &f;
        live_and_judge(disk, 0, is_short ? "short call" : "failing call", which);
        if (!f.has_failed) {
            return which - 1;
        }
    }
}

static uint64_t each_allocation_fails(void) {
    uint64_t which = 0;
    for (uint64_t left = 0; left == 0;) {
        faulty_disk *disk = faulty_new(++which);
        tm_log *log;
        live_and_judge(disk, which, "failing allocation", which);
        disk = faulty_new(which);
        if (try_open(disk, which, &log) == TM_OK) {
            uint64_t had[2];
            live(log, had);
            left = log->store->memory.fail_in;
        }
        tm_log_close(log);
    }
    return which;
}

/* ---- a damaged checkpoint ---- */

/* The last record of a chain is copied behind messages that moved the chain on; then the checkpoint is cut. */
static void chains_are_found_without_a_checkpoint(void) {
    faulty_disk *disk = faulty_new(3);
    tm_log *log = open_on(disk);
    uint64_t had[2];
    live(log, had);
    tm_log_done done = {.holder = DURABLE, .last = tm_log_committed(log)};
    tm_log_entry ack = {.kind = TM_LOG_ACK, .body = &done, .body_size = sizeof done};
    put(log, &ack);
    for (int i = 0; i < 30; i++) {
        put_message(log, 0, ENTRY, 100 + (uint64_t)i);
        maintain(log);
    }
    had[0] = 129;
    CHECK(log->store->copied_records > 0, "nothing was copied");
    disk = ended(log, disk, CRASH_ALL_KEPT);
    faulty_cut(disk, "checkpoint", 100);
    log = open_on(disk);
    CHECK(log->store->recovery.no_checkpoint, "a checkpoint that was cut is read");
    judge(log, had, "without a checkpoint", 0);
    tm_log_close(log);
}

int main(void) {
    a_folder_is_newer_with_custody_alone();
    a_later_version_is_refused("segment");
    a_later_version_is_refused("checkpoint");
    there_are_at_most_so_many_chains();
    what_is_no_record_of_its_kind_is_misused();
    chains_are_found_without_a_checkpoint();
    uint64_t failing = each_call_fails(false);
    uint64_t shortened = each_call_fails(true);
    uint64_t allocations = each_allocation_fails();
    CHECK(failing > 100 && shortened > 100 && allocations > 20, "too few calls");
    printf("%lu failing calls of the disk, %lu short ones, %lu failing allocations\n", (unsigned long)failing,
           (unsigned long)shortened, (unsigned long)allocations);
    return 0;
}
