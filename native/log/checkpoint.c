/* checkpoint.c - the files beside segments: the life, and checkpoints of holders and of missing numbers.
 *
 * Law: a checkpoint holds the effects of batches up to its `seq` and of no later one; it replaces the previous one
 * whole. A segment that it does not list and that is not newer is out of use. Both files have a checksum; if one is
 * damaged, that is reported and the log is read from its first segment on. A life begins on a full disk, too.
 */
#include <errno.h>
#include <string.h>

#include "base/tested.h"
#include "log/checkpoint.h"
#include "log/spares.h"

#define LIFE_MAGIC UINT64_C(0x3145464c534d4154) /* "TAMSLFE1" */

/* The first bytes of a checkpoint; segments, holders, ranges and missing numbers follow, and in version 3 chains, up to
 * its end. A later version has its checksum in the same place, over the same bytes. */
typedef struct checkpoint_head {
    uint64_t magic;
    uint64_t log_id;
    uint64_t life;
    uint64_t serial;
    uint64_t seq;
    uint64_t last_n;
    uint32_t segments;
    uint32_t holders;
    uint32_t ranges; /* of all holders */
    uint32_t missing;
    uint32_t is_last; /* the log was closed: nothing was committed after it. 0 in earlier versions */
    uint32_t crc;     /* of the fields before and all that follows */
} checkpoint_head;

typedef struct checkpoint_holder {
    uint64_t id;
    uint64_t done;
    uint32_t ranges;
    uint32_t role;
} checkpoint_holder;

typedef struct life_file {
    uint64_t magic;
    uint64_t log_id;
    uint64_t life;
    uint32_t reserved;
    uint32_t crc;
} life_file;

/* ---- the life ---- */

/* Overwrite the life on disk in place, which takes no room: it lies in one sector. */
static int write_life_in_place(tm_disk *disk, const life_file *life) {
    int file;
    int result = disk->port->open(disk, LIFE_NAME, false, &file);
    if (result == 0) {
        struct iovec part = {(void *)(uintptr_t)life, sizeof *life};
        result = tm_disk_write_whole(disk, file, &part, 1, 0);
        result = result == 0 ? disk->port->sync(disk, file) : result;
        disk->port->close(disk, file);
    }
    return result;
}

int tm_life_begin(tm_store *store, uint64_t life) {
    life_file file = {.magic = LIFE_MAGIC, .log_id = store->log_id, .life = life};
    file.crc = tm_crc(0, &file, offsetof(life_file, crc));
    if (TM_BREAKS(LIFE_LATE)) {
        return TM_OK;
    }
    int result = tm_disk_replace(store->disk, LIFE_NAME, &file, sizeof file, NULL);
    if (tm_disk_is_full(result)) {
        result = write_life_in_place(store->disk, &file) == 0 ? 0 : result;
    }
    return result == 0 ? TM_OK : tm_disk_is_full(result) ? TM_LOG_FULL : TM_LOG_DISK;
}

int tm_life_read(tm_store *store, uint64_t *life, uint64_t *log_id) {
    life_file read = {0};
    int file;
    *life = *log_id = 0;
    int result = store->disk->port->open(store->disk, LIFE_NAME, false, &file);
    if (result != 0) {
        return result == -ENOENT ? TM_OK : TM_LOG_DISK;
    }
    result = tm_disk_read_whole(store->disk, file, &read, sizeof read, 0);
    store->disk->port->close(store->disk, file);
    if (result == 0 && read.magic == LIFE_MAGIC && read.crc == tm_crc(0, &read, offsetof(life_file, crc))) {
        *life = read.life;
        *log_id = read.log_id;
    }
    return TM_OK;
}

/* ---- writing a checkpoint ---- */

typedef struct sizes {
    uint32_t segments;
    uint32_t ranges;
    size_t chains;
    uint64_t bytes;
} sizes;

/* true unless the segment leaves or was abandoned before anything was written into it. */
static bool is_in_use(const tm_segment *segment) {
    bool is_empty = segment->state != SEGMENT_OPEN && segment->last_seq == segment->seq_before && !segment->is_damaged;
    return !segment->is_leaving && !is_empty;
}

static sizes measure(const tm_store *store) {
    sizes sizes = {0};
    for (uint32_t i = 0; i < store->segment_count; i++) {
        sizes.segments += is_in_use(store->segments[i]);
    }
    for (uint32_t i = 0; i < store->holders.count; i++) {
        sizes.ranges += store->holders.all[i].above.count;
    }
    sizes.chains = TM_BREAKS(CHECKPOINT_WITHOUT_CHAINS) ? 0 : tm_chains_known(&store->chains, NULL, 0);
    sizes.bytes = sizeof(checkpoint_head) + sizes.segments * sizeof(tm_listed) +
                  store->holders.known * sizeof(checkpoint_holder) +
                  ((uint64_t)sizes.ranges + store->missing.count) * sizeof(tm_span) +
                  sizes.chains * sizeof(tm_log_chain);
    return sizes;
}

