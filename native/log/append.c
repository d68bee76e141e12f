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
#include "log/spares.h"

static const uint8_t FILLER[SECTOR_BYTES];

/* Walk the records of a batch. */
#define FOR_EACH_RECORD(batch, record)                                                                                 \
    for (int part_ = 0; part_ < (batch)->part_count; part_++)                                                          \
        for (uint8_t *at_ = (batch)->parts[part_].iov_base, *end_ = at_ + (batch)->parts[part_].iov_len;               \
             at_ < end_ && ((record) = (tm_log_record *)at_) != NULL; at_ += (record)->size)

/* ---- effects of a record on others ---- */

#define FORGOTTEN (UINT64_C(1) << 40) /* counts as this many done numbers, so that every segment is judged again */

static void forget(tm_store *store, uint64_t id, tm_role role) {
    tm_log_holder *holder = tm_log_holders_find(&store->holders, id, role);
    if (holder != NULL) {
        tm_log_holders_forget(&store->holders, holder);
        store->done += FORGOTTEN;
    }
}

static void acknowledge(tm_store *store, tm_log_holder *holder, uint64_t first, uint64_t last) {
    uint64_t from = first > holder->done ? first : holder->done + 1;
    store->done += last >= from ? last - from + 1 : 0;
    tm_log_holders_done(&store->holders, holder, first, last);
}

static void apply_done(tm_store *store, const tm_log_record *record, bool is_forgotten) {
    uint32_t count = record->kind == TM_LOG_DEAD_LETTER ? 1 : record->body_size / (uint32_t)sizeof(tm_log_done);
    const tm_log_done *done = (const tm_log_done *)tm_record_body(record);
    for (uint32_t i = 0; i < count && record->body_size >= sizeof *done; i++) {
        tm_role role = done[i].is_home != 0 ? TM_HOME : TM_DURABLE;
        tm_log_holder *holder = tm_log_holders_find(&store->holders, done[i].holder, role);
        if (is_forgotten) {
            forget(store, done[i].holder, role);
            if (role == TM_DURABLE) {
                forget(store, done[i].holder, TM_POLICY);
            }
        } else if (holder != NULL) {
            tm_log_holder *policy = tm_log_holders_find(&store->holders, done[i].holder, TM_POLICY);
            if (TM_BREAKS(POLICY_ARE_ACKED) && policy != NULL) {
                acknowledge(store, policy, done[i].first, done[i].last);
            }
            acknowledge(store, holder, done[i].first, done[i].last < record->n ? done[i].last : record->n);
        }
    }
}

/* Drop the policies that were committed before. */
static void replace_policy(tm_store *store, const tm_log_record *record) {
    for (uint32_t i = 0; i < record->durables; i++) {
        tm_log_holder *policy = tm_log_holders_find(&store->holders, tm_record_durables(record)[i], TM_POLICY);
        if (policy != NULL && record->n > 0) {
            acknowledge(store, policy, 0, record->n - 1);
        }
    }
}

void tm_store_apply(tm_store *store, const tm_log_record *record) {
    switch (record->kind) {
    case TM_LOG_ACK:
    case TM_LOG_DEAD_LETTER:
        apply_done(store, record, false);
        break;
    case TM_LOG_FORGET:
        apply_done(store, record, true);
        break;
    case TM_LOG_GAP:
        for (uint32_t i = 0; i < record->body_size / sizeof(tm_log_range); i++) {
            const tm_log_range *range = (const tm_log_range *)tm_record_body(record) + i;
            tm_ranges_cut(&store->missing, &store->memory, range->first, range->last);
        }
        break;
    case TM_LOG_DURABLE:
        replace_policy(store, record);
        break;
    default:
        break;
    }
}

bool tm_store_take_holders(tm_store *store, const tm_log_record *record, uint64_t first) {
    for (uint32_t i = 0; i < tm_record_claims(record); i++) {
        tm_claim claim = tm_record_claim(record, i);
        if (tm_log_holders_take(&store->holders, claim.holder, claim.role, first) == NULL) {
            return false;
        }
    }
    const tm_log_done *left = (const tm_log_done *)tm_record_body(record);
    bool is_dead_letter = record->kind == TM_LOG_DEAD_LETTER && record->body_size >= sizeof *left;
    tm_role role = is_dead_letter && left->is_home != 0 ? TM_HOME : TM_DURABLE;
    return !is_dead_letter || tm_log_holders_take(&store->holders, left->holder, role, first) != NULL;
}

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
    if (open == NULL) {
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
