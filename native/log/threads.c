/* threads.c - the threads of a log, and functions for other threads.
 *
 * Law: the committer uses no timer: it writes what arrived while it wrote, and sleeps if nothing did. The maintenance
 * thread works a piece at a time and waits in between, for a while or until it is woken. The reading thread answers one
 * request after another.
 */
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "log/log.h"
#include "log/maintain.h"
#include "log/read.h"
#include "log/spares.h"
#include "log/threads.h"

#define MAINTAIN_MS 100 /* between checks for maintenance */
#define NS_OF_MS UINT64_C(1000000)

/* ---- the committer ---- */

static void sleep_until_called(tm_log *log) {
    atomic_store_explicit(&log->is_asleep, true, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    bool has_more = atomic_load(&log->appended) != atomic_load(&log->committed);
    bool is_stuck = atomic_load(&log->is_stuck) || atomic_load(&log->is_failed);
    if ((has_more && !is_stuck) || atomic_load(&log->is_ending)) {
        atomic_store(&log->is_asleep, false);
        return;
    }
    eventfd_t calls;
    eventfd_read(log->wakes[0], &calls);
    atomic_store(&log->is_asleep, false);
}

static void *commit_all(void *given) {
    tm_log *log = given;
    while (!atomic_load(&log->is_ending)) {
        uint32_t spares = tm_store_spares(log->store);
        if (tm_log_commit(log) != TM_OK) {
            sleep_until_called(log);
        }
        if (tm_store_spares(log->store) < spares || atomic_load(&log->is_freeing)) {
            tm_log_wake(log, 1);
        }
    }
    return NULL;
}

/* ---- the maintenance thread ---- */

void tm_log_release(tm_log *log) {
    tm_store *store = log->store;
    pthread_mutex_lock(&store->state);
    store->is_held = false;
    pthread_mutex_unlock(&store->state);
    tm_log_wake(log, 1);
}

int tm_log_maintain(tm_log *log, uint32_t *is_idle) {
    bool idle;
    int result = tm_store_maintain(log->store, true, &idle);
    *is_idle = idle;
    tm_log_tell_room(log);
    return result;
}

int tm_log_scrub(tm_log *log, uint64_t bytes, uint32_t *is_through) {
    bool through;
    int result = tm_store_scrub(log->store, bytes, &through);
    *is_through = through;
    return result;
}

static void wait_for_work(tm_log *log) {
    struct pollfd called = {.fd = log->wakes[1], .events = POLLIN};
    eventfd_t calls;
    if (poll(&called, 1, MAINTAIN_MS) > 0) {
        eventfd_read(log->wakes[1], &calls);
    }
}

/* Return how long the scrubber pauses after this many bytes. */
static uint64_t pause_ns(const tm_log *log, uint64_t bytes) {
    return log->scrub_bytes_per_s > 0 ? bytes * (NS_OF_MS * 1000) / log->scrub_bytes_per_s : 0;
}

static void *maintain_all(void *given) {
    tm_log *log = given;
    uint64_t checkpoint_at = tm_clock_ns() + log->checkpoint_ms * NS_OF_MS;
    uint64_t scrub_at = tm_clock_ns() + pause_ns(log, log->store->segment_bytes);
    while (!atomic_load(&log->is_ending)) {
        uint64_t now = tm_clock_ns();
        bool is_due = now >= checkpoint_at;
        bool is_idle = true;
        int result = tm_store_maintain(log->store, is_due, &is_idle);
        checkpoint_at = is_due ? now + log->checkpoint_ms * NS_OF_MS : checkpoint_at;
        tm_log_tell_room(log);
        if (atomic_load(&log->is_stuck)) {
            atomic_store(&log->is_asleep, false);
            tm_log_wake(log, 0);
        }
        if (log->scrub_bytes_per_s > 0 && now >= scrub_at) {
            uint64_t before = log->store->scrubbed_bytes;
            bool is_through;
            tm_store_scrub(log->store, 1, &is_through);
            uint64_t bytes = log->store->scrubbed_bytes - before;
            scrub_at = now + (is_through ? NS_OF_MS * 1000 : pause_ns(log, bytes));
        }
        if (is_idle || result != TM_OK) {
            wait_for_work(log);
        }
    }
    return NULL;
}

/* ---- the reading thread ---- */

static void *answer_all(void *given) {
    tm_log *log = given;
    tm_asks *asks = &log->asks;
    for (;;) {
        pthread_mutex_lock(&asks->lock);
        while (asks->waiting.count == 0 && !asks->is_ending) {
            pthread_cond_wait(&asks->is_called, &asks->lock);
        }
        bool is_ending = asks->is_ending;
        pthread_mutex_unlock(&asks->lock);
        if (is_ending) {
            return NULL;
        }
        tm_log_serve(log);
    }
}

/* ---- all of them ---- */

static void *(*const WORK[])(void *) = {commit_all, maintain_all, answer_all};

/* End the first `count` threads. */
static void end_some(tm_log *log, unsigned count) {
    atomic_store(&log->is_ending, true);
    tm_log_wake(log, 0);
    tm_log_wake(log, 1);
    pthread_mutex_lock(&log->asks.lock);
    log->asks.is_ending = true;
    pthread_cond_signal(&log->asks.is_called);
    pthread_mutex_unlock(&log->asks.lock);
    for (unsigned i = 0; i < count; i++) {
        pthread_join(log->threads[i], NULL);
    }
}

bool tm_log_start_threads(tm_log *log) {
    for (unsigned i = 0; i < THREADS; i++) {
        if (pthread_create(&log->threads[i], NULL, WORK[i], log) != 0) {
            end_some(log, i);
            return false;
        }
    }
    return true;
}

void tm_log_end_threads(tm_log *log) {
    end_some(log, THREADS);
}

/* ---- functions for other threads ---- */

int tm_log_read(tm_log *log, uint64_t holder, uint32_t is_home, uint64_t after, void *out, size_t capacity,
                size_t *size) {
    return tm_store_read(log->store, tm_claim_of(holder, is_home), after, out, capacity, size);
}

int tm_log_summaries(tm_log *log, uint64_t holder, uint32_t is_home, uint64_t after, tm_log_summary *out,
                     size_t capacity, size_t *count) {
    return tm_store_summaries(log->store, tm_claim_of(holder, is_home), after, out, capacity, count);
}

size_t tm_log_done_with(tm_log *log, uint64_t holder, uint32_t is_home, uint64_t *done, tm_log_range *out,
                        size_t capacity) {
    tm_store *store = log->store;
    tm_claim of = tm_claim_of(holder, is_home);
    pthread_mutex_lock(&store->state);
    const tm_log_holder *known = tm_log_holders_find(&store->holders, of.holder, of.role);
    size_t count = known != NULL ? known->above.count : 0;
    *done = known != NULL ? known->done : 0;
    for (size_t i = 0; i < count && i < capacity; i++) {
        out[i] = (tm_log_range){known->above.spans[i].first, known->above.spans[i].last};
    }
    pthread_mutex_unlock(&store->state);
    return count;
}

size_t tm_log_missing(tm_log *log, tm_log_range *out, size_t capacity) {
    tm_store *store = log->store;
    pthread_mutex_lock(&store->state);
    size_t count = store->missing.count;
    for (size_t i = 0; i < count && i < capacity; i++) {
        out[i] = (tm_log_range){store->missing.spans[i].first, store->missing.spans[i].last};
    }
    pthread_mutex_unlock(&store->state);
    return count;
}

static uint64_t asked_bytes(tm_log *log) {
    pthread_mutex_lock(&log->asks.lock);
    uint64_t bytes = log->asks.memory.bytes;
    pthread_mutex_unlock(&log->asks.lock);
    return bytes;
}

void tm_log_state_of(tm_log *log, tm_log_state *state) {
    tm_store *store = log->store;
    pthread_mutex_lock(&store->state);
    *state = (tm_log_state){.log_id = store->log_id,
                            .life = store->life,
                            .life_before = store->life_before,
                            .appended = log->next_n - 1,
                            .committed = tm_log_committed(log),
                            .batches = atomic_load(&log->batches),
                            .batch_bytes = store->batch_bytes,
                            .syncs_failed = store->syncs_failed,
                            .segments = store->segment_count,
                            .spare = store->spare_count,
                            .disk_bytes = tm_store_disk_bytes(store),
                            .holders = store->holders.known,
                            .copied = store->copied_records,
                            .scrubbed_bytes = store->scrubbed_bytes,
                            .damaged = store->damaged,
                            .set_aside = store->set_aside,
                            .memory_bytes = store->memory.bytes + log->memory.bytes + asked_bytes(log),
                            .commit_ns = atomic_load(&log->commit_ns),
                            .is_full = store->is_full,
                            .is_failed = store->is_failed,
                            .disk_error = (uint64_t)tm_store_disk_error(store)};
    state->is_disk_full = tm_disk_is_full(-(int)state->disk_error);
    for (uint32_t i = 0; i < store->missing.count; i++) {
        state->missing += store->missing.spans[i].last - store->missing.spans[i].first + 1;
    }
    pthread_mutex_unlock(&store->state);
}

void tm_log_recovery_of(const tm_log *log, tm_log_recovery *recovery) {
    *recovery = log->store->recovery;
}
