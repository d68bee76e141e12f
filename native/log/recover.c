/* recover.c - a log is opened: from whatever lies in the folder to a store that is served.
 *
 * Law: nothing is deleted but what a checkpoint says is out of use and what never held anything that was committed.
 * Segments are read in the order of their serials, each knowing from the next one (its head), or from the checkpoint,
 * up to where it was committed: what should be there and is not is damage, and its numbers are missing; anything else
 * that cannot be read is a torn tail. A new life begins in a new segment, so nothing torn is ever written behind.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/grow.h"
#include "log/scan.h"
#include "log/store.h"

#define READ_BYTES (1U << 20)
#define BAD_BYTES 4096U /* what is left out where the disk cannot read */

/* A file of the folder that is named as a segment. */
typedef struct candidate {
    uint64_t serial;
    uint64_t first_n;
    uint64_t bytes;
    tm_segment_head head;
    int file;          /* owned until a segment has it; -1 */
    bool is_begun;     /* its head is sound and its own */
    bool is_torn_head; /* not sound at all */
} candidate;

typedef struct recovering {
    tm_store *store;
    tm_checkpoint checkpoint;
    candidate *all; /* owned */
    uint32_t count;
    uint32_t capacity;
    uint64_t max_serial;
    uint64_t life;
    uint8_t *bytes; /* owned: of the segment that is scanned */
    uint64_t bytes_size;
    tm_segment *segment; /* that is scanned */
    bool is_short_of_memory;
} recovering;

/* ---- what is there ---- */

static bool see(void *context, const char *name) {
    recovering *r = context;
    uint64_t first_n;
    uint64_t serial;
    if (tm_segment_name_read(name, &first_n, &serial)) {
        if (!tm_grow(&r->store->memory, TM_COLD, &r->all, sizeof *r->all, &r->capacity, r->count + 1)) {
            r->is_short_of_memory = true;
            return false;
        }
        r->all[r->count++] = (candidate){.serial = serial, .first_n = first_n, .file = -1};
    } else if (tm_spare_name_read(name, &serial)) {
        r->is_short_of_memory = r->is_short_of_memory || !tm_store_add_spare(r->store, serial);
    } else {
        return true;
    }
    r->max_serial = serial > r->max_serial ? serial : r->max_serial;
    return !r->is_short_of_memory;
}

/* A spare file whose blocks were not on disk when the system ended, or of another size, is none. */
static void check_spares(tm_store *store) {
    tm_disk *disk = store->disk;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < store->spare_count; i++) {
        char name[TM_DISK_NAME_BYTES];
        int file;
        tm_spare_name(name, store->spares[i]);
        bool is_open = disk->port->open(disk, name, false, &file) == 0;
        bool is_whole = is_open && disk->port->size(disk, file) == (int64_t)store->segment_bytes;
        if (is_open) {
            disk->port->close(disk, file);
        }
        if (is_whole) {
            store->spares[kept++] = store->spares[i];
        } else {
            disk->port->remove(disk, name);
        }
    }
    store->spare_count = kept;
}

static int by_serial(const void *one, const void *other) {
    uint64_t first = ((const candidate *)one)->serial;
    uint64_t second = ((const candidate *)other)->serial;
    return (first > second) - (first < second);
}

static int open_candidates(recovering *r) {
    tm_disk *disk = r->store->disk;
    if (r->count > 0) {
        qsort(r->all, r->count, sizeof *r->all, by_serial);
    }
    for (uint32_t i = 0; i < r->count; i++) {
        candidate *c = &r->all[i];
        char name[TM_DISK_NAME_BYTES];
        tm_segment_name(name, c->first_n, c->serial);
        int result = disk->port->open(disk, name, false, &c->file);
        if (result != 0) {
            c->file = -1;
            return TM_LOG_DISK;
        }
        int64_t size = disk->port->size(disk, c->file);
        c->bytes = size > 0 ? (uint64_t)size / SECTOR_BYTES * SECTOR_BYTES : 0;
        bool is_read = tm_disk_read_whole(disk, c->file, &c->head, sizeof c->head, 0) == 0;
        bool is_sound = is_read && tm_segment_head_is_sound(&c->head);
        if (is_sound && c->head.serial == c->serial && r->store->log_id != 0 && c->head.log_id != r->store->log_id) {
            return TM_LOG_FOREIGN;
        }
        c->is_begun = is_sound && c->head.serial == c->serial;
        c->is_torn_head = !is_sound;
    }
    return TM_OK;
}

/* ---- one segment ---- */

