/* recover.c - opening a log: from the files of a folder to a store in service.
 *
 * Law: a file is deleted only if a checkpoint states that it is out of use or it never held anything committed.
 * Segments are read in the order of their serials; the head of the next one, or the checkpoint, states up to where each
 * was committed. A new life begins in a new segment, so nothing is written behind a torn batch. The other parts are
 * listed in recover.h.
 */
#include "log/recover.h"

#include <errno.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/tested.h"

#define LIVES_SINCE_US UINT64_C(1767225600000000) /* the beginning of 2026 */
#define LIFE_UNIT_US UINT64_C(128000000)
#define COUNTERS_PER_US UINT64_C(4294) /* half of all counters in one unit */
#define ID_RANDOM_BITS 20U
#define ID_SECONDS_BITS 32U

/* Return the least number of the segments that the checkpoint lists between two serials; UINT64_MAX: there are none. */
static uint64_t listed_from(const recovering *r, uint64_t after, uint64_t before) {
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < r->checkpoint.segment_count; i++) {
        const tm_listed *listed = &r->checkpoint.segments[i];
        bool is_between = listed->serial > after && listed->serial < before;
        least = is_between && listed->first_n < least ? listed->first_n : least;
    }
    return least;
}

/* true if the missing segments between two others held anything. Each head names the batch committed before it. A
 * segment whose head never reached the disk, because a write or an fdatasync failed, held nothing. */
static bool held_something(const recovering *r, const tm_segment *before, const tm_segment *segment, bool is_newer) {
    uint64_t known = before != NULL ? before->last_seq : 0;
    known = is_newer && r->checkpoint.seq > known ? r->checkpoint.seq : known;
    return segment->seq_before > known;
}

/* Report the numbers of absent segments: those between their neighbours. */
static void tell_absent(recovering *r) {
    tm_store *store = r->store;
    for (uint32_t i = 0; i < store->segment_count; i++) {
        const tm_segment *segment = store->segments[i];
        const tm_segment *before = i > 0 ? store->segments[i - 1] : NULL;
        uint64_t previous = before != NULL ? before->serial : 0;
        bool is_newer = !r->checkpoint.is_found ? before != NULL : segment->previous > r->checkpoint.serial;
        bool was_listed = recover_listed(r, segment->previous) != NULL;
        if (segment->previous != previous && segment->previous != 0 && (is_newer || was_listed) &&
            held_something(r, before, segment, is_newer)) {
            uint64_t from = before != NULL ? before->last_n + 1 : 1;
            uint64_t life = segment->first_n >> COUNTER_BITS;
            if (from >> COUNTER_BITS != life) {
                uint64_t listed = listed_from(r, previous, segment->serial);
                from = listed != UINT64_MAX ? listed : life << COUNTER_BITS | 1;
            }
            if (from < segment->first_n && r->checkpoint.is_found) {
                store->recovery.damages++;
                recover_missing(r, from, segment->first_n - 1);
            }
        }
    }
}

/* Report the numbers of absent segments at the end, by the newest that the checkpoint lists. */
static void tell_absent_last(recovering *r) {
    const tm_store *store = r->store;
    const tm_segment *last = store->segment_count > 0 ? store->segments[store->segment_count - 1] : NULL;
    uint64_t newest = 0;
    for (uint32_t i = 0; i < r->checkpoint.segment_count; i++) {
        newest = r->checkpoint.segments[i].serial > newest ? r->checkpoint.segments[i].serial : newest;
    }
    uint64_t from = last != NULL ? last->last_n + 1 : 1;
    from = from >> COUNTER_BITS == r->checkpoint.last_n >> COUNTER_BITS
               ? from
               : listed_from(r, last != NULL ? last->serial : 0, UINT64_MAX);
    if (newest > (last != NULL ? last->serial : 0) && from <= r->checkpoint.last_n) {
        r->store->recovery.damages++;
        recover_missing(r, from, r->checkpoint.last_n);
    }
}

/* Return the clock in units of a life, and a counter that rises through the unit faster than any disk accepts
 * records. */
