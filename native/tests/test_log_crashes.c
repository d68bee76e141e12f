/* test_log_crashes.c - a log over a faulty disk, crashed before every call that it makes of that disk.
 *
 *     run_test_log_crashes [POINTS [SEED [FAULT]]]      FAULT: one of tested.h, which must be found
 *     run_test_log_crashes POINTS SEED FAULT history    prints the records of custody and what each crash leaves of
 *                                                       them, for tests/native/log_judge.py, and judges nothing itself
 *
 * Law: each crash is recovered on a copy of the disk and judged by the model; now and then the copy goes on in place of
 * the log, so that crashes follow crashes. Without arguments the whole is short, and each planted fault is tried.
 */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/tested.h"
#include "faulty_disk.h"
#include "log_model.h"

#define SEGMENT_BYTES 16384U
#define RING_BYTES 8192U
#define BODY_MAX 1900U
#define EQUAL_BYTES 192U /* with its head a divisor of sectors: what is stale looks like what is new */
#define QUICK_POINTS 2000U
#define FAULT_POINTS 5000U
#define FAULT_SEEDS 12U
#define GOES_ON_IN 400U /* one crash of so many is the beginning of the next life */
#define FOUND 17        /* how a process ends that has found something wrong */

typedef struct world {
    dice dice;
    model model;
    faulty_disk *disk; /* of the log, which owns it */
    tm_log *log;       /* owned */
    uint64_t points;
    uint64_t points_max;
    uint64_t flips;
    uint64_t kinds[CRASH_KINDS];
    uint64_t given_up; /* records */
    uint64_t chained;
    faulty_disk *next; /* a crashed disk that goes on; owned */
    bool is_flipping;
    bool has_history;
} world;

static world w;

static _Noreturn void wrong(const char *what, uint64_t n, crash_kind kind) {
    printf("point %lu, crash %d: %s (number %lx)\n", (unsigned long)w.points, (int)kind, what, (unsigned long)n);
    fflush(NULL);
    _exit(FOUND);
}

static tm_log *open_on(faulty_disk *disk, const char **reason) {
    tm_log_options options = {.bytes_max = 20 * SEGMENT_BYTES,
                              .segment_bytes = SEGMENT_BYTES,
                              .ring_bytes = RING_BYTES,
                              .hash_seed = 1,
                              .has_no_threads = 1};
    tm_log *log = NULL;
    int result = tm_log_open_on(&options, &disk->base, &log);
    *reason = result == TM_OK ? NULL : "the log does not open";
    return log;
}

/* ---- history ---- */