/* The whole file; what cannot be read is zeroes. */
static void read_bytes(recovering *r, const candidate *c) {
    for (uint64_t at = 0; at < c->bytes;) {
        size_t size = c->bytes - at < READ_BYTES ? c->bytes - at : READ_BYTES;
        if (tm_disk_read_whole(r->store->disk, c->file, r->bytes + at, size, at) != 0) {
            for (uint64_t bad = at; bad < at + size; bad += BAD_BYTES) {
                size_t part = at + size - bad < BAD_BYTES ? at + size - bad : BAD_BYTES;
                if (tm_disk_read_whole(r->store->disk, c->file, r->bytes + bad, part, bad) != 0) {
                    memset(r->bytes + bad, 0, part);
                }
            }
        }
        at += size;
    }
}

static void found(void *context, const tm_log_record *record, uint32_t place, uint64_t seq) {
    recovering *r = context;
    tm_store *store = r->store;
    bool is_copy = record->flags & TM_LOG_COPIED;
    uint32_t refs = 0;
    if (!tm_segment_reserve(r->segment, record, &refs)) {
        r->is_short_of_memory = true;
        return;
    }
    tm_segment_index(r->segment, record, place);
    r->segment->last_fresh_n = is_copy ? r->segment->last_fresh_n : record->n;
    if (seq <= r->checkpoint.seq || (is_copy && r->checkpoint.is_found)) {
        return;
    }
    uint64_t first = r->checkpoint.is_found ? record->n : 1; /* else nobody knows since when it is named */
    r->is_short_of_memory |= !tm_store_take_claimants(store, record, first);
    if (!is_copy || record->kind == TM_LOG_KEEP) {
        tm_store_apply(store, record);
    }
}

static void missing(void *context, uint64_t first, uint64_t last) {
    recovering *r = context;
    r->is_short_of_memory |= !tm_store_add_missing(r->store, first, last);
}

bool tm_store_add_missing(tm_store *store, uint64_t first, uint64_t last) {
    if (store->missing.count >= MISSING_RANGES_MAX) {
        first = store->missing.spans[store->missing.count - 1].last; /* joined with the last one */
    }
    store->recovery.missing += last - first + 1;
    return tm_ranges_add(&store->missing, &store->memory, first, last);
}

static bool add(tm_store *store, tm_segment *segment) {
    if (!tm_grow(&store->memory, TM_COLD, &store->segments, sizeof(tm_segment *), &store->segment_capacity,
                 store->segment_count + 1)) {
        return false;
    }
    store->segments[store->segment_count++] = segment;
    return true;
}

/* Room for the bytes of a segment; false: no memory. */
static bool has_room(recovering *r, const candidate *c) {
    tm_memory *memory = &r->store->memory;
    if (c->bytes > r->bytes_size) {
        TM_DELETE(memory, TM_COLD, r->bytes, uint8_t, r->bytes_size);
        r->bytes = TM_NEW(memory, TM_COLD, uint8_t, c->bytes);
        r->bytes_size = r->bytes != NULL ? c->bytes : 0;
    }
    return r->bytes != NULL || c->bytes == 0;
}

/* The footer of a segment, in the recovering bytes; NULL: it has none that is sound. */
static const tm_footer_head *read_footer(recovering *r, const candidate *c) {
    tm_disk *disk = r->store->disk;
    tm_footer_tail tail;
    if (c->bytes < SEGMENT_BYTES_MIN ||
        tm_disk_read_whole(disk, c->file, &tail, sizeof tail, c->bytes - sizeof tail) != 0 ||
        tail.magic != FOOTER_MAGIC || tail.at < SEGMENT_HEAD_BYTES || tail.at % SECTOR_BYTES != 0 ||
        tail.at + (uint64_t)tail.bytes > c->bytes ||
        tm_disk_read_whole(disk, c->file, r->bytes, tail.bytes, tail.at) != 0 ||
        !tm_footer_is_sound(r->bytes, tail.bytes, c->serial)) {
        return NULL;
    }
    const tm_footer_head *head = (const tm_footer_head *)r->bytes;
    return head->used == tail.at ? head : NULL;
}

/* What is known of where a segment was committed up to: from the head of the next one or, for the last, from the
 * checkpoint. Where the next one is out of use, its footer alone knows. */
static void bound(const recovering *r, uint32_t i, tm_scan *scan) {
    uint32_t next = i + 1;
    while (next < r->count && !r->all[next].is_begun) {
        next++;
    }
    scan->seq_max = UINT64_MAX;
    if (next == r->count) {
        scan->known_seq = r->checkpoint.seq;
        scan->known_n = r->checkpoint.last_n;
    } else if (r->all[next].head.previous == r->all[i].serial) {
        scan->known_seq = scan->seq_max = r->all[next].head.seq_before;
        scan->known_n = r->all[next].head.last_n_before;
    }
}

