/* maintain.c - background maintenance: spare files, footers, checkpoints, compaction, scrubbing.
 *
 * Law: each call does one bounded piece. The file of a segment is reused only after everything open in it was copied
 * and committed, a checkpoint without the segment that holds all its effects is on disk, and no thread reads it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/tested.h"
#include "log/append.h"
#include "log/checkpoint.h"
#include "log/cursor.h"
#include "log/maintain.h"
#include "log/read.h"
#include "log/recover.h"
#include "log/rescan.h"
#include "log/scan.h"
#include "log/spares.h"

/* ---- open records of a segment ---- */

/* An open record. */
typedef struct open_record {
    uint64_t n;
    uint32_t place;
    uint32_t body_size;
} open_record;

typedef struct open_records {
    open_record *all; /* owned */
    uint32_t count;
    uint32_t capacity;
    uint64_t weight;   /* of all records */
    uint64_t heaviest; /* most weight that one done number can remove */
} open_records;

/* Find the number after which records of the row may be open; false: all are done. The caller holds `state`. */
static bool find_open(const tm_store *store, const tm_row *row, uint64_t *after) {
    const tm_log_holder *holder = tm_log_holders_find(&store->holders, row->holder, row->role);
    *after = holder != NULL && holder->done > *after ? holder->done : *after;
    return holder != NULL && holder->done < tm_row_n(row, row->low_max);
}

/* Add the open records of a stretch, which is passed. The caller holds `state`. TM_NO_MEMORY. */
static int add_stretch(tm_store *store, tm_row_cursor *cursor, open_records *open) {
    const tm_row *row = &cursor->row;
    const tm_log_holder *holder = tm_log_holders_find(&store->holders, row->holder, row->role);
    uint32_t most = holder != NULL ? cursor->count - cursor->at : 0;
    if (!tm_grow(&store->memory, TM_COLD, &open->all, sizeof *open->all, &open->capacity, open->count + most)) {
        return TM_NO_MEMORY;
    }
    for (; holder != NULL && cursor->at < cursor->count; cursor->at++) {
        const tm_reference *reference = &cursor->references[cursor->at];
        uint64_t n = tm_row_n(row, reference->low);
        if (!tm_log_holders_is_done(holder, n)) {
            const tm_summary *summary = &reference->summary;
            open->all[open->count++] = (open_record){.n = n, .place = summary->place, .body_size = summary->body_size};
        }
    }
    cursor->at = cursor->count;
    return TM_OK;
}

static bool gather_row(tm_store *store, tm_segment *segment, const tm_row *row, uint64_t after, open_records *open) {
    tm_row_cursor cursor = {.segment = segment, .row = *row};
    uint32_t before = open->count;
    int result = TM_OK;
    while (result == TM_OK && tm_row_cursor_is_dry(&cursor)) {
        result = tm_row_cursor_fill(store, &cursor, after);
        pthread_mutex_lock(&store->state);
        result = result == TM_OK ? add_stretch(store, &cursor, open) : result;
        pthread_mutex_unlock(&store->state);
    }
    open->weight += (open->count - before) * POSTING_WEIGHT + (open->count > before ? sizeof(tm_row) : 0);
    pthread_mutex_lock(&store->state);
    tm_row_cursor_free(store, &cursor);
    pthread_mutex_unlock(&store->state);
    return result == TM_OK;
}

static int by_n(const void *one, const void *other) {
    uint64_t first = ((const open_record *)one)->n;
    uint64_t second = ((const open_record *)other)->n;
    return (first > second) - (first < second);
}

