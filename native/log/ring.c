/* ring.c - the two sides of the ring: one appends records, one commits them. See log.h. */
#include <string.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/tested.h"
#include "log/append.h"
#include "log/log.h"
#include "log/maintain.h"

void tm_log_wake(tm_log *log, unsigned which) {
    eventfd_write(log->wakes[which], 1);
}

/* ---- the appending side ---- */

/* true if a record frees messages and leaves little open itself. Such records may use the reserved segments. `durables`
 * are its holders. */
static bool lets_go(uint32_t kind, uint32_t body_size, const uint32_t *durables, uint32_t durable_count) {
    bool is_loss = kind == TM_LOG_DEAD_LETTER && body_size <= TM_LOG_LOSS_BYTES_MAX &&
                   (durable_count == 0 || (durable_count == 1 && durables[0] == TM_LOG_LOSS_DURABLE));
    return kind == TM_LOG_ACK || kind == TM_LOG_GAP || kind == TM_LOG_FORGET || kind == TM_LOG_HOME_HAS || is_loss;
}

static bool entry_lets_go(const tm_log_entry *entry) {
    return lets_go(entry->kind, entry->body_size, entry->durables, entry->durable_count);
}

static bool record_lets_go(const tm_log_record *record) {
    return lets_go(record->kind, record->body_size, tm_record_durables(record), record->durables);
}

static uint64_t weight_of(const tm_log_entry *entry, uint64_t size) {
    return size + tm_footer_share((uint64_t)entry->durable_count + entry->home_count);
}

/* true if there is room for a message of this weight behind all that waits, without using the reserve. */
static bool has_message_room(const tm_log *log, uint64_t weight) {
    uint64_t waits = log->appended_weight - atomic_load_explicit(&log->committed_weight, memory_order_acquire);
    return waits + weight <= atomic_load_explicit(&log->message_room, memory_order_relaxed);
}

static bool waits_for_disk(const tm_log *log) {
    return atomic_load_explicit(&log->appended, memory_order_relaxed) !=
           atomic_load_explicit(&log->committed, memory_order_acquire);
}

static int refusal(const tm_log *log, const tm_log_entry *entry, uint64_t weight) {
    if (atomic_load_explicit(&log->is_failed, memory_order_relaxed)) {
        return TM_LOG_FAILED;
    }
    bool is_message = !entry_lets_go(entry);
    bool is_full = is_message ? atomic_load_explicit(&log->is_full, memory_order_relaxed)
                              : atomic_load_explicit(&log->is_full_of_all, memory_order_relaxed);
    if (!is_full && (!is_message || has_message_room(log, weight))) {
        return TM_OK;
    }
    return tm_log_is_freeing(log) || (!is_full && waits_for_disk(log)) ? TM_LOG_BUSY : TM_LOG_FULL;
}

static void write_record(uint8_t *at, const tm_log_entry *entry, uint32_t size, uint64_t n) {
    tm_log_record *record = (tm_log_record *)at;
    memset(at + size - 8, 0,
           8); /* the padding behind the body; that behind an odd number of holders is cleared below */
    *record = (tm_log_record){.size = size,
                              .n = n,
                              .t_us = entry->t_us,
                              .from_router = entry->from_router,
                              .from_n = entry->from_n,
                              .body_size = entry->body_size,
                              .kind = entry->kind,
                              .durables = entry->durable_count,
                              .homes = entry->home_count,
                              .flags = entry->flags};
    uint32_t *durables = (uint32_t *)(record + 1);
    if (entry->durable_count > 0) {
        durables[(entry->durable_count - 1U) / 2 * 2 + 1] = 0;
        memcpy(durables, entry->durables, entry->durable_count * sizeof *durables);
    }
    if (entry->home_count > 0) {
        memcpy((void *)(uintptr_t)tm_record_homes(record), entry->homes, entry->home_count * sizeof *entry->homes);
    }
    if (entry->body_size > 0) {
        memcpy((void *)(uintptr_t)tm_record_body(record), entry->body, entry->body_size);
    }
}