/* One line: what it is, and numbers. */
static void tell(const char *what, const uint64_t *numbers, size_t count) {
    if (w.has_history) {
        printf("%s", what);
        for (size_t i = 0; i < count; i++) {
            printf(" %lu", (unsigned long)numbers[i]);
        }
        printf("\n");
    }
}
#define TELL(what, ...)                                                                                                \
    tell(what, (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void tell_entry(const tm_log_entry *entry, uint64_t n) {
    const tm_log_chain *chain = entry->body;
    uint64_t to[MODEL_HOMES + 2] = {n, entry->from_router, entry->from_n};
    switch (entry->kind) {
    case TM_LOG_MESSAGE:
        to[1] = entry->home_count > 0 ? entry->homes[0].router : 0;
        to[2] = entry->home_count > 1 ? entry->homes[1].router : 0;
        TELL("message", n, entry->from_router, entry->from_n, to[1], to[2]);
        break;
    case TM_LOG_GIVEN_UP: {
        const tm_log_given_up *head = entry->body;
        const uint64_t *numbers = (const uint64_t *)entry->body + 1 + 2 * (size_t)head->ranges;
        TELL("given_up", n, entry->homes->router);
        tell("numbers", numbers, head->numbers);
        break;
    }
    default:
        TELL(entry->kind == TM_LOG_CHAIN ? "chain" : "home_has", n, chain->router, chain->log, chain->life, chain->have,
             chain->lost, chain->doubts);
        break;
    }
}

static void tell_done(const tm_log_done *done, uint64_t n, bool is_forgotten) {
    if (done->is_home != 0) {
        TELL(is_forgotten ? "forgotten" : "done", n, done->holder, done->is_home, done->first, done->last);
    }
}

/* What a log has of custody. */
static void tell_found(const char *what, tm_log *log, uint64_t confirmed) {
    tm_log_chain chains[4 * MODEL_CHAINS];
    static tm_log_summary open[MODEL_RECORDS];
    size_t count = tm_log_chains(log, chains, 4 * MODEL_CHAINS);
    TELL(what, tm_log_committed(log), confirmed);
    for (size_t i = 0; i < count; i++) {
        const tm_log_chain *chain = &chains[i];
        TELL("has_chain", chain->is_home, chain->router, chain->log, chain->life, chain->have, chain->lost,
             chain->doubts);
    }
    for (uint32_t i = MODEL_HOLDERS - MODEL_HOMES; i < MODEL_HOLDERS && w.has_history; i++) {
        CHECK(tm_log_summaries(log, w.model.ids[i], 1, 0, open, MODEL_RECORDS, &count) == TM_OK, "no numbers");
        for (size_t at = 0; at < count; at++) {
            TELL("waits", w.model.ids[i], open[at].n);
        }
    }
    TELL("judge", w.model.ids[MODEL_HOLDERS - 2], w.model.ids[MODEL_HOLDERS - 1]);
}

/* ---- one crash ---- */

/* One more record: its number is new, and it is there. */
static const char *append_one(tm_log *log) {
    uint64_t n;
    tm_log_entry entry = {.kind = TM_LOG_GAP};
    int result = tm_log_append(log, &entry, &n);
    if (result == TM_LOG_FULL) {
        return NULL;
    }
    if (result != TM_OK || n <= w.model.highest) {
        return "a number that was used before";
    }
    result = tm_log_commit(log);
    return result == TM_OK || result == TM_LOG_FULL ? NULL : "a new log does not commit";
}

static const char *judge(tm_log *log, uint64_t confirmed, bool is_flipped, uint64_t *n) {
    tm_log_recovery recovery;
    tm_log_recovery_of(log, &recovery);
    *n = tm_log_committed(log);
    if (!is_flipped && (*n < confirmed)) {
        return "committed records are not on disk";
    }
    if (!is_flipped && (recovery.damages > 0 || tm_log_missing(log, NULL, 0) > 0)) {
        return "damage is reported, but there is none";
    }
    uint64_t committed = is_flipped ? w.model.highest : *n;
    const char *reason = model_compare(&w.model, log, committed, is_flipped, n);
    if (reason != NULL && is_flipped && recovery.lost_copies + log->store->recovery.lost_copies > 0) {
        reason = NULL; /* the log reports that records are lost, not which */
    }
    return reason == NULL ? append_one(log) : reason;
}

/* true if a program of version 2 refuses the disk: it reads the heads of all segments. */
static bool is_refused_by_older(const faulty_disk *disk) {
    for (uint32_t i = 0; i < FAULTY_FILES; i++) {
        const faulty_name *at = &disk->names[i];
        if (at->file >= 0 && strncmp(at->name, "segment", 7) == 0 && disk->files[at->file].size > 0 &&
            disk->files[at->file].bytes->now[7] == '3') {
            return true;
        }
    }
    return false;
}

/* Where there are chains, a program that knows none must not write; where nothing of custody ever was, it may. */
static const char *judge_version(tm_log *log, const faulty_disk *disk) {
    bool is_refused = is_refused_by_older(disk);
    if (tm_log_chains(log, NULL, 0) > 0 && !is_refused) {
        return "an older program does not refuse a log with chains";
    }
    return w.model.is_plain && is_refused ? "an older program refuses a log without custody" : NULL;
}

static void maintain_until_idle(tm_log *log) {
    uint32_t is_idle = 0;
    for (unsigned i = 0; i < 500 && !is_idle; i++) {
        tm_log_maintain(log, &is_idle);
    }
}

static void crash(crash_kind kind) {
    uint64_t n = 0;
    const char *reason;
    uint64_t confirmed = tm_log_committed(w.log);
    faulty_disk *disk = faulty_crash(w.disk, kind, roll(&w.dice));
    bool goes_on = below(&w.dice, GOES_ON_IN) == 0 && w.next == NULL;
    if (goes_on) {
        w.next = faulty_crash(disk, CRASH_OF_PROCESS, roll(&w.dice));
    }
    tm_log *log = open_on(disk, &reason);
    if (w.has_history && reason == NULL) {
        tell_found("crashed", log, confirmed);
    } else {
        reason = reason == NULL ? judge_version(log, disk) : reason;
        reason = reason == NULL ? judge(log, confirmed, false, &n) : reason;
    }
    if (reason != NULL) {
        wrong(reason, n, kind);
    }
    tm_log_close(log);
    w.points++;
    w.kinds[kind]++;
}

static void before_call(void *context) {
    (void)context;
    if (w.points < w.points_max) {
        crash(below(&w.dice, CRASH_KINDS));
    }
}

/* ---- bits that flip ---- */

/* Cut the end off some segment; false: there is none. */
static bool cut_some(faulty_disk *disk) {
    uint32_t start = below(&w.dice, FAULTY_FILES);
    for (uint32_t i = 0; i < FAULTY_FILES; i++) {
        const faulty_name *at = &disk->names[(start + i) % FAULTY_FILES];
        if (at->file >= 0 && strncmp(at->name, "segment", 7) == 0 && disk->files[at->file].size > 0) {
            faulty_cut(disk, at->name, below(&w.dice, (uint32_t)disk->files[at->file].size));
            return true;
        }
    }
    return false;
}

/* Everything is committed and in a checkpoint; then a disk loses what it held, and says nothing. */
static void flip(void) {
    static const char *const WHERE[] = {"segment", "segment", "segment", "segment", "checkpoint", "life"};
    uint64_t n = 0;
    const char *reason;
    while (tm_log_commit(w.log) == TM_OK) {
    }
    maintain_until_idle(w.log);
    bool is_waiting = tm_log_committed(w.log) != w.log->next_n - 1;        /* for a disk that is full */
    if (w.log->store->checkpoint_seq != w.log->store->seq || is_waiting) { /* or fails: it has no checkpoint */
        return;
    }
    faulty_disk *disk = faulty_crash(w.disk, CRASH_ALL_LOST, roll(&w.dice));
    const char *where = WHERE[below(&w.dice, 6)];
    for (uint32_t flips = 1 + below(&w.dice, 3); flips > 0; flips--) {
        bool is_cut = strcmp(where, "segment") == 0 && below(&w.dice, 8) == 0;
        if (!(is_cut ? cut_some(disk) : faulty_flip(disk, where))) {
            tm_log_close(open_on(disk, &reason));
            return;
        }
    }
    tm_log *log = open_on(disk, &reason);
    if (reason == NULL) {
        uint32_t is_through = 0;
        while (!is_through) {
            tm_log_scrub(log, UINT64_MAX, &is_through);
        }
        maintain_until_idle(log);
        reason = judge(log, 0, true, &n);
    }
    if (reason != NULL) {
        printf("bits of %s flipped; ", where);
        wrong(reason, n, CRASH_KINDS);
    }
    tm_log_close(log);
    w.flips++;
}

/* ---- the work ---- */

static void append(void) {
    tm_log_entry entry;
    model_record record;
    uint64_t n;
    model_draw(&w.model, &w.dice, BODY_MAX, &entry, &record);
    if (tm_log_append(w.log, &entry, &n) == TM_OK) {
        model_add(&w.model, &record, &entry, n);
        tell_entry(&entry, n);
    }
}

static void give_up(void) {
    tm_log_entry entry;
    model_record record;
    uint64_t n;
    if (model_draw_given_up(&w.model, &w.dice, &entry, &record) && tm_log_append(w.log, &entry, &n) == TM_OK) {
        model_add(&w.model, &record, &entry, n);
        tell_entry(&entry, n);
        w.given_up++;
    }
}

static void set_chain(void) {
    tm_log_entry entry;
    model_chain_event event;
    uint64_t n;
    if (model_draw_chain(&w.model, &w.dice, &entry, &event) && tm_log_append(w.log, &entry, &n) == TM_OK) {
        model_set_chain(&w.model, &event, n);
        tell_entry(&entry, n);
        w.chained++;
    }
}

static void end_chain(void) {
    tm_log_done done;
    model_chain_event event;
    uint64_t n;
    if (model_draw_chain_end(&w.model, &w.dice, &done, &event)) {
        tm_log_entry entry = {.kind = TM_LOG_FORGET, .body = &done, .body_size = sizeof done};
        if (tm_log_append(w.log, &entry, &n) == TM_OK) {
            model_end_chain(&w.model, &event, n);
            tell_done(&done, n, true);
        }
    }
}

static void set_policy(void) {
    tm_log_entry entry;
    model_event policy;
    uint64_t n;
    if (model_draw_policy(&w.model, &w.dice, &entry, &policy) && tm_log_append(w.log, &entry, &n) == TM_OK) {
        model_set_policy(&w.model, &policy, n);
    }
}

static void forget(void) {
    tm_log_done done;
    uint32_t holder;
    uint64_t n;
    if (model_draw_end(&w.model, &w.dice, &done, &holder)) {
        tm_log_entry entry = {.kind = TM_LOG_FORGET, .body = &done, .body_size = sizeof done};
        if (tm_log_append(w.log, &entry, &n) == TM_OK) {
            model_end(&w.model, holder, n);
            tell_done(&done, n, true);
        }
    }
}

static void acknowledge(void) {
    tm_log_done done;
    uint32_t holder;
    uint64_t n;
    if (model_draw_ack(&w.model, &w.dice, &done, &holder)) {
        tm_log_entry entry = {.kind = TM_LOG_ACK, .body = &done, .body_size = sizeof done};
        if (tm_log_append(w.log, &entry, &n) == TM_OK) {
            model_ack(&w.model, holder, &done, n);
            tell_done(&done, n, false);
        }
    }
}

static void begin(faulty_disk *disk) {
    const char *reason;
    w.disk = disk;
    w.log = open_on(disk, &reason);
    if (reason != NULL) {
        wrong(reason, 0, CRASH_KINDS);
    }
    disk->before = before_call;
    disk->short_in = below(&w.dice, 2) == 0 ? 8 : 0;
    disk->fails_in = below(&w.dice, 3) == 0 ? 100 : 0;
}

/* Another life: of the disk as it was at some call, or as it is after a crash now. */
static void end_life(crash_kind kind) {
    uint64_t confirmed = tm_log_committed(w.log);
    faulty_disk *disk = w.next != NULL ? w.next : faulty_crash(w.disk, kind, roll(&w.dice));
    bool is_later = w.next == NULL;
    w.next = NULL;
    tm_log_close(w.log);
    begin(disk);
    uint64_t n;
    const char *reason = NULL;
    if (is_later && tm_log_committed(w.log) < confirmed) {
        reason = "committed records are not on disk";
    }
    n = tm_log_committed(w.log);
    if (w.has_history) {
        model_lose(&w.model, n);
        tell_found("began", w.log, is_later ? confirmed : 0);
        return;
    }
    if (reason == NULL && (w.log->store->recovery.damages > 0 || tm_log_missing(w.log, NULL, 0) > 0)) {
        reason = "damage, where nothing was damaged, in the next life";
    }
    reason = reason == NULL ? model_compare(&w.model, w.log, n, false, &n) : reason;
    if (reason != NULL) {
        wrong(reason, n, kind);
    }
    model_lose(&w.model, tm_log_committed(w.log));
}

static void step(void) {
    uint32_t what = below(&w.dice, 100);
    uint32_t is_idle;
    if (what < 42) {
        append();
    } else if (what < 48) {
        set_chain();
    } else if (what < 49) {
        set_policy();
    } else if (what < 50) {
        give_up();
    } else if (what < 70 && below(&w.dice, 150) == 0) {
        forget();
    } else if (what < 70 && below(&w.dice, 400) == 0) {
        end_chain();
    } else if (what < 70) {
        acknowledge();
    } else if (what < 84) {
        tm_log_commit(w.log);
    } else if (what < 98) {
        tm_log_maintain(w.log, &is_idle);
    } else if (below(&w.dice, 4) == 0) {
        w.disk->is_full = !w.disk->is_full;
    } else if (w.is_flipping) {
        flip();
    }
    if (w.next != NULL) {
        end_life(CRASH_KINDS);
    } else if (w.log->store->is_failed) { /* by a batch, or by copies: nothing goes on before the next life */
        end_life(below(&w.dice, CRASH_OF_PROCESS));
    }
    if (w.model.count > 400 || w.model.chain_event_count > MODEL_CHAIN_EVENTS / 2) {
        model_cut(&w.model, tm_log_committed(w.log));
        for (uint32_t i = 0; i < 40 && w.model.count > 300; i++) {
            acknowledge();
            tm_log_commit(w.log);
        }
    }
}

static void run(uint64_t seed, uint64_t points, bool is_flipping, bool has_history) {
    w = (world){.dice = {seed}, .points_max = points, .is_flipping = is_flipping, .has_history = has_history};
    model_begin(&w.model);
    w.model.body_bytes = seed % 2 == 0 ? EQUAL_BYTES : 0;
    w.model.is_plain = seed % 4 == 0;
    begin(faulty_new(seed));
    while (w.points < points) {
        step();
    }
    tm_log_close(w.log);
    if (w.next != NULL) {
        w.next->base.port->free(&w.next->base);
    }
}

/* Does a process with the fault planted find something wrong? */
static bool finds(tm_fault fault, uint64_t seed) {
    pid_t child = fork();
    CHECK(child >= 0, "no process");
    if (child == 0) {
        CHECK(freopen("/dev/null", "w", stderr) != NULL, "cannot redirect the output of sanitizers");
        tm_broken = fault;
        run(seed, FAULT_POINTS, true, false);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child, "no process");
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

int main(int count, char **arguments) {
    uint64_t points = count > 1 ? strtoull(arguments[1], NULL, 10) : QUICK_POINTS;
    uint64_t seed = count > 2 ? strtoull(arguments[2], NULL, 10) : 1;
    if (count > 3) {
        tm_broken = (tm_fault)atoi(arguments[3]);
    }
    if (count > 4) {
        run(seed, points, false, true);
        return 0;
    }
    run(seed, points, true, false);
    printf("seed %lu: %lu crash points, %lu flips, %lu records of chains, %lu that give up\n", (unsigned long)seed,
           (unsigned long)w.points, (unsigned long)w.flips, (unsigned long)w.chained, (unsigned long)w.given_up);
    for (int fault = 1; fault < TM_BREAKS_OF_LOG && count == 1; fault++) {
        bool is_found = false;
        for (uint64_t each = 1; each <= FAULT_SEEDS && !is_found; each++) {
            printf("planted fault %d, seed %lu: ", fault, (unsigned long)each);
            fflush(stdout); /* before a process is made that has a copy of it */
            is_found = finds((tm_fault)fault, each);
            printf("%s\n", is_found ? "found" : "not found");
        }
        CHECK(is_found, "planted fault %d is not found", fault);
    }
    return 0;
}
