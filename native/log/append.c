/* append.c - a batch on its way to disk.
 *
 * Law: all memory is reserved before anything is written, so a batch that is on disk is also indexed. A failed
 * fdatasync is not repeated on its file, as the system drops what it could not write and reports that once: the batch
 * is written into a new segment, once; if that fails too, the log has failed.
 */
#include <errno.h>
#include <string.h>

#include "base/tested.h"
#include "log/append.h"
#include "log/effects.h"
#include "log/spares.h"

static const uint8_t FILLER[SECTOR_BYTES];

/* Walk the records of a batch. */
#define FOR_EACH_RECORD(batch, record)                                                                                 \
    for (int part_ = 0; part_ < (batch)->part_count; part_++)                                                          \
        for (uint8_t *at_ = (batch)->parts[part_].iov_base, *end_ = at_ + (batch)->parts[part_].iov_len;               \
             at_ < end_ && ((record) = (tm_log_record *)at_) != NULL; at_ += (record)->size)

/* ---- memory before and after ---- */

/* Reserve everything that the batch needs; the caller holds `state`. false: no memory. */
static bool reserve(tm_store *store, const tm_batch *batch) {
    tm_room room = {0};
    tm_log_record *record;
    FOR_EACH_RECORD(batch, record) {
        if (!tm_segment_reserve(store->open, record, &room)) {
            return false;
        }
        if (!batch->is_copies && !tm_store_take_holders(store, record, record->n)) {
            return false;
        }
    }
    return true;
}

/* Index a batch that is on disk, and apply its records. */
static void know(tm_store *store, const tm_batch *batch, uint64_t bytes) {
    tm_segment *segment = store->open;
    uint32_t place = (uint32_t)(segment->used + sizeof(tm_batch_head)) / 8;
    tm_log_record *record;
    FOR_EACH_RECORD(batch, record) {
        tm_segment_index(segment, record, place);
        if (!batch->is_copies) {
            tm_store_apply(store, record);
        }
        place += record->size / 8;
    }
    store->seq++;
    if (batch->is_copies) {
        store->copied_records += batch->count;
    } else {
        store->last_n = segment->last_fresh_n = batch->last_n;
    }
    segment->last_seq = store->seq;
    segment->last_n = store->last_n;
    segment->used += bytes;
    store->batch_bytes += bytes;
}

/* ---- on disk ---- */

static int write_batch(tm_store *store, const tm_batch *batch, uint64_t *bytes) {
    tm_segment *segment = store->open;
    uint32_t salt = tm_salt(segment->serial);
    tm_log_record *record;
    FOR_EACH_RECORD(batch, record) {
        record->crc = tm_record_crc(salt, record);
    }
    tm_batch_head head = {.magic = BATCH_MAGIC,
                          .serial = segment->serial,
                          .seq = store->seq + 1,
                          .committed_before = store->seq,
                          .first_n = batch->first_n,
                          .last_n = batch->last_n,
                          .bytes = batch->bytes,
                          .count = batch->count,
                          .is_copies = batch->is_copies};
    tm_batch_head_seal(&head);
    *bytes = tm_sectors(sizeof head + batch->bytes);
    struct iovec parts[4] = {{&head, sizeof head}};
    memcpy(parts + 1, batch->parts, sizeof batch->parts[0] * (size_t)batch->part_count);
    parts[batch->part_count + 1] = (struct iovec){(void *)(uintptr_t)FILLER, *bytes - sizeof head - batch->bytes};
    int result = tm_disk_write_whole(store->disk, segment->file, parts, batch->part_count + 2, segment->used);
    if (result != 0) {
        return result;
    }
    result = store->disk->port->sync(store->disk, segment->file);
    if (result != 0 && TM_BREAKS(SYNC_AGAIN)) {
        result = store->disk->port->sync(store->disk, segment->file);
    }
    return result;
}