/* What nobody is known to have been told of is written again where it stands, and synced: the system may show what it
 * has failed to write, and what a process that was killed had not synced. */
static void make_sure(recovering *r, const candidate *c, tm_segment *segment) {
    tm_disk *disk = r->store->disk;
    struct iovec part = {r->bytes, segment->used};
    segment->is_failed = tm_disk_write_whole(disk, c->file, &part, 1, 0) != 0 || disk->port->sync(disk, c->file) != 0;
}

/* `last`: what the footer says it ends with, or zeroes. */
static void scan_segment(recovering *r, uint32_t i, tm_segment *segment, tm_footer_head last) {
    tm_store *store = r->store;
    const candidate *c = &r->all[i];
    tm_scan scan = {.bytes = r->bytes,
                    .size = c->bytes,
                    .serial = c->serial,
                    .seq = c->head.seq_before,
                    .next_n = c->first_n,
                    .context = r,
                    .found = found,
                    .missing = missing};
    bound(r, i, &scan);
    if (last.last_seq > scan.known_seq && last.last_seq <= scan.seq_max) {
        scan.known_seq = last.last_seq;
        scan.known_n = last.last_n;
    }
    bool is_this_life = scan.known_n >> COUNTER_BITS == c->first_n >> COUNTER_BITS;
    scan.known_n = is_this_life ? scan.known_n : 0;
    r->segment = segment;
    tm_scan_segment(&scan);
    segment->used = scan.end;
    segment->last_seq = scan.seq;
    segment->last_n = scan.next_n > c->first_n ? scan.next_n - 1 : c->head.last_n_before;
    segment->is_damaged = scan.damages > 0;
    if (scan.seq > scan.known_seq) {
        make_sure(r, c, segment);
    }
    store->recovery.scanned_bytes += c->bytes;
    store->recovery.records += scan.records;
    store->recovery.torn_bytes += scan.torn_bytes;
    store->recovery.damages += scan.damages;
    store->recovery.lost_copies += scan.lost_copies;
}

/* A head that cannot be read: what it said is found in the first batch, or in the files around it. */
static bool mend_head(const recovering *r, uint32_t i) {
    candidate *c = &r->all[i];
    const candidate *before = i > 0 ? &r->all[i - 1] : NULL;
    const tm_segment *last = r->store->segment_count > 0 ? r->store->segments[r->store->segment_count - 1] : NULL;
    c->head = (tm_segment_head){.serial = c->serial,
                                .previous = before != NULL ? before->serial : 0,
                                .first_n = c->first_n,
                                .seq_before = last != NULL ? last->last_seq : r->checkpoint.seq,
                                .last_n_before = last != NULL ? last->last_n : r->checkpoint.last_n};
    for (uint64_t at = SEGMENT_HEAD_BYTES; at + sizeof(tm_batch_head) <= c->bytes; at += SECTOR_BYTES) {
        const tm_batch_head *batch = (const tm_batch_head *)(r->bytes + at);
        if (tm_batch_head_is_sound(batch, c->serial, c->bytes - at)) {
            c->head.seq_before = at == SEGMENT_HEAD_BYTES ? batch->seq - 1 : c->head.seq_before;
            return true;
        }
    }
    return false;
}

/* Of a segment whose head is not its own: did it ever hold what was committed? Where there is the head of an earlier
 * use, not: it would have been written with the first batch. */
static bool was_begun(const recovering *r, uint32_t i) {
    candidate *c = &r->all[i];
    if (!c->is_torn_head) {
        return false;
    }
    tm_scan scan = {0};
    bound(r, i, &scan);
    return mend_head(r, i) || scan.known_n >= c->first_n;
}

static bool is_listed(const recovering *r, uint64_t serial) {
    for (uint32_t i = 0; i < r->checkpoint.segment_count; i++) {
        if (r->checkpoint.segments[i] == serial) {
            return true;
        }
    }
    return false;
}