static bool is_chain(const tm_log_entry *entry) {
    return entry->kind == TM_LOG_CHAIN || entry->kind == TM_LOG_HOME_HAS;
}

/* true if the holders and the body of an entry are those of its kind. */
static bool is_sound(const tm_log_entry *entry) {
    bool has_peer = entry->durable_count == 0 && entry->home_count == 1;
    bool is_right = true;
    if (entry->kind == TM_LOG_DURABLE) {
        is_right = entry->durable_count == 1 && entry->home_count == 0;
    } else if (is_chain(entry)) {
        is_right = has_peer && entry->body_size == sizeof(tm_log_chain);
    } else if (entry->kind == TM_LOG_GIVEN_UP) {
        tm_log_given_up given_up = {0};
        is_right = has_peer && entry->body_size >= sizeof given_up;
        memcpy(&given_up, is_right ? entry->body : &given_up, sizeof given_up);
        is_right = is_right && given_up.numbers <= TM_LOG_NUMBERS_MAX &&
                   given_up.ranges <= (entry->body_size - sizeof given_up) / sizeof(tm_log_range);
    }
    return is_right && entry->kind != 0 && entry->home_count <= TM_LOG_HOMES_MAX;
}

/* Reserve the place of the chain that an entry is about. TM_OK, TM_TOO_MANY, or TM_LOG_BUSY: no memory now. */
static int expect_chain(tm_log *log, const tm_log_entry *entry) {
    tm_store *store = log->store;
    uint32_t is_home = entry->kind == TM_LOG_HOME_HAS;
    pthread_mutex_lock(&store->state);
    bool is_known = tm_chains_find(&store->chains, entry->homes->router, is_home) != NULL;
    int result = !is_known && store->chains.count >= TM_LOG_CHAINS_MAX              ? TM_TOO_MANY
                 : tm_chains_reserve(&store->chains, entry->homes->router, is_home) ? TM_OK
                                                                                    : TM_LOG_BUSY;
    pthread_mutex_unlock(&store->state);
    return result;
}

int tm_log_append(tm_log *log, const tm_log_entry *entry, uint64_t *n) {
    uint64_t size = tm_record_bytes(entry->durable_count, entry->home_count, entry->body_size);
    if (!is_sound(entry)) {
        return TM_MISUSED;
    }
    if (size > log->record_bytes_max || log->next_n >> COUNTER_BITS != log->store->life) {
        return TM_TOO_MANY;
    }
    uint64_t weight = weight_of(entry, size);
    int refused = refusal(log, entry, weight);
    refused = refused == TM_OK && is_chain(entry) ? expect_chain(log, entry) : refused;
    if (refused != TM_OK) {
        return refused;
    }
    uint64_t at = atomic_load_explicit(&log->appended, memory_order_relaxed);
    uint64_t committed = atomic_load_explicit(&log->committed, memory_order_acquire);
    uint64_t place = at & (log->ring_bytes - 1);
    uint64_t filler = size > log->ring_bytes - place ? log->ring_bytes - place : 0;
    if (at + filler + size - committed > log->ring_bytes) {
        return TM_LOG_BUSY;
    }
    if (filler > 0) {
        *(uint32_t *)(log->ring + place) = RING_FILLER | (uint32_t)filler;
        at += filler;
        place = 0;
    }
    write_record(log->ring + place, entry, (uint32_t)size, log->next_n);
    *n = log->next_n++;
    log->appended_weight += weight;
    log->letting_go_to = entry_lets_go(entry) ? at + size : log->letting_go_to;
    atomic_store_explicit(&log->appended, at + size, memory_order_release);
    return TM_OK;
}

uint64_t tm_log_next(const tm_log *log) {
    return log->next_n;
}

