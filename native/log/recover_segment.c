/* recover_segment.c - one file of the folder becomes a segment of the store or is discarded.
 *
 * Law: bytes that the next head or the checkpoint states and that cannot be read are damage, and their numbers are
 * missing; any other unreadable bytes are a torn tail. A segment is in each checkpoint until one holds all that was
 * copied from it; copies that no checkpoint holds are left out, as their originals exist. A crash during compaction
 * thus gives back the room that it took. See recover.h.
 */
#include <string.h>

#include "base/grow.h"
#include "log/effects.h"
#include "log/recover.h"
#include "log/spares.h"

#define READ_BYTES (1U << 20)
#define BAD_BYTES 4096U /* skipped where the disk cannot read */

void recover_read(recovering *r, const candidate *c) {
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
    tm_room room = {0};
    if (is_copy && seq > r->checkpoint.seq && r->checkpoint.is_found && store->recovery.damages == 0) {
        r->has_left_out = true;
        return;
    }
    if (!tm_segment_reserve(r->segment, record, &room)) {
        r->is_short_of_memory = true;
        return;
    }
    tm_segment_index(r->segment, record, place);
    r->segment->last_fresh_n = is_copy ? r->segment->last_fresh_n : record->n;
    if (seq <= r->checkpoint.seq || (is_copy && r->checkpoint.is_found)) {
        return;
    }
    uint64_t first =
        r->checkpoint.is_found ? record->n : 1; /* without a checkpoint it is unknown since when it is named */
    r->is_short_of_memory |= !tm_store_take_holders(store, record, first);
    if (!is_copy || tm_record_stands_alone(record)) {
        tm_store_apply(store, record);
    }
}

void recover_missing(void *context, uint64_t first, uint64_t last) {
    recovering *r = context;
    r->is_short_of_memory |= !tm_store_add_missing(r->store, first, last);
}