/* Collect the open records of the segment past `after`, by number, each once. false: no memory or no disk. */
static bool gather(tm_store *store, tm_segment *segment, uint64_t after, open_records *open) {
    uint32_t rows = 0;
    for (uint32_t i = 0; i < segment->row_count; i++) {
        uint64_t from = after;
        uint32_t before = open->count;
        pthread_mutex_lock(&store->state);
        bool is_open = find_open(store, &segment->rows[i], &from);
        pthread_mutex_unlock(&store->state);
        if (is_open && !gather_row(store, segment, &segment->rows[i], from, open)) {
            return false;
        }
        rows += open->count > before;
    }
    if (rows > 1) { /* each row is sorted */
        qsort(open->all, open->count, sizeof *open->all, by_n);
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < open->count; i++) {
        if (kept == 0 || open->all[kept - 1].n != open->all[i].n) {
            uint64_t weight = tm_record_weight(open->all[i].body_size, segment->bytes);
            open->weight += weight;
            open->heaviest = weight > open->heaviest ? weight : open->heaviest;
            open->all[kept++] = open->all[i];
        }
    }
    open->heaviest += POSTING_WEIGHT + sizeof(tm_row);
    open->count = kept;
    return true;
}

static void free_open(tm_store *store, open_records *open) {
    pthread_mutex_lock(&store->state);
    TM_DELETE(&store->memory, TM_COLD, open->all, open_record, open->capacity);
    pthread_mutex_unlock(&store->state);
}

/* ---- compaction ---- */

static void leave(tm_store *store, tm_segment *segment) {
    pthread_mutex_lock(&store->state);
    segment->is_leaving = true;
    segment->is_sparse = false;
    segment->left_at = ++store->changes;
    if (store->copied == segment) {
        store->copied = NULL;
        store->copied_to = 0;
    }
    pthread_mutex_unlock(&store->state);
}

/* true if something in a sealed segment is damaged, so that its footer cannot be used; it is read again before anything
 * is copied. */
static bool is_unread(const tm_segment *segment) {
    return segment->is_damaged && segment->state == SEGMENT_SEALED;
}

/* Read open records into `buffer` as a batch. Return how many were handled: copied, or reported as missing if the
 * segment was read again. */
static uint32_t collect(tm_store *store, tm_segment *segment, const open_records *open, uint8_t *buffer,
                        size_t capacity, tm_batch *batch) {
    uint32_t dealt = 0;
    *batch = (tm_batch){.part_count = 1, .is_copies = true};
    while (dealt < open->count) {
        uint32_t place = open->all[dealt].place;
        uint64_t n = open->all[dealt].n;
        size_t size = 0;
        int result = tm_store_fetch(store, segment, place, n, buffer + batch->bytes, capacity - batch->bytes, &size);
        if (result == TM_TOO_MANY) {
            break; /* the buffer has room for at least one record */
        }
        if (result == TM_OK) {
            ((tm_log_record *)(buffer + batch->bytes))->flags |= TM_LOG_COPIED;
            batch->refs += tm_record_claims((const tm_log_record *)(buffer + batch->bytes));
            batch->is_of_custody |= tm_record_is_of_custody((const tm_log_record *)(buffer + batch->bytes));
            batch->first_n = batch->count == 0 ? n : batch->first_n;
            batch->last_n = n;
            batch->bytes += (uint32_t)size;
            batch->count++;
        } else {
            pthread_mutex_lock(&store->state);
            store->damaged += !segment->is_damaged;
            segment->is_damaged = true;
            if (!is_unread(segment)) {
                tm_store_add_missing(store, n, n);
            }
            pthread_mutex_unlock(&store->state);
            if (is_unread(segment)) {
                break;
            }
        }
        dealt++;
    }
    batch->parts[0] = (struct iovec){buffer, batch->bytes};
    return dealt;
}