/* Abandon the open segment: compaction copies what was committed in it, the rest is ignored. */
static void give_up_segment(tm_store *store) {
    pthread_mutex_lock(&store->state);
    store->syncs_failed++;
    if (store->open != NULL) {
        store->open->is_failed = true;
        store->open->state = SEGMENT_CLOSED;
        store->open = NULL;
        store->changes++;
    }
    pthread_mutex_unlock(&store->state);
}

/* true if the open segment has room for the batch and its footer; without a footer a start would have to read the whole
 * segment. In a new segment the footer may lack room. */
static bool fits(const tm_store *store, const tm_batch *batch) {
    const tm_segment *open = store->open;
    if (open == NULL || (batch->is_of_custody && open->version < store->version)) {
        return false;
    }
    bool is_new = open->used == SEGMENT_HEAD_BYTES;
    uint64_t footer = is_new ? 0 : tm_segment_footer_bytes(open) + tm_footer_share(batch->refs) + SECTOR_BYTES;
    return open->used + tm_sectors(sizeof(tm_batch_head) + batch->bytes) + footer <= open->bytes;
}

/* true if enough spare files are left for other kinds of batches (store.h); the batch takes one if `is_new`. */
static bool may_write(tm_store *store, const tm_batch *batch, bool is_new) {
    uint32_t wanted = batch->is_copies ? 0 : batch->has_messages ? SEGMENTS_RESERVED : SPARES_FOR_COPIES;
    return tm_store_have_spares(store, wanted + is_new);
}

static int try_once(tm_store *store, const tm_batch *batch) {
    store->version = batch->is_of_custody && !TM_BREAKS(CUSTODY_IS_PLAIN) ? VERSION_CUSTODY : store->version;
    bool is_new = !fits(store, batch);
    if (!may_write(store, batch, is_new)) {
        return TM_LOG_FULL;
    }
    if (is_new) {
        if (store->open != NULL) {
            tm_store_seal(store, store->open);
        }
        int result = tm_store_begin(store);
        if (result != TM_OK) {
            return result;
        }
    }
    pthread_mutex_lock(&store->state);
    bool has_memory = reserve(store, batch);
    pthread_mutex_unlock(&store->state);
    if (!has_memory) {
        return TM_NO_MEMORY;
    }
    uint64_t bytes;
    if (write_batch(store, batch, &bytes) != 0) {
        return TM_LOG_FAILED;
    }
    pthread_mutex_lock(&store->state);
    know(store, batch, bytes);
    pthread_mutex_unlock(&store->state);
    return TM_OK;
}

int tm_store_write(tm_store *store, const tm_batch *batch) {
    int result = store->is_failed ? TM_LOG_FAILED : try_once(store, batch);
    if (result == TM_LOG_FAILED && !store->is_failed) {
        give_up_segment(store);
        result = try_once(store, batch);
        if (result == TM_LOG_FAILED) {
            give_up_segment(store);
            store->is_failed = true;
        }
    }
    pthread_mutex_lock(&store->state);
    tm_store_judge_room(store);
    pthread_mutex_unlock(&store->state);
    return result;
}

int tm_store_append(tm_store *store, const tm_batch *batch) {
    pthread_mutex_lock(&store->writing);
    int result = tm_store_write(store, batch);
    pthread_mutex_unlock(&store->writing);
    return result;
}

uint64_t tm_store_room(tm_store *store) {
    uint64_t overhead = sizeof(tm_batch_head) + SECTOR_BYTES;
    uint64_t fresh = store->segment_bytes - SEGMENT_HEAD_BYTES - overhead;
    pthread_mutex_lock(&store->state);
    tm_segment *open = store->open;
    uint64_t footer = open != NULL ? tm_segment_footer_bytes(open) + SECTOR_BYTES : 0;
    uint64_t left =
        open != NULL && open->used + footer + overhead < open->bytes ? open->bytes - open->used - footer - overhead : 0;
    pthread_mutex_unlock(&store->state);
    return left >= fresh / 8 ? left : fresh - fresh / 8; /* an eighth for the footer */
}
