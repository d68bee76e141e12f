/* rescan.c - a sealed segment is read again, to rebuild its index or to verify it.
 *
 * Law: files are read without the lock; an index that other threads read is replaced under it, as a whole. See
 * recover.h.
 */
#include "log/rescan.h"
#include "log/cursor.h"
#include "log/recover.h"

static void index_again(void *context, const tm_log_record *record, uint32_t place, uint64_t seq) {
    recovering *r = context;
    (void)seq;
    tm_room room = {0};
    if (tm_segment_reserve(r->segment, record, &room)) {
        tm_segment_index(r->segment, record, place);
    } else {
        r->is_short_of_memory = true;
    }
}

/* Read a sealed segment for a scan. false: no memory. */
static bool read_sealed(recovering *r, const tm_segment *segment, tm_scan *scan) {
    candidate c = {.serial = segment->serial, .bytes = segment->bytes, .file = segment->file};
    pthread_mutex_lock(&r->store->state);
    bool has_bytes = recover_has_room(r, &c);
    pthread_mutex_unlock(&r->store->state);
    if (!has_bytes) {
        return false;
    }
    recover_read(r, &c);
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

/* Return a range of numbers that includes those of all copies in a segment, by its rows; `first` is past `last`: it has
 * none. */
static tm_log_range copies_of(const tm_segment *segment) {
    tm_log_range range = {.first = UINT64_MAX};
    for (uint32_t i = 0; i < segment->row_count; i++) {
        const tm_row *row = &segment->rows[i];
        uint64_t first = tm_row_n(row, row->low_min);
        uint64_t last = tm_row_n(row, row->low_max);
        last = last < segment->first_n ? last : segment->first_n - 1;
        range.first = first < range.first ? first : range.first;
        range.last = last > range.last ? last : range.last;
    }
    return range;
}

int tm_store_rescan(tm_store *store, tm_segment *segment) {
    recovering r = {.store = store, .segment = segment};
    tm_scan scan = {.context = &r, .found = index_again, .missing = recover_missing};
    if (!read_sealed(&r, segment, &scan)) {
        return TM_NO_MEMORY;
    }
    pthread_mutex_lock(&store->state); /* no thread may see half of an index */
    bool is_free = segment->pins == 0;
    if (is_free) {
        tm_log_range copies = copies_of(segment);
        tm_segment_unseal(segment);
        tm_scan_segment(&scan);
        store->recovery.lost_copies += scan.lost_copies;
        if (scan.lost_copies > 0 && copies.first <= copies.last) { /* later runs must count it, too */
            recover_missing(&r, copies.first, copies.last);
        }
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