bool tm_store_add_missing(tm_store *store, uint64_t first, uint64_t last) {
    if (store->missing.count >= MISSING_RANGES_MAX) {
        first = store->missing.spans[store->missing.count - 1].last; /* merged with the last range */
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

bool recover_has_room(recovering *r, const candidate *c) {
    tm_memory *memory = &r->store->memory;
    if (c->bytes > r->bytes_size) {
        TM_DELETE(memory, TM_COLD, r->bytes, uint8_t, r->bytes_size);
        r->bytes = TM_NEW(memory, TM_COLD, uint8_t, c->bytes);
        r->bytes_size = r->bytes != NULL ? c->bytes : 0;
    }
    return r->bytes != NULL || c->bytes == 0;
}

/* Read the footer of a segment into `r->bytes`; NULL: it has none that is sound. */
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

const tm_listed *recover_listed(const recovering *r, uint64_t serial) {
    for (uint32_t i = 0; i < r->checkpoint.segment_count; i++) {
        if (r->checkpoint.segments[i].serial == serial) {
            return &r->checkpoint.segments[i];
        }
    }
    return NULL;
}

/* Return the index of the next segment that was begun; `count`: none. */
static uint32_t next_begun(const recovering *r, uint32_t i) {
    uint32_t next = i + 1;
    while (next < r->count && !r->all[next].is_begun) {
        next++;
    }
    return next;
}

/* true if nothing was written into a listed segment after the checkpoint: a later one was, which may be gone, or the
 * log was closed with that checkpoint. */
static bool was_ended(const recovering *r, const tm_listed *listed) {
    return r->checkpoint.is_last || listed->last_seq < r->checkpoint.seq;
}

/* Set the bounds of what was committed in a segment, from the checkpoint and the head of the next one. If neither has
 * them, only its footer does. What the next head states and the checkpoint holds may have been in segments between the
 * two that are gone. */
static void bound(const recovering *r, uint32_t i, tm_scan *scan) {
    uint32_t next = next_begun(r, i);
    const tm_listed *listed = recover_listed(r, r->all[i].serial);
    scan->seq_max = UINT64_MAX;
    scan->known_seq = listed != NULL ? listed->last_seq : 0;
    scan->known_n = listed != NULL ? listed->last_n : 0;
    bool is_chained = next < r->count && r->all[next].head.previous == r->all[i].serial;
    bool is_held = is_chained && r->all[next].head.seq_before <= r->checkpoint.seq;
    if (listed != NULL && (is_held || was_ended(r, listed))) {
        scan->seq_max = listed->last_seq;
    } else if (is_chained) {
        scan->known_seq = scan->seq_max = r->all[next].head.seq_before;
        scan->known_n = r->all[next].head.last_n_before;
    } else if (next == r->count) {
        scan->known_seq = r->checkpoint.seq;
        scan->known_n = r->checkpoint.last_n;
    }
}

/* Report the numbers that a truncated file may have held as missing: as many as the shortest records that fit, and at
 * most those before the next segment. */
static void tell_cut(const recovering *r, uint32_t i, tm_scan *scan) {
    const candidate *c = &r->all[i];
    uint32_t next = next_begun(r, i);
    uint64_t end = scan->next_n + (c->head.bytes - c->bytes) / sizeof(tm_log_record);
    if (next < r->count && r->all[next].first_n < end) {
        end = r->all[next].first_n;
    }
    if (scan->seq < scan->seq_max && scan->next_n < end) {
        recover_missing(scan->context, scan->next_n, end - 1);
        scan->next_n = end;
    }
    scan->damages += scan->damages == 0;
}

/* Rewrite in place, and sync, batches that may never have been reported as committed: the system may return bytes that
 * it failed to write, or that a killed process had not synced. */
static void make_sure(recovering *r, const candidate *c, tm_segment *segment) {
    tm_disk *disk = r->store->disk;
    struct iovec part = {r->bytes, segment->used};
    segment->is_failed = tm_disk_write_whole(disk, c->file, &part, 1, 0) != 0 || disk->port->sync(disk, c->file) != 0;
}

/* true if only copies are missing between the last segment so far and candidate `c`. A damaged head does not state
 * that, but numbers that follow those of that segment do: see mend_head. */
static bool follows_the_last(const recovering *r, const candidate *c) {
    bool is_known = c->head.previous != 0 || !c->is_torn_head;
    return is_known && c->head.previous == r->store->previous;
}

/* Scan a segment. `last`: what the footer states about its end, or zeroes. */
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
                    .missing = recover_missing};
    bound(r, i, &scan);
    if (last.last_seq > scan.known_seq && last.last_seq <= scan.seq_max) {
        scan.known_seq = last.last_seq;
        scan.known_n = last.last_n;
    }
    bool is_this_life = scan.known_n >> COUNTER_BITS == c->first_n >> COUNTER_BITS;
    scan.known_n = is_this_life ? scan.known_n : 0;
    r->segment = segment;
    tm_scan_segment(&scan);
    if (c->is_cut) {
        tell_cut(r, i, &scan);
    }
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
    /* If no segment is missing, the originals of copied records exist as well. */
    store->recovery.lost_copies += r->misses_segments ? scan.lost_copies : 0;
}

/* Write a footer without the left-out copies before a checkpoint records the segment as read. */
static void seal_anew(recovering *r, tm_segment *segment) {
    if (r->has_left_out && !segment->is_damaged && !segment->is_failed) {
        tm_store_seal(r->store, segment);
        segment->is_failed = r->store->disk->port->sync(r->store->disk, segment->file) != 0;
    }
    r->has_left_out = false;
}

/* Reconstruct a head that cannot be read from the first batch or from neighbouring files. true if a batch was found. */
static bool mend_head(const recovering *r, uint32_t i) {
    candidate *c = &r->all[i];
    const tm_segment *last = r->store->segment_count > 0 ? r->store->segments[r->store->segment_count - 1] : NULL;
    bool follows = last != NULL && last->last_n + 1 == c->first_n;
    bool is_listed = recover_listed(r, c->serial) != NULL; /* the checkpoint is then newer than its head */
    c->head = (tm_segment_head){.serial = c->serial,
                                .previous = follows ? last->serial : 0,
                                .first_n = c->first_n,
                                .bytes = c->bytes > r->store->segment_bytes ? c->bytes : r->store->segment_bytes,
                                .seq_before = last != NULL ? last->last_seq
                                              : is_listed  ? 0
                                                           : r->checkpoint.seq,
                                .last_n_before = last != NULL ? last->last_n
                                                 : is_listed  ? c->first_n - 1
                                                              : r->checkpoint.last_n};
    for (uint64_t at = SEGMENT_HEAD_BYTES; at + sizeof(tm_batch_head) <= c->bytes; at += SECTOR_BYTES) {
        const tm_batch_head *batch = (const tm_batch_head *)(r->bytes + at);
        if (tm_batch_head_is_sound(batch, c->serial, c->bytes - at)) {
            c->head.seq_before = at == SEGMENT_HEAD_BYTES ? batch->seq - 1 : c->head.seq_before;
            return true;
        }
    }
    return false;
}