static uint64_t life_by_clock(uint64_t *counter) {
    uint64_t us = TM_BREAKS(LIFE_LATE) ? 0 : tm_clock_unix_ns() / 1000; /* the clock would hide that fault */
    us = us > LIVES_SINCE_US ? us - LIVES_SINCE_US : 0;
    *counter = us % LIFE_UNIT_US * COUNTERS_PER_US;
    uint64_t life = us / LIFE_UNIT_US;
    return life <= LIFE_MAX / 2 ? life : 0;
}

/* Return the id of a new log: greater than that of a log which this router had before and lost (rules C9 and C10), as
 * it begins with ones, which few random ids of earlier versions do, and the time. */
static uint64_t new_log_id(void) {
    uint64_t random = 0;
    while (getrandom(&random, sizeof random, 0) < 0 && errno == EINTR) {
    }
    uint64_t us = tm_clock_unix_ns() / 1000;
    uint64_t seconds = us > LIVES_SINCE_US ? (us - LIVES_SINCE_US) / 1000000 : 0;
    uint64_t ones = ~UINT64_C(0) << (ID_RANDOM_BITS + ID_SECONDS_BITS);
    return ones | (seconds & UINT32_MAX) << ID_RANDOM_BITS | (random & ((1U << ID_RANDOM_BITS) - 1));
}

/* Begin a life that was never used, not even by runs that a restored backup does not contain: those began earlier by
 * the clock. */
static int begin_life(recovering *r) {
    tm_store *store = r->store;
    uint64_t life = r->life;
    uint64_t named = r->max_serial >> 32;
    life = r->checkpoint.life > life ? r->checkpoint.life : life;
    life = named > life ? named : life;
    life = store->last_n >> COUNTER_BITS > life ? store->last_n >> COUNTER_BITS : life;
    if (life >= LIFE_MAX) {
        return TM_TOO_MANY;
    }
    uint64_t by_clock = life_by_clock(&store->first_counter);
    store->life = by_clock > life ? by_clock : life + 1;
    store->life_before = life;
    store->serial = store->life << 32;
    return tm_life_begin(store, store->life);
}

/* Remember the numbers that are missing by now, whose holders are unknown. */
static void remember_unknowns(recovering *r) {
    tm_store *store = r->store;
    for (uint32_t i = 0; i < store->missing.count; i++) {
        tm_span span = store->missing.spans[i];
        r->is_short_of_memory |= !tm_ranges_add(&store->doubtful, &store->memory, span.first, span.last);
    }
}

static int recover(recovering *r) {
    tm_store *store = r->store;
    int result = tm_life_read(store, &r->life, &store->log_id);
    result = result == TM_OK ? tm_checkpoint_read(store, &r->checkpoint) : result;
    if (result != TM_OK) {
        return result;
    }
    store->log_id = store->log_id != 0 ? store->log_id : r->checkpoint.log_id;
    result = recover_files(r);
    store->recovery.is_new = r->count == 0 && !r->checkpoint.is_found;
    store->recovery.no_checkpoint = !r->checkpoint.is_found;
    store->seq = r->checkpoint.seq;
    store->last_n = r->checkpoint.last_n;
    store->checkpoint_seq = r->checkpoint.seq;
    for (uint32_t i = 0; i < r->count && store->log_id == 0; i++) {
        store->log_id = r->all[i].is_begun ? r->all[i].head.log_id : 0;
    }
    store->log_id = store->log_id != 0 ? store->log_id : new_log_id();
    for (uint32_t i = 0; i < r->count && result == TM_OK; i++) {
        result = recover_segment(r, i);
    }
    if (result == TM_OK) {
        tell_absent(r);
        tell_absent_last(r);
        remember_unknowns(r);
        store->recovery.segments = store->segment_count;
        result = r->is_short_of_memory ? TM_NO_MEMORY : begin_life(r);
    }
    return result;
}

int tm_store_recover(tm_store *store) {
    uint64_t start = tm_clock_ns();
    recovering r = {.store = store};
    int result = recover(&r);
    for (uint32_t i = 0; i < r.count; i++) {
        if (r.all[i].file >= 0) {
            store->disk->port->close(store->disk, r.all[i].file);
        }
    }
    TM_DELETE(&store->memory, TM_COLD, r.all, candidate, r.capacity);
    TM_DELETE(&store->memory, TM_COLD, r.bytes, uint8_t, r.bytes_size);
    tm_checkpoint_free(store, &r.checkpoint);
    store->recovery.nanoseconds = tm_clock_ns() - start;
    return result;
}