uint32_t tm_log_is_freeing(const tm_log *log) {
    bool is_scarce = atomic_load_explicit(&log->is_scarce, memory_order_relaxed);
    bool is_letting_go = log->letting_go_to > atomic_load_explicit(&log->committed, memory_order_acquire) &&
                         !atomic_load_explicit(&log->is_stuck, memory_order_relaxed);
    return is_scarce && (is_letting_go || atomic_load_explicit(&log->is_freeing, memory_order_relaxed)) &&
           !atomic_load_explicit(&log->is_failed, memory_order_relaxed);
}

uint32_t tm_log_is_behind(const tm_log *log, uint64_t bytes) {
    uint64_t waits = atomic_load_explicit(&log->appended, memory_order_relaxed) -
                     atomic_load_explicit(&log->committed, memory_order_acquire);
    bool is_short = waits + bytes > log->ring_bytes || !has_message_room(log, 2 * (uint64_t)log->record_bytes_max);
    bool is_written = waits > 0 && !atomic_load_explicit(&log->is_full, memory_order_relaxed) &&
                      !atomic_load_explicit(&log->is_failed, memory_order_relaxed);
    return (is_short && is_written) || tm_log_is_freeing(log);
}

bool tm_log_is_tight(const tm_log *log) {
    return atomic_load_explicit(&log->is_tight, memory_order_relaxed);
}

size_t tm_log_append_many(tm_log *log, const tm_log_entry *entries, size_t count, uint64_t *n, int *result) {
    size_t appended = 0;
    *result = TM_OK;
    while (appended < count && *result == TM_OK) {
        *result = tm_log_append(log, &entries[appended], n);
        appended += *result == TM_OK;
    }
    tm_log_flush(log);
    return appended;
}

void tm_log_flush(tm_log *log) {
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&log->is_asleep, memory_order_relaxed) &&
        atomic_exchange_explicit(&log->is_asleep, false, memory_order_acq_rel)) {
        tm_log_wake(log, 0);
    }
}

uint64_t tm_log_committed(const tm_log *log) {
    return atomic_load_explicit(&log->committed_n, memory_order_acquire);
}

int tm_log_descriptor(const tm_log *log) {
    return log->descriptor;
}

/* Return the next record in memory before `end`. */
static const tm_log_record *next_in_ring(const tm_log *log, uint64_t end, uint64_t *place, uint32_t *is_behind) {
    uint64_t appended = atomic_load_explicit(&log->appended, memory_order_relaxed);
    *is_behind = appended > log->ring_bytes && *place < appended - log->ring_bytes;
    while (!*is_behind && *place < end) {
        const tm_log_record *record = (const tm_log_record *)(log->ring + (*place & (log->ring_bytes - 1)));
        if (!(record->size & RING_FILLER)) {
            *place += record->size;
            return record;
        }
        *place += record->size & ~RING_FILLER;
    }
    return NULL;
}

const tm_log_record *tm_log_recent(const tm_log *log, uint64_t *place, uint32_t *is_behind) {
    return next_in_ring(log, atomic_load_explicit(&log->committed, memory_order_acquire), place, is_behind);
}

uint64_t tm_log_end(const tm_log *log) {
    return atomic_load_explicit(&log->appended, memory_order_relaxed);
}

uint64_t tm_log_written(const tm_log *log) {
    return atomic_load_explicit(&log->committed, memory_order_acquire);
}

const tm_log_record *tm_log_pending(const tm_log *log, uint64_t *place, uint32_t *is_behind) {
    return next_in_ring(log, atomic_load_explicit(&log->appended, memory_order_relaxed), place, is_behind);
}

/* ---- the committing side ---- */

/* Return a batch of the waiting records, as far as they fit and, in a full log, up to the first message; `*end` is
 * where it ends in the ring. */