static int copy_some(tm_store *store, tm_segment *segment) {
    open_records open = {0};
    int result = gather(store, segment, store->copied_to, &open) ? TM_OK : TM_NO_MEMORY;
    if (result == TM_OK && open.count == 0) {
        leave(store, segment);
    } else if (result == TM_OK) {
        pthread_mutex_lock(&store->state);
        uint8_t *buffer = TM_NEW(&store->memory, TM_COLD, uint8_t, store->copy_bytes);
        pthread_mutex_unlock(&store->state);
        tm_batch batch;
        uint32_t dealt = buffer != NULL ? collect(store, segment, &open, buffer, store->copy_bytes, &batch) : 0;
        result = buffer == NULL ? TM_NO_MEMORY : TM_OK;
        if (TM_BREAKS(COPY_UNSYNCED) && dealt == open.count && dealt > 0) {
            leave(store, segment);
            tm_checkpoint_write(store, false);
            tm_store_drop(store, segment);
        }
        if (buffer != NULL && is_unread(segment)) {
            batch.count = dealt = 0;
            store->copied_to = 0;
        }
        if (buffer != NULL && batch.count > 0) {
            pthread_mutex_lock(&store->writing);
            result = tm_store_write(store, &batch);
            pthread_mutex_unlock(&store->writing);
        }
        if (result == TM_OK && dealt > 0) {
            store->copied_to = open.all[dealt - 1].n;
        }
        pthread_mutex_lock(&store->state);
        TM_DELETE(&store->memory, TM_COLD, buffer, uint8_t, buffer != NULL ? store->copy_bytes : 0);
        pthread_mutex_unlock(&store->state);
    }
    free_open(store, &open);
    return result;
}

/* ---- selection of a segment ---- */

static bool is_crowded(const tm_store *store) {
    return store->is_tight || store->is_scarce;
}

/* true if holders may be done with enough of a segment since it was judged. */
static bool is_to_judge(const tm_store *store, const tm_segment *segment) {
    bool is_due = (is_crowded(store) ? segment->crowded_at : segment->judge_at) <= store->done;
    bool is_given_up = segment->is_damaged || segment->is_failed;
    bool is_copied = segment == store->copied || (segment->is_sparse && is_given_up); /* or waits to be copied */
    bool is_asked = is_copied ? is_unread(segment) : is_due || is_given_up;
    return is_asked && !store->is_held && segment->state != SEGMENT_OPEN && !segment->is_leaving;
}

/* true if the open segment has room for the open records of another one, with a margin for what batches add. */
static bool has_room_for(const tm_store *store, const tm_segment *segment) {
    const tm_segment *open = store->open;
    return open != NULL &&
           open->used + tm_segment_footer_bytes(open) + segment->open_weight + open->bytes / 4 <= open->bytes;
}

/* true if a segment is the last one that was closed, and there is room: what is open in it is new, and holders are
 * likely to be done with it before another segment is full. */
static bool is_recent(const tm_store *store, const tm_segment *segment) {
    return !is_crowded(store) && segment->open_weight > 0 && store->open != NULL &&
           segment->serial == store->open->previous;
}

/* Return the sparse segment to copy: the current one, or of those that are not recent the one with the least open
 * weight. NULL: there is none, or copying would fill as many files as it frees. It is worthwhile if nothing in the
 * segment is open, if the open segment has room for it, if all sparse segments need three quarters of a file less than
 * they have, or if there is no room for records that free others. */
static tm_segment *next_to_copy(const tm_store *store) {
    if (store->copied_to > 0) {
        return store->copied;
    }
    tm_segment *next = NULL;
    uint64_t room = 0;
    uint64_t weight = 0;
    for (uint32_t i = 0; i < store->segment_count; i++) {
        tm_segment *segment = store->segments[i];
        bool is_ready = segment->is_sparse && !is_unread(segment) && !is_recent(store, segment);
        next = is_ready && (next == NULL || segment->open_weight < next->open_weight) ? segment : next;
        room += segment->is_sparse ? (store->segment_bytes - SEGMENT_HEAD_BYTES) / 4 * 3 : 0;
        weight += segment->is_sparse ? segment->open_weight : 0;
    }
    bool is_of_use = next != NULL && (next->open_weight == 0 || store->is_full_of_all || has_room_for(store, next) ||
                                      weight + (store->segment_bytes - SEGMENT_HEAD_BYTES) / 4 * 3 <= room);
    return is_of_use ? next : NULL;
}