/* true if a segment whose head is not its own ever held anything committed. It did not if the head of an earlier use is
 * there, as its own would have been written with the first batch, or if all of its batches are torn, as the repetition
 * of a write after a failed fdatasync may fail, too. A truncated file has lost its head and content: files are whole on
 * disk before they become segments. */
static bool was_begun(const recovering *r, uint32_t i) {
    candidate *c = &r->all[i];
    if (!c->is_torn_head) {
        return false;
    }
    bool has_batch = mend_head(r, i);
    tm_scan scan = {
        .bytes = r->bytes, .size = c->bytes, .serial = c->serial, .seq = c->head.seq_before, .next_n = c->first_n};
    bound(r, i, &scan);
    if (scan.known_n >= c->first_n || c->is_cut || !has_batch) {
        return scan.known_n >= c->first_n || c->is_cut;
    }
    tm_scan_segment(&scan);
    return scan.records > 0 || scan.damages > 0;
}

/* Discard a file that is out of use by the checkpoint or was never used: it becomes a spare file or is removed. A
 * truncated one is set aside. */
static int discard(recovering *r, candidate *c) {
    tm_store *store = r->store;
    tm_disk *disk = store->disk;
    char name[TM_DISK_NAME_BYTES];
    char spare[TM_DISK_NAME_BYTES];
    tm_segment_name(name, c->first_n, c->serial);
    disk->port->close(disk, c->file);
    c->file = -1;
    if (c->is_cut) {
        tm_store_set_aside(store, name);
        return TM_OK;
    }
    if (c->bytes == store->segment_bytes && store->spare_count <= SEGMENTS_RESERVED) {
        tm_spare_name(spare, c->serial);
        if (disk->port->rename(disk, name, spare) == 0) {
            return tm_store_add_spare(store, c->serial) ? TM_OK : TM_NO_MEMORY;
        }
    }
    disk->port->remove(disk, name); /* one that stays is examined at the next start */
    return TM_OK;
}

int recover_segment(recovering *r, uint32_t i) {
    tm_store *store = r->store;
    candidate *c = &r->all[i];
    bool is_old = r->checkpoint.is_found && c->serial <= r->checkpoint.serial;
    if (is_old && recover_listed(r, c->serial) == NULL) {
        return discard(r, c);
    }
    if (!recover_has_room(r, c)) {
        return TM_NO_MEMORY;
    }
    const tm_footer_head *footer = c->is_begun ? read_footer(r, c) : NULL;
    tm_footer_head last = footer != NULL ? *footer : (tm_footer_head){0};
    bool is_read = footer != NULL && footer->last_seq <= r->checkpoint.seq;
    if (!is_read) {
        recover_read(r, c);
    }
    if (!c->is_begun && !was_begun(r, i)) {
        return discard(r, c);
    }
    tm_segment *segment = tm_segment_new(&store->memory);
    if (segment == NULL || !add(store, segment)) {
        tm_segment_free(segment);
        return TM_NO_MEMORY;
    }
    r->misses_segments = r->misses_segments || !follows_the_last(r, c);
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
        seal_anew(r, segment);
    }
    c->file = -1;
    segment->is_damaged = segment->is_damaged || !c->is_begun;
    store->damaged += segment->is_damaged;
    store->seq = segment->last_seq > store->seq ? segment->last_seq : store->seq;
    store->last_n = segment->last_n > store->last_n ? segment->last_n : store->last_n;
    store->previous = c->serial;
    return r->is_short_of_memory ? TM_NO_MEMORY : TM_OK;
}