/* Out of use by the checkpoint, or never used: its file becomes a spare one, or goes. */
static int discard(recovering *r, candidate *c) {
    tm_store *store = r->store;
    tm_disk *disk = store->disk;
    char name[TM_DISK_NAME_BYTES];
    char spare[TM_DISK_NAME_BYTES];
    tm_segment_name(name, c->first_n, c->serial);
    disk->port->close(disk, c->file);
    c->file = -1;
    if (c->bytes == store->segment_bytes && store->spare_count <= SEGMENTS_RESERVED) {
        tm_spare_name(spare, c->serial);
        if (disk->port->rename(disk, name, spare) == 0) {
            return tm_store_add_spare(store, c->serial) ? TM_OK : TM_NO_MEMORY;
        }
    }
    disk->port->remove(disk, name); /* one that stays is looked at again next time */
    return TM_OK;
}

static int take_segment(recovering *r, uint32_t i) {
    tm_store *store = r->store;
    candidate *c = &r->all[i];
    bool is_old = r->checkpoint.is_found && c->serial <= r->checkpoint.serial;
    if (is_old && !is_listed(r, c->serial)) {
        return discard(r, c);
    }
    if (!has_room(r, c)) {
        return TM_NO_MEMORY;
    }
    const tm_footer_head *footer = c->is_begun ? read_footer(r, c) : NULL;
    tm_footer_head last = footer != NULL ? *footer : (tm_footer_head){0};
    bool is_read = footer != NULL && footer->last_seq <= r->checkpoint.seq;
    if (!is_read) {
        read_bytes(r, c);
    }
    if (!c->is_begun && !was_begun(r, i)) {
        return discard(r, c);
    }
    tm_segment *segment = tm_segment_new(&store->memory);
    if (segment == NULL || !add(store, segment)) {
        tm_segment_free(segment);
        return TM_NO_MEMORY;
    }
    segment->serial = c->serial;
    segment->first_n = c->first_n;
    segment->previous = c->head.previous;
    segment->seq_before = c->head.seq_before;
    segment->bytes = c->bytes;
    segment->state = SEGMENT_CLOSED;
    segment->file = c->file;
    if (is_read) {
        if (!tm_segment_seal(segment, r->bytes)) {
            return TM_NO_MEMORY;
        }
    } else {
        scan_segment(r, i, segment, last);
    }
    c->file = -1;
    segment->is_damaged = segment->is_damaged || !c->is_begun;
    store->damaged += segment->is_damaged;
    store->seq = segment->last_seq > store->seq ? segment->last_seq : store->seq;
    store->last_n = segment->last_n > store->last_n ? segment->last_n : store->last_n;
    store->previous = c->serial;
    return r->is_short_of_memory ? TM_NO_MEMORY : TM_OK;
}

/* ---- all of them ---- */

/* Segments that were there and are not: the numbers between their neighbours. */
static void tell_absent(recovering *r) {
    tm_store *store = r->store;
    for (uint32_t i = 0; i < store->segment_count; i++) {
        const tm_segment *segment = store->segments[i];
        const tm_segment *before = i > 0 ? store->segments[i - 1] : NULL;
        uint64_t previous = before != NULL ? before->serial : 0;
        bool is_newer = !r->checkpoint.is_found ? before != NULL : segment->previous > r->checkpoint.serial;
        bool was_listed = is_listed(r, segment->previous);
        if (segment->previous != previous && segment->previous != 0 && (is_newer || was_listed)) {
            uint64_t from = before != NULL ? before->last_n + 1 : 1;
            if (from >> COUNTER_BITS != segment->first_n >> COUNTER_BITS) {
                from = segment->first_n >> COUNTER_BITS << COUNTER_BITS | 1;
            }
            if (from < segment->first_n && r->checkpoint.is_found) {
                store->recovery.damages++;
                missing(r, from, segment->first_n - 1);
            }
        }
    }
}

/* The newest that the checkpoint lists may be among them. */
static void tell_absent_last(recovering *r) {
    const tm_store *store = r->store;
    const tm_segment *last = store->segment_count > 0 ? store->segments[store->segment_count - 1] : NULL;
    uint64_t newest = 0;
    for (uint32_t i = 0; i < r->checkpoint.segment_count; i++) {
        newest = r->checkpoint.segments[i] > newest ? r->checkpoint.segments[i] : newest;
    }
    uint64_t from = last != NULL ? last->last_n + 1 : 1;
    from = from >> COUNTER_BITS == r->checkpoint.last_n >> COUNTER_BITS
               ? from
               : r->checkpoint.last_n >> COUNTER_BITS << COUNTER_BITS | 1;
    if (newest > (last != NULL ? last->serial : 0) && from <= r->checkpoint.last_n) {
        r->store->recovery.damages++;
        missing(r, from, r->checkpoint.last_n);
    }
}

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
    store->life = life + 1;
    store->serial = store->life << 32;
    return tm_life_begin(store, store->life);
}