bool tm_store_may_free(const tm_store *store) {
    bool may = !store->cannot_copy && next_to_copy(store) != NULL;
    for (uint32_t i = 0; i < store->segment_count && !may; i++) {
        may = store->segments[i]->is_leaving || is_to_judge(store, store->segments[i]);
    }
    return may && !store->cannot_maintain;
}

/* Return the next segment to judge; NULL: there is none, or the log is held. */
static tm_segment *next_to_judge(tm_store *store) {
    tm_segment *next = NULL;
    pthread_mutex_lock(&store->state);
    for (uint32_t i = 0; i < store->segment_count; i++) {
        tm_segment *segment = store->segments[i];
        if (is_to_judge(store, segment) && (next == NULL || segment->judge_at < next->judge_at)) {
            next = segment;
        }
    }
    if (next != NULL) {
        next->judge_at = next->crowded_at = store->done + 1;
    }
    pthread_mutex_unlock(&store->state);
    return next;
}

/* true if a segment is open as a whole, judged by its rows alone. */
static bool is_all_open(tm_store *store, const tm_segment *segment) {
    bool is_open = segment->weight > 0;
    pthread_mutex_lock(&store->state);
    for (uint32_t i = 0; i < segment->row_count && is_open; i++) {
        const tm_row *row = &segment->rows[i];
        const tm_log_holder *holder = tm_log_holders_find(&store->holders, row->holder, row->role);
        is_open = holder != NULL && holder->done < tm_row_n(row, row->low_min) && holder->above.count == 0;
    }
    pthread_mutex_unlock(&store->state);
    return is_open;
}

/* Return the count of done numbers at which a segment with this open weight may be down to `limit`. */
static uint64_t judged_again(const tm_store *store, const tm_segment *segment, uint64_t weight, uint64_t limit,
                             uint64_t heaviest) {
    if (weight <= limit) { /* a segment of copies is not copied again before any number is done */
        return segment->last_fresh_n == 0 ? segment->begun_at : 0;
    }
    return store->done + (weight - limit + heaviest - 1) / heaviest;
}

/* Let a segment with this number of open records be copied. It is judged again once all of them may be done. */
static void make_sparse(tm_store *store, tm_segment *segment, uint64_t open_weight, uint64_t records) {
    pthread_mutex_lock(&store->state);
    segment->is_sparse = true;
    segment->open_weight = open_weight;
    segment->judge_at = store->done + (records > 0 ? records : 1);
    segment->crowded_at = store->done + 1;
    pthread_mutex_unlock(&store->state);
}

/* true if a segment with this open weight is kept; it is judged again when enough may be done. While there is room, a
 * segment with many open records is kept however short they are: a start finds in it which holder has had which
 * message, and copies no longer record that for holders that are done. */
static bool is_worth_keeping(tm_store *store, tm_segment *segment, uint64_t weight, uint64_t heaviest,
                             uint64_t records) {
    uint64_t percent = (segment->bytes - SEGMENT_HEAD_BYTES) / 100;
    uint64_t few = (uint64_t)segment->summary_count * COPY_PERCENT_MAX / 100;
    pthread_mutex_lock(&store->state);
    segment->judge_at = judged_again(store, segment, weight, percent * COPY_PERCENT_MAX, heaviest);
    if (records > few && segment->judge_at < store->done + (records - few)) {
        segment->judge_at = store->done + (records - few);
    }
    segment->crowded_at = judged_again(store, segment, weight, percent * CROWDED_PERCENT_MAX, heaviest);
    bool is_sparse = (is_crowded(store) ? segment->crowded_at : segment->judge_at) <= store->done;
    pthread_mutex_unlock(&store->state);
    if (is_sparse) {
        make_sparse(store, segment, weight, records);
    }
    return !is_sparse;
}

