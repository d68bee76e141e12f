/* scan.c - see scan.h. */
#include "log/scan.h"

#include "base/tested.h"

#define UNKNOWN UINT64_MAX /* the end of the missing numbers is not known */

static const tm_batch_head *batch_at(const tm_scan *scan, uint64_t at) {
    return (const tm_batch_head *)(scan->bytes + at);
}

/* true if there is a batch that may follow those read. */
static bool follows(const tm_scan *scan, uint64_t at) {
    const tm_batch_head *head = batch_at(scan, at);
    return tm_batch_head_is_sound(head, scan->serial, scan->size - at) &&
           (head->seq > scan->seq || TM_BREAKS(NO_SALT)) && head->seq <= scan->seq_max;
}

/* Return the place of the next batch from `at` on that was written after batch `seq` was on disk; `size`: there is
 * none. */
static uint64_t find_later(const tm_scan *scan, uint64_t at, uint64_t seq) {
    for (; at + sizeof(tm_batch_head) <= scan->size; at += SECTOR_BYTES) {
        if (follows(scan, at) && batch_at(scan, at)->committed_before >= seq) {
            return at;
        }
    }
    return scan->size;
}

static void tell_found(tm_scan *scan, const tm_log_record *record, uint64_t at, uint64_t seq) {
    scan->records++;
    if (scan->found != NULL) {
        scan->found(scan->context, record, (uint32_t)(at / 8), seq);
    }
}

static void tell_missing(tm_scan *scan, uint64_t end) {
    if (scan->next_n < end && scan->missing != NULL) {
        scan->missing(scan->context, scan->next_n, end - 1);
    }
    scan->next_n = end > scan->next_n ? end : scan->next_n;
}

static uint64_t records_end(const tm_scan *scan, uint64_t at) {
    return at + sizeof(tm_batch_head) + batch_at(scan, at)->bytes;
}

/* ---- sound batches ---- */

static bool is_whole(const tm_scan *scan, uint64_t at) {
    uint32_t salt = tm_salt(scan->serial);
    uint64_t end = records_end(scan, at);
    uint32_t count = 0;
    for (uint64_t place = at + sizeof(tm_batch_head); place < end; count++) {
        if (!tm_record_is_sound(salt, scan->bytes + place, end - place)) {
            return false;
        }
        place += ((const tm_log_record *)(scan->bytes + place))->size;
    }
    return count == batch_at(scan, at)->count;
}

static void take_whole(tm_scan *scan, uint64_t at) {
    const tm_batch_head *head = batch_at(scan, at);
    uint64_t end = records_end(scan, at);
    for (uint64_t place = at + sizeof *head; place < end;) {
        const tm_log_record *record = (const tm_log_record *)(scan->bytes + place);
        tell_found(scan, record, place, head->seq);
        place += record->size;
    }
    if (!head->is_copies) {
        tell_missing(scan, head->first_n);
        scan->next_n = head->last_n + 1 > scan->next_n ? head->last_n + 1 : scan->next_n; /* never decreases */
    }
}

/* ---- damage ---- */

/* Take the sound records of a stretch, of batches up to `seq`, and report the missing numbers below `end_n`. */
static void salvage(tm_scan *scan, uint64_t from, uint64_t to, uint64_t end_n, uint64_t seq) {
    uint32_t salt = tm_salt(scan->serial);
    uint64_t before_n = scan->next_n;
    uint64_t budget = (to - from) * SALVAGE_TIMES;
    scan->damages++;
    for (uint64_t at = from; at + sizeof(tm_log_record) <= to;) {
        const tm_log_record *record = (const tm_log_record *)(scan->bytes + at);
        bool is_copy = record->flags & TM_LOG_COPIED;
        bool is_expected = is_copy || (record->n >= scan->next_n && record->n < end_n);
        if (!is_expected || record->size > to - at || record->size > budget || record->size < sizeof *record ||
            record->size != tm_record_bytes(record->durables, record->homes, record->body_size)) {
            at += 8;
            continue;
        }
        budget -= record->size;
        if (!tm_record_is_sound(salt, scan->bytes + at, to - at)) {
            at += 8;
            continue;
        }
        if (!is_copy) {
            tell_missing(scan, record->n);
            scan->next_n = record->n + 1;
        }
        tell_found(scan, record, at, seq);
        at += record->size;
    }
    bool is_of_copies = before_n == scan->next_n && (end_n == UNKNOWN || end_n == before_n);
    scan->lost_copies += is_of_copies || seq > scan->seq + 1; /* one of several batches may have held copies */
    if (end_n != UNKNOWN) {
        tell_missing(scan, end_n);
    }
}

/* Take the sound records from `at` on, where no later batch states more. */
static void salvage_rest(tm_scan *scan, uint64_t at) {
    uint64_t end_n = scan->known_n >= scan->next_n ? scan->known_n + 1 : scan->next_n;
    salvage(scan, at, scan->size, end_n, scan->known_seq);
    scan->seq = scan->known_seq;
}

static bool is_more_known(const tm_scan *scan) {
    return scan->seq < scan->known_seq && scan->seq < scan->seq_max;
}

/* Pass bytes at `at` that are not a sound batch with sound records. Return where to continue; 0: the batch is torn, and
 * nothing follows. */
static uint64_t pass_damage(tm_scan *scan, uint64_t at) {
    bool is_known = is_more_known(scan);
    bool has_head = follows(scan, at) && batch_at(scan, at)->seq == scan->seq + 1;
    uint64_t later = find_later(scan, at + SECTOR_BYTES, scan->seq + 1);
    if (later == scan->size && !is_known && !(TM_BREAKS(TORN_IS_DAMAGE) && has_head)) {
        scan->torn_bytes += has_head ? tm_sectors(records_end(scan, at) - at) : 0;
        return 0;
    }
    if (TM_BREAKS(DAMAGE_IS_TORN)) {
        return 0;
    }
    if (has_head) {
        const tm_batch_head *head = batch_at(scan, at);
        uint64_t after = at + tm_sectors(sizeof *head + head->bytes);
        uint64_t end_n = head->is_copies ? scan->next_n : head->last_n + 1;
        salvage(scan, at + sizeof *head, records_end(scan, at), end_n, head->seq);
        scan->seq = head->seq;
        return after;
    }
    if (later == scan->size) {
        salvage_rest(scan, at);
        return scan->size;
    }
    const tm_batch_head *head = batch_at(scan, later);
    /* Copies do not bound the numbers before them; the next other batch does. */
    salvage(scan, at, later, head->is_copies ? UNKNOWN : head->first_n, head->seq - 1);
    scan->seq = head->seq - 1;
    return later;
}

void tm_scan_segment(tm_scan *scan) {
    uint64_t at = SEGMENT_HEAD_BYTES;
    scan->end = at;
    while (at != 0 && at + sizeof(tm_batch_head) <= scan->size) {
        bool is_next = follows(scan, at) && (batch_at(scan, at)->seq == scan->seq + 1 || TM_BREAKS(NO_SALT));
        if (is_next && is_whole(scan, at)) {
            take_whole(scan, at);
            scan->seq = batch_at(scan, at)->seq;
            at += tm_sectors(sizeof(tm_batch_head) + batch_at(scan, at)->bytes);
        } else {
            at = pass_damage(scan, at);
        }
        scan->end = at != 0 ? at : scan->end;
    }
    if (at != 0 && is_more_known(scan)) { /* the file is truncated: more was on disk */
        salvage_rest(scan, scan->size);
    }
    scan->end = scan->end < scan->size ? scan->end : scan->size;
}