static uint8_t *put(uint8_t *at, const void *bytes, size_t size) {
    if (size > 0) {
        memcpy(at, bytes, size);
    }
    return at + size;
}

static void fill(const tm_store *store, sizes sizes, uint8_t *out) {
    uint32_t version = sizes.chains > 0 ? VERSION_CUSTODY : VERSION_PLAIN;
    checkpoint_head head = {.magic = tm_versioned(CHECKPOINT_MAGIC, version),
                            .log_id = store->log_id,
                            .life = store->life,
                            .serial = store->serial,
                            .seq = store->seq + (TM_BREAKS(CHECKPOINT_EARLY) ? 1 : 0),
                            .last_n = store->last_n,
                            .segments = sizes.segments,
                            .holders = store->holders.known,
                            .ranges = sizes.ranges,
                            .missing = store->missing.count,
                            .is_last = store->is_ending};
    uint8_t *at = out + sizeof head;
    for (uint32_t i = 0; i < store->segment_count; i++) {
        const tm_segment *segment = store->segments[i];
        if (is_in_use(segment)) {
            tm_listed listed = {segment->serial, segment->first_n, segment->last_seq, segment->last_n};
            at = put(at, &listed, sizeof listed);
        }
    }
    for (uint32_t i = 0; i < store->holders.count; i++) {
        const tm_log_holder *holder = &store->holders.all[i];
        checkpoint_holder saved = {holder->id, holder->done, holder->above.count, holder->role};
        at = holder->is_known ? put(at, &saved, sizeof saved) : at;
    }
    for (uint32_t i = 0; i < store->holders.count; i++) {
        const tm_ranges *above = &store->holders.all[i].above;
        at = put(at, above->spans, above->count * sizeof(tm_span));
    }
    at = put(at, store->missing.spans, store->missing.count * sizeof(tm_span));
    tm_chains_known(&store->chains, (tm_log_chain *)at, sizes.chains);
    memcpy(out, &head, sizeof head);
    ((checkpoint_head *)out)->crc =
        tm_crc(tm_crc(0, out, offsetof(checkpoint_head, crc)), out + sizeof head, sizes.bytes - sizeof head);
}

static int put_on_disk(tm_store *store, const uint8_t *bytes, uint64_t size, bool may_take) {
    char over[TM_DISK_NAME_BYTES];
    int result = tm_disk_replace(store->disk, CHECKPOINT_NAME, bytes, size, NULL);
    if (tm_disk_is_full(result) && may_take && tm_store_take_room(store, size, over)) {
        result = tm_disk_replace(store->disk, CHECKPOINT_NAME, bytes, size, over);
    }
    return result;
}

int tm_checkpoint_write(tm_store *store, bool may_take) {
    pthread_mutex_lock(&store->state);
    sizes sizes = measure(store);
    uint8_t *bytes = TM_NEW(&store->memory, TM_COLD, uint8_t, sizes.bytes);
    uint64_t seq = store->seq;
    uint64_t count = store->changes;
    if (bytes != NULL) {
        fill(store, sizes, bytes);
    }
    pthread_mutex_unlock(&store->state);
    if (bytes == NULL) {
        return TM_NO_MEMORY;
    }
    int result = put_on_disk(store, bytes, sizes.bytes, may_take);
    pthread_mutex_lock(&store->state);
    TM_DELETE(&store->memory, TM_COLD, bytes, uint8_t, sizes.bytes);
    store->checkpoint_error = -result;
    store->checkpoint_bytes = sizes.bytes;
    if (result == 0) {
        store->checkpoint_seq = seq;
        store->checkpoint_count = count;
    }
    pthread_mutex_unlock(&store->state);
    return result == 0 ? TM_OK : tm_disk_is_full(result) ? TM_LOG_FULL : TM_LOG_DISK;
}

/* ---- reading a checkpoint ---- */

/* Return the version of a checkpoint whose checksum is right; 0: it is damaged. */
static uint32_t version_of(const uint8_t *bytes, uint64_t size) {
    const checkpoint_head *head = (const checkpoint_head *)bytes;
    bool is_whole = size >= sizeof *head && head->crc == tm_crc(tm_crc(0, bytes, offsetof(checkpoint_head, crc)),
                                                                bytes + sizeof *head, size - sizeof *head);
    return is_whole ? tm_version_of(CHECKPOINT_MAGIC, head->magic) : 0;
}