static int judge(tm_store *store, tm_segment *segment) {
    if (segment->state == SEGMENT_CLOSED && !segment->is_damaged && !segment->is_failed) {
        pthread_mutex_lock(&store->writing);
        tm_store_seal(store, segment);
        pthread_mutex_unlock(&store->writing);
    }
    if (segment->is_damaged && segment->state == SEGMENT_SEALED) {
        int result = tm_store_rescan(store, segment);
        if (result != TM_OK) {
            segment->judge_at = 0;
            return result;
        }
    }
    bool is_given_up = segment->is_damaged || segment->is_failed;
    if (is_given_up) { /* whatever is open in it */
        make_sparse(store, segment, 0, 0);
    } else if (is_all_open(store, segment) &&
               is_worth_keeping(store, segment, segment->weight, segment->heaviest, segment->summary_count)) {
        return TM_OK;
    }
    open_records open = {0};
    int result = gather(store, segment, 0, &open) ? TM_OK : TM_NO_MEMORY;
    if (result == TM_OK && open.count == 0) {
        leave(store, segment);
    } else if (result == TM_OK && !is_given_up) {
        is_worth_keeping(store, segment, open.weight, open.heaviest, open.count);
    } else if (result != TM_OK) {
        segment->judge_at = segment->crowded_at = 0;
    }
    free_open(store, &open);
    return result;
}

/* ---- checkpoints, and the segments that they free ---- */

static tm_segment *next_to_drop(tm_store *store, bool *is_wanting) {
    tm_segment *next = NULL;
    *is_wanting = false;
    pthread_mutex_lock(&store->state);
    for (uint32_t i = 0; i < store->segment_count; i++) {
        tm_segment *segment = store->segments[i];
        if (segment->is_leaving && segment->pins == 0) {
            bool is_held = segment->left_at <= store->checkpoint_count && segment->last_seq <= store->checkpoint_seq;
            next = is_held || TM_BREAKS(REMOVE_EARLY) ? segment : next;
            *is_wanting = *is_wanting || !is_held;
        }
    }
    pthread_mutex_unlock(&store->state);
    return next;
}

/* true if the store has changed since the checkpoint on disk. */
static bool is_checkpoint_old(tm_store *store) {
    pthread_mutex_lock(&store->state);
    bool is_old = store->checkpoint_seq != store->seq || store->checkpoint_count != store->changes;
    pthread_mutex_unlock(&store->state);
    return is_old;
}

/* true if a checkpoint frees more room than it takes, as a segment waits for it whose file becomes a spare file. */
static bool gives_room(tm_store *store) {
    bool is_some = false;
    pthread_mutex_lock(&store->state);
    for (uint32_t i = 0; i < store->segment_count; i++) {
        const tm_segment *segment = store->segments[i];
        is_some = is_some || (segment->is_leaving && !segment->is_damaged);
    }
    pthread_mutex_unlock(&store->state);
    return is_some;
}

static bool has_failed(tm_store *store) {
    pthread_mutex_lock(&store->state);
    bool is_failed = store->is_failed;
    pthread_mutex_unlock(&store->state);
    return is_failed;
}

static void choose_copied(tm_store *store) {
    pthread_mutex_lock(&store->state);
    store->copied = store->copied_to > 0 ? store->copied : next_to_copy(store);
    store->cannot_copy = store->cannot_copy && store->copied != NULL;
    pthread_mutex_unlock(&store->state);
}

static void note_copying(tm_store *store, int result) {
    pthread_mutex_lock(&store->state);
    store->cannot_copy = result == TM_LOG_FULL;
    pthread_mutex_unlock(&store->state);
}

/* Copy a piece of the next segment, if there is one. TM_LOG_FULL: there is no room for it. */
static int copy_next(tm_store *store, bool *is_idle) {
    choose_copied(store);
    if (store->copied == NULL || is_unread(store->copied)) {
        return TM_OK;
    }
    int result = has_failed(store) ? TM_LOG_FAILED : copy_some(store, store->copied);
    note_copying(store, result);
    *is_idle = result == TM_LOG_FULL;
    return result;
}