static tm_batch next_batch(const tm_log *log, uint64_t from, uint64_t appended, uint64_t room, uint64_t *end) {
    tm_batch batch = {0};
    uint64_t at = from;
    bool is_full = atomic_load_explicit(&log->is_full, memory_order_relaxed);
    room = room < BATCH_BYTES_MAX ? room : BATCH_BYTES_MAX;
    while (at < appended) {
        uint8_t *bytes = log->ring + (at & (log->ring_bytes - 1));
        const tm_log_record *record = (const tm_log_record *)bytes;
        if (record->size & RING_FILLER) {
            at += record->size & ~RING_FILLER;
            continue;
        }
        uint64_t refs = batch.refs + record->durables + record->homes;
        bool is_message = !record_lets_go(record);
        bool is_over = batch.bytes + record->size + tm_footer_share(refs) > room || (is_message && is_full);
        if (batch.count > 0 && is_over) {
            break;
        }
        batch.has_messages = batch.has_messages || is_message;
        batch.is_of_custody = batch.is_of_custody || tm_record_is_of_custody(record);
        struct iovec *part = batch.part_count > 0 ? &batch.parts[batch.part_count - 1] : NULL;
        if (part != NULL && (uint8_t *)part->iov_base + part->iov_len == bytes) {
            part->iov_len += record->size;
        } else {
            batch.parts[batch.part_count++] = (struct iovec){bytes, record->size};
        }
        batch.first_n = batch.count == 0 ? record->n : batch.first_n;
        batch.last_n = record->n;
        batch.bytes += record->size;
        batch.refs = refs;
        batch.count++;
        at += record->size;
    }
    *end = at;
    return batch;
}

int tm_log_commit(tm_log *log) {
    uint64_t from = atomic_load_explicit(&log->committed, memory_order_relaxed);
    uint64_t appended = atomic_load_explicit(&log->appended, memory_order_acquire);
    if (from == appended) {
        return TM_ABSENT;
    }
    uint64_t start = tm_clock_ns();
    uint64_t end;
    tm_batch batch = next_batch(log, from, appended, tm_store_room(log->store), &end);
    if (TM_BREAKS(CONFIRM_EARLY)) {
        atomic_store(&log->committed_n, batch.last_n);
    }
    int result = tm_store_append(log->store, &batch);
    tm_log_tell_room(log);
    atomic_store_explicit(&log->is_stuck, result == TM_LOG_FULL || result == TM_NO_MEMORY, memory_order_release);
    if (result == TM_OK) {
        atomic_store_explicit(&log->commit_ns, tm_clock_ns() - start, memory_order_relaxed);
        atomic_store_explicit(&log->batches, log->batches + 1, memory_order_relaxed);
        atomic_store_explicit(&log->committed_n, batch.last_n, memory_order_release);
        uint64_t weight = log->committed_weight + batch.bytes + tm_footer_share(batch.refs);
        atomic_store_explicit(&log->committed_weight, weight, memory_order_release);
        atomic_store_explicit(&log->committed, end, memory_order_release);
    }
    if (result == TM_OK || result == TM_LOG_FAILED) {
        eventfd_write(log->descriptor, 1);
    }
    return result;
}

void tm_log_tell_room(tm_log *log) {
    tm_store *store = log->store;
    pthread_mutex_lock(&store->state);
    bool is_freeing = store->is_scarce && tm_store_may_free(store);
    atomic_store_explicit(&log->is_scarce, store->is_scarce, memory_order_relaxed);
    bool was_freeing = atomic_exchange_explicit(&log->is_freeing, is_freeing, memory_order_relaxed);
    atomic_store_explicit(&log->is_full, store->is_full, memory_order_relaxed);
    atomic_store_explicit(&log->is_full_of_all, store->is_full_of_all, memory_order_relaxed);
    atomic_store_explicit(&log->message_room, store->message_room, memory_order_relaxed);
    atomic_store_explicit(&log->is_tight, store->is_tight, memory_order_relaxed);
    atomic_store_explicit(&log->is_failed, store->is_failed, memory_order_relaxed);
    pthread_mutex_unlock(&store->state);
    if (was_freeing && !is_freeing) {
        eventfd_write(log->descriptor, 1);
    }
}