/* true if the parts add up to the size; `*chains` is how many end it. */
static bool is_sound(const checkpoint_head *head, uint64_t size, uint32_t version, uint64_t *chains) {
    uint64_t parts = sizeof *head + head->segments * sizeof(tm_listed) + head->holders * sizeof(checkpoint_holder) +
                     ((uint64_t)head->ranges + head->missing) * sizeof(tm_span);
    *chains = size > parts && version == VERSION_CUSTODY ? (size - parts) / sizeof(tm_log_chain) : 0;
    return parts + *chains * sizeof(tm_log_chain) == size;
}

static bool take_chains(tm_store *store, const tm_log_chain *chains, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        if (!tm_chains_reserve(&store->chains, chains[i].router, chains[i].is_home)) {
            return false;
        }
        tm_chains_set(&store->chains, &chains[i], chains[i].n);
        store->version = VERSION_CUSTODY;
    }
    return true;
}

static bool take_holders(tm_store *store, const checkpoint_head *head, const uint8_t *at) {
    const checkpoint_holder *saved = (const checkpoint_holder *)at;
    const tm_span *spans = (const tm_span *)(saved + head->holders);
    const tm_span *end = spans + head->ranges;
    for (uint32_t i = 0; i < head->holders; i++) {
        tm_log_holder *holder =
            tm_log_holders_take(&store->holders, saved[i].id, (tm_role)saved[i].role, saved[i].done + 1);
        if (holder == NULL || saved[i].ranges > (uint64_t)(end - spans)) {
            return false;
        }
        for (uint32_t range = 0; range < saved[i].ranges; range++, spans++) {
            if (!tm_ranges_add(&holder->above, &store->memory, spans->first, spans->last)) {
                return false;
            }
        }
    }
    for (uint32_t i = 0; i < head->missing; i++) {
        if (!tm_ranges_add(&store->missing, &store->memory, end[i].first, end[i].last)) {
            return false;
        }
    }
    return true;
}

static int take(tm_store *store, tm_checkpoint *checkpoint, const uint8_t *bytes, uint64_t size) {
    const checkpoint_head *head = (const checkpoint_head *)bytes;
    uint32_t version = version_of(bytes, size);
    uint64_t chains;
    if (version > VERSION_PLAIN && !tm_version_is_known(version)) {
        return TM_LOG_NEWER;
    }
    if (!tm_version_is_known(version) || !is_sound(head, size, version, &chains)) {
        checkpoint->is_damaged = true;
        return TM_OK;
    }
    checkpoint->segments = TM_NEW(&store->memory, TM_COLD, tm_listed, head->segments);
    if (checkpoint->segments == NULL) {
        return TM_NO_MEMORY;
    }
    put((uint8_t *)checkpoint->segments, head + 1, head->segments * sizeof(tm_listed));
    checkpoint->segment_count = head->segments;
    checkpoint->seq = head->seq;
    checkpoint->last_n = head->last_n;
    checkpoint->serial = head->serial;
    checkpoint->life = head->life;
    checkpoint->log_id = head->log_id;
    checkpoint->is_found = true;
    checkpoint->is_last = head->is_last != 0;
    bool is_taken = take_holders(store, head, (const uint8_t *)(head + 1) + head->segments * sizeof(tm_listed));
    is_taken = is_taken && take_chains(store, (const tm_log_chain *)(bytes + size) - chains, chains);
    return is_taken ? TM_OK : TM_NO_MEMORY;
}

int tm_checkpoint_read(tm_store *store, tm_checkpoint *checkpoint) {
    tm_disk *disk = store->disk;
    int file;
    int result = disk->port->open(disk, CHECKPOINT_NAME, false, &file);
    if (result != 0) {
        return result == -ENOENT ? TM_OK : TM_LOG_DISK;
    }
    int64_t size = disk->port->size(disk, file);
    uint8_t *bytes = size < 0 ? NULL : TM_NEW(&store->memory, TM_COLD, uint8_t, size);
    bool is_read = bytes != NULL && tm_disk_read_whole(disk, file, bytes, (size_t)size, 0) == 0;
    disk->port->close(disk, file);
    if (bytes == NULL) {
        return size < 0 ? TM_LOG_DISK : TM_NO_MEMORY;
    }
    result = take(store, checkpoint, bytes, is_read ? (uint64_t)size : 0); /* an unread file counts as damaged */
    TM_DELETE(&store->memory, TM_COLD, bytes, uint8_t, size);
    return result;
}

void tm_checkpoint_free(tm_store *store, tm_checkpoint *checkpoint) {
    TM_DELETE(&store->memory, TM_COLD, checkpoint->segments, tm_listed, checkpoint->segment_count);
    checkpoint->segments = NULL;
}