bool tm_store_end_copy(tm_store *store) {
    uint64_t before = 0;
    while (store->copied_to > before) {
        before = store->copied_to;
        if (copy_some(store, store->copied) != TM_OK) {
            break;
        }
    }
    return store->copied_to == 0;
}

/* true if a checkpoint is due and no copy is under way: see recover_segment.c. */
static bool is_checkpoint_wanted(tm_store *store, bool is_due) {
    return is_due && store->copied_to == 0 && is_checkpoint_old(store);
}

static int maintain_a_piece(tm_store *store, bool is_checkpoint_due, bool *is_idle) {
    *is_idle = false;
    bool is_wanting;
    tm_segment *drop = next_to_drop(store, &is_wanting);
    if (drop != NULL) {
        pthread_mutex_lock(&store->writing);
        int result = tm_store_drop(store, drop);
        pthread_mutex_unlock(&store->writing);
        return result;
    }
    if (is_wanting || is_checkpoint_wanted(store, is_checkpoint_due)) {
        int result = tm_checkpoint_write(store, false);
        if (result != TM_LOG_FULL) { /* otherwise more segments may go with the one for which room is found */
            return result;
        }
    }
    *is_idle = true;
    tm_store_prepare(store, is_idle);
    int result = *is_idle ? copy_next(store, is_idle) : TM_OK;
    if (!*is_idle) {
        return result;
    }
    tm_segment *segment = has_failed(store) ? NULL : next_to_judge(store);
    if (segment != NULL) {
        *is_idle = false;
        return judge(store, segment);
    }
    if (is_wanting && gives_room(store)) {
        result = tm_checkpoint_write(store, true);
        *is_idle = result != TM_OK;
        return result;
    }
    tm_store_borrow(store, is_idle);
    return TM_OK;
}

int tm_store_maintain(tm_store *store, bool is_checkpoint_due, bool *is_idle) {
    int result = maintain_a_piece(store, is_checkpoint_due, is_idle);
    pthread_mutex_lock(&store->state);
    store->cannot_maintain = result != TM_OK;
    pthread_mutex_unlock(&store->state);
    return result;
}

/* ---- scrubbing ---- */

/* Return the sealed segment after the last one that was scrubbed, pinned; NULL: all were read. */
static tm_segment *next_to_scrub(tm_store *store) {
    tm_segment *next = NULL;
    pthread_mutex_lock(&store->state);
    for (uint32_t i = 0; i < store->segment_count && next == NULL; i++) {
        tm_segment *segment = store->segments[i];
        if (segment->serial > store->scrub_serial && segment->state == SEGMENT_SEALED && !segment->is_damaged &&
            !segment->is_leaving) {
            next = segment;
            next->pins++;
        }
    }
    store->scrub_serial = next != NULL ? next->serial : 0;
    pthread_mutex_unlock(&store->state);
    return next;
}

int tm_store_scrub(tm_store *store, uint64_t bytes, bool *is_through) {
    *is_through = false;
    for (uint64_t done = 0; done < bytes;) {
        tm_segment *segment = next_to_scrub(store);
        if (segment == NULL) {
            *is_through = true;
            return TM_OK;
        }
        bool is_sound = true;
        int result = tm_store_check(store, segment, &is_sound);
        done += segment->bytes;
        pthread_mutex_lock(&store->state);
        segment->pins--;
        store->scrubbed_bytes += segment->bytes;
        store->damaged += !is_sound && !segment->is_damaged;
        segment->is_damaged = segment->is_damaged || !is_sound;
        segment->judge_at = is_sound ? segment->judge_at : 0;
        pthread_mutex_unlock(&store->state);
        if (result != TM_OK) {
            return result;
        }
    }
    return TM_OK;
}