static int recover(recovering *r) {
    tm_store *store = r->store;
    int result = tm_life_read(store, &r->life, &store->log_id);
    result = result == TM_OK ? tm_checkpoint_read(store, &r->checkpoint) : result;
    if (result != TM_OK) {
        return result;
    }
    store->log_id = store->log_id != 0 ? store->log_id : r->checkpoint.log_id;
    if (store->disk->port->list(store->disk, see, r) != 0) {
        return TM_LOG_DISK;
    }
    check_spares(store);
    result = r->is_short_of_memory ? TM_NO_MEMORY : open_candidates(r);
    store->recovery.is_new = r->count == 0 && !r->checkpoint.is_found;
    store->recovery.no_checkpoint = !r->checkpoint.is_found;
    store->seq = r->checkpoint.seq;
    store->last_n = r->checkpoint.last_n;
    store->checkpoint_seq = r->checkpoint.seq;
    for (uint32_t i = 0; i < r->count && store->log_id == 0; i++) {
        store->log_id = r->all[i].is_begun ? r->all[i].head.log_id : 0;
    }
    while (store->log_id == 0 && getrandom(&store->log_id, sizeof store->log_id, 0) < 0 && errno == EINTR) {
    }
    for (uint32_t i = 0; i < r->count && result == TM_OK; i++) {
        result = take_segment(r, i);
    }
    if (result == TM_OK) {
        tell_absent(r);
        tell_absent_last(r);
        store->recovery.segments = store->segment_count;
        result = r->is_short_of_memory ? TM_NO_MEMORY : begin_life(r);
    }
    return result;
}

/* ---- a segment again ---- */

static void index_again(void *context, const tm_log_record *record, uint32_t place, uint64_t seq) {
    recovering *r = context;
    (void)seq;
    uint32_t refs = 0;
    if (tm_segment_reserve(r->segment, record, &refs)) {
        tm_segment_index(r->segment, record, place);
    } else {
        r->is_short_of_memory = true;
    }
}

/* Read a sealed segment, ready to be scanned. false: no memory. */
static bool read_sealed(recovering *r, const tm_segment *segment, tm_scan *scan) {
    candidate c = {.serial = segment->serial, .bytes = segment->bytes, .file = segment->file};
    pthread_mutex_lock(&r->store->state);
    bool has_bytes = has_room(r, &c);
    pthread_mutex_unlock(&r->store->state);
    if (!has_bytes) {
        return false;
    }
    read_bytes(r, &c);
    const tm_segment_head *head = (const tm_segment_head *)r->bytes;
    scan->bytes = r->bytes;
    scan->size = segment->bytes;
    scan->serial = segment->serial;
    scan->seq = tm_segment_head_is_sound(head) ? head->seq_before : segment->seq_before;
    scan->seq_max = scan->known_seq = segment->last_seq;
    scan->known_n = segment->last_fresh_n;
    scan->next_n = segment->first_n;
    return true;
}

static void free_bytes(recovering *r) {
    pthread_mutex_lock(&r->store->state);
    TM_DELETE(&r->store->memory, TM_COLD, r->bytes, uint8_t, r->bytes_size);
    pthread_mutex_unlock(&r->store->state);
}

int tm_store_rescan(tm_store *store, tm_segment *segment) {
    recovering r = {.store = store, .segment = segment};
    tm_scan scan = {.context = &r, .found = index_again, .missing = missing};
    if (!read_sealed(&r, segment, &scan)) {
        return TM_NO_MEMORY;
    }
    pthread_mutex_lock(&store->state); /* so that nobody sees half of an index */
    bool is_free = segment->pins == 0;
    if (is_free) {
        tm_segment_unseal(segment);
        tm_scan_segment(&scan);
        store->recovery.lost_copies += scan.lost_copies;
    }
    pthread_mutex_unlock(&store->state);
    free_bytes(&r);
    return !is_free || r.is_short_of_memory ? TM_NO_MEMORY : TM_OK;
}

int tm_store_check(tm_store *store, tm_segment *segment, bool *is_sound) {
    recovering r = {.store = store};
    tm_scan scan = {.context = &r};
    bool is_read = read_sealed(&r, segment, &scan);
    if (is_read) {
        tm_scan_segment(&scan);
        *is_sound = scan.damages == 0 && scan.seq == segment->last_seq &&
                    tm_segment_head_is_sound((const tm_segment_head *)r.bytes) &&
                    tm_footer_is_sound(r.bytes + segment->used, segment->bytes - segment->used, segment->serial);
    }
    free_bytes(&r);
    return is_read ? TM_OK : TM_NO_MEMORY;
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
