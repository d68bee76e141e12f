/* spares.c - the files of segments: creation, use, release and reuse.
 *
 * Law: the file of a segment is a renamed spare file, and the folder is synced before anything in it counts. Two spare
 * files are reserved: when only they are left, messages are refused and acks are not. Whether the log is full is
 * determined here, before anything has to be written. A segment goes only after a checkpoint, so room for one is
 * reserved, too.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "base/tested.h"
#include "log/spares.h"

/* ---- spare files ---- */

bool tm_store_add_spare(tm_store *store, uint64_t serial) {
    if (!tm_grow(&store->memory, TM_COLD, &store->spares, sizeof *store->spares, &store->spare_capacity,
                 store->spare_count + 1)) {
        return false;
    }
    store->spares[store->spare_count++] = serial;
    return true;
}

uint64_t tm_store_disk_bytes(const tm_store *store) {
    uint64_t bytes = (uint64_t)store->spare_count * store->segment_bytes;
    for (uint32_t i = 0; i < store->segment_count; i++) {
        bytes += store->segments[i]->bytes;
    }
    return bytes;
}

/* Create a spare file with all of its blocks. The caller holds `writing`. false: not allowed, or it failed. */
static bool make_spare(tm_store *store, uint64_t bytes_max) {
    tm_disk *disk = store->disk;
    char name[TM_DISK_NAME_BYTES];
    pthread_mutex_lock(&store->state);
    uint64_t serial = store->serial + 1;
    bool is_allowed = tm_store_disk_bytes(store) + store->segment_bytes <= bytes_max;
    bool has_memory = is_allowed && tm_store_add_spare(store, serial);
    store->spare_count -= has_memory;                         /* the entry is reserved, the file does not exist yet */
    store->spare_error = is_allowed ? store->spare_error : 0; /* nothing is requested from the disk */
    store->serial += has_memory;
    pthread_mutex_unlock(&store->state);
    if (!has_memory) {
        return false;
    }
    tm_spare_name(name, serial);
    int file;
    int result = disk->port->open(disk, name, true, &file);
    if (result == 0) {
        result = disk->port->preallocate(disk, file, store->segment_bytes);
        result = result == 0 ? disk->port->sync(disk, file) : result; /* only a truncated segment is shorter */
        disk->port->close(disk, file);
        if (result != 0) {
            disk->port->remove(disk, name);
        }
    }
    pthread_mutex_lock(&store->state);
    store->spare_error = -result;
    if (result == 0) {
        store->spares[store->spare_count++] = serial;
    }
    pthread_mutex_unlock(&store->state);
    return result == 0;
}

/* ---- room for a checkpoint ---- */

static uint64_t room_wanted(const tm_store *store) {
    uint64_t bytes = tm_sectors(store->checkpoint_bytes * 2);
    return bytes > ROOM_BYTES_MIN ? bytes : ROOM_BYTES_MIN;
}

/* Create the file whose blocks a checkpoint may use. The caller holds `writing`. */
static void make_room(tm_store *store) {
    tm_disk *disk = store->disk;
    uint64_t bytes = room_wanted(store);
    int file;
    store->room_bytes = 0;
    int result = disk->port->open(disk, ROOM_NAME, true, &file);
    if (result == 0) {
        result = disk->port->preallocate(disk, file, bytes);
        disk->port->close(disk, file);
    }
    if (result == 0) {
        store->room_bytes = bytes;
        return;
    }
    disk->port->remove(disk, ROOM_NAME);
    pthread_mutex_lock(&store->state);
    store->spare_error = -result; /* retried once there is room for a spare file */
    pthread_mutex_unlock(&store->state);
}

void tm_store_prepare(tm_store *store, bool *is_idle) {
    pthread_mutex_lock(&store->writing);
    if (!store->is_failed && store->spare_error == 0 && store->room_bytes < room_wanted(store)) {
        make_room(store);
    }
    if (!store->is_failed && store->spare_count <= SEGMENTS_RESERVED && make_spare(store, store->bytes_max)) {
        *is_idle = false;
        pthread_mutex_lock(&store->state);
        tm_store_judge_room(store);
        pthread_mutex_unlock(&store->state);
    }
    pthread_mutex_unlock(&store->writing);
}

void tm_store_borrow(tm_store *store, bool *is_idle) {
    pthread_mutex_lock(&store->writing);
    if (!store->is_failed && store->spare_count == 0 && make_spare(store, store->bytes_max + store->segment_bytes)) {
        *is_idle = false;
        pthread_mutex_lock(&store->state);
        tm_store_judge_room(store);
        pthread_mutex_unlock(&store->state);
    }
    pthread_mutex_unlock(&store->writing);
}

void tm_store_find_room(tm_store *store) {
    int file;
    if (store->disk->port->open(store->disk, ROOM_NAME, false, &file) == 0) {
        int64_t bytes = store->disk->port->size(store->disk, file);
        store->room_bytes = bytes > 0 ? (uint64_t)bytes : 0;
        store->disk->port->close(store->disk, file);
    }
}

bool tm_store_take_room(tm_store *store, uint64_t bytes, char *name) {
    pthread_mutex_lock(&store->writing);
    pthread_mutex_lock(&store->state);
    bool is_room = store->room_bytes >= bytes;
    bool is_spare = !is_room && store->spare_count > 0;
    if (is_room) {
        memcpy(name, ROOM_NAME, sizeof ROOM_NAME);
        store->room_bytes = 0;
    } else if (is_spare) {
        tm_spare_name(name, store->spares[--store->spare_count]);
        tm_store_judge_room(store);
    }
    pthread_mutex_unlock(&store->state);
    pthread_mutex_unlock(&store->writing);
    return is_room || is_spare;
}

uint32_t tm_store_spares(tm_store *store) {
    pthread_mutex_lock(&store->state);
    uint32_t count = store->spare_count;
    pthread_mutex_unlock(&store->state);
    return count;
}

int tm_store_disk_error(const tm_store *store) {
    bool is_spare_wanted = store->spare_count <= SEGMENTS_RESERVED;
    return store->spare_error != 0 && is_spare_wanted ? store->spare_error : store->checkpoint_error;
}

/* Return the room in the open segment without a margin of a quarter, so that no accepted record falls behind its
 * end. */
static uint64_t room_in_open(const tm_store *store) {
    const tm_segment *open = store->open;
    uint64_t taken = open != NULL ? open->used + tm_segment_footer_bytes(open) + store->segment_bytes / 4 : 0;
    return open != NULL && taken < open->bytes ? open->bytes - taken : 0;
}

void tm_store_judge_room(tm_store *store) {
    uint64_t bytes = tm_store_disk_bytes(store);
    uint64_t in_open = room_in_open(store);
    uint64_t files = store->spare_count;
    if (store->spare_error == 0 && bytes < store->bytes_max) {
        files += (store->bytes_max - bytes) / store->segment_bytes;
    }
    uint64_t files_for_messages = files > SEGMENTS_RESERVED ? files - SEGMENTS_RESERVED : 0;
    uint64_t in_files = files_for_messages * ((store->segment_bytes - SEGMENT_HEAD_BYTES) / 4 * 3);
    store->message_room = in_files + (files >= SEGMENTS_RESERVED ? in_open : 0);
    store->is_scarce = files_for_messages == 0;
    store->is_full = store->message_room == 0;
    store->is_full_of_all = files < SPARES_FOR_COPIES || (files == SPARES_FOR_COPIES && in_open == 0);
    uint64_t used = bytes - (uint64_t)store->spare_count * store->segment_bytes;
    uint64_t most = store->bytes_max - SEGMENTS_RESERVED * (uint64_t)store->segment_bytes;
    store->is_tight = tm_disk_is_full(-store->spare_error) || used > most / 100 * TIGHT_PERCENT;
}

/* ---- begin ---- */

static bool insert(tm_store *store, tm_segment *segment) {
    if (!tm_grow(&store->memory, TM_COLD, &store->segments, sizeof(tm_segment *), &store->segment_capacity,
                 store->segment_count + 1)) {
        return false;
    }
    store->segments[store->segment_count++] = segment;
    return true;
}

/* Return a new segment in memory for the spare file taken; NULL: no memory. The caller holds `state`. */
static tm_segment *new_open(tm_store *store, uint64_t bytes) {
    tm_segment *segment = tm_segment_new(&store->memory);
    if (segment == NULL || !insert(store, segment)) {
        tm_segment_free(segment);
        return NULL;
    }
    if (store->segment_count > 1) {
        tm_segment_expect(segment, store->segments[store->segment_count - 2]);
    }
    segment->serial = ++store->serial;
    segment->version = store->version;
    uint64_t before_life = (store->life << COUNTER_BITS) + store->first_counter;
    segment->first_n = (store->last_n > before_life ? store->last_n : before_life) + 1;
    segment->seq_before = segment->last_seq = store->seq;
    segment->last_n = store->last_n;
    segment->bytes = bytes;
    segment->begun_at = store->done + 1;
    segment->previous = store->previous;
    store->previous = segment->serial;
    store->changes++;
    return segment;
}

static int write_head(tm_store *store, tm_segment *segment) {
    static const uint8_t rest[SEGMENT_HEAD_BYTES];
    tm_segment_head head = {.magic = tm_versioned(SEGMENT_MAGIC, segment->version),
                            .log_id = store->log_id,
                            .serial = segment->serial,
                            .previous = segment->previous,
                            .first_n = segment->first_n,
                            .last_n_before = store->last_n,
                            .seq_before = store->seq,
                            .bytes = segment->bytes};
    tm_segment_head_seal(&head);
    struct iovec parts[] = {{&head, sizeof head}, {(void *)(uintptr_t)rest, sizeof rest - sizeof head}};
    return tm_disk_write_whole(store->disk, segment->file, parts, 2, 0);
}

bool tm_store_have_spares(tm_store *store, uint32_t count) {
    while (store->spare_count < count && make_spare(store, store->bytes_max)) {
    }
    return store->spare_count >= count;
}

int tm_store_begin(tm_store *store) {
    tm_disk *disk = store->disk;
    if (!tm_store_have_spares(store, 1)) {
        return TM_LOG_FULL;
    }
    uint64_t spare = store->spares[store->spare_count - 1];
    char from[TM_DISK_NAME_BYTES];
    char to[TM_DISK_NAME_BYTES];
    tm_spare_name(from, spare);
    int file;
    int result = disk->port->open(disk, from, false, &file);
    int64_t bytes = result == 0 ? disk->port->size(disk, file) : 0;
    pthread_mutex_lock(&store->state);
    store->spare_count--;
    tm_segment *segment = result == 0 && bytes >= (int64_t)SEGMENT_BYTES_MIN ? new_open(store, (uint64_t)bytes) : NULL;
    if (segment == NULL) {
        store->spare_count += result == 0 && bytes >= (int64_t)SEGMENT_BYTES_MIN; /* no memory: it stays for later */
        pthread_mutex_unlock(&store->state);
        if (result == 0) {
            disk->port->close(disk, file);
        }
        return result == 0 && bytes >= (int64_t)SEGMENT_BYTES_MIN ? TM_NO_MEMORY : TM_LOG_FAILED;
    }
    segment->file = file;
    store->open = segment;
    pthread_mutex_unlock(&store->state);
    tm_segment_name(to, segment->first_n, segment->serial);
    result = write_head(store, segment);
    result = result == 0 ? disk->port->rename(disk, from, to) : result;
    if (!TM_BREAKS(RENAME_UNSYNCED)) {
        result = result == 0 ? disk->port->sync_folder(disk) : result;
    }
    return result == 0 ? TM_OK : TM_LOG_FAILED;
}

/* ---- end ---- */

void tm_store_seal(tm_store *store, tm_segment *segment) {
    uint64_t bytes = tm_segment_footer_bytes(segment);
    bool fits = !segment->is_failed && !segment->is_damaged && segment->used + bytes + SECTOR_BYTES <= segment->bytes;
    pthread_mutex_lock(&store->state);
    uint8_t *footer = fits ? TM_NEW(&store->memory, TM_COLD, uint8_t, bytes) : NULL;
    pthread_mutex_unlock(&store->state);
    bool is_written = false;
    if (footer != NULL) {
        tm_segment_footer(segment, footer);
        tm_footer_tail tail = {.magic = FOOTER_MAGIC, .at = (uint32_t)segment->used, .bytes = (uint32_t)bytes};
        struct iovec part = {footer, bytes};
        struct iovec end = {&tail, sizeof tail};
        is_written = tm_disk_write_whole(store->disk, segment->file, &part, 1, segment->used) == 0 &&
                     tm_disk_write_whole(store->disk, segment->file, &end, 1, segment->bytes - sizeof tail) == 0;
    }
    pthread_mutex_lock(&store->state);
    if (!is_written || !tm_segment_seal(segment, footer)) {
        segment->state = SEGMENT_CLOSED;
    }
    if (footer != NULL) {
        TM_DELETE(&store->memory, TM_COLD, footer, uint8_t, bytes);
    }
    store->open = store->open == segment ? NULL : store->open;
    store->changes++;
    pthread_mutex_unlock(&store->state);
}

/* ---- release ---- */

static void unlist(tm_store *store, const tm_segment *segment) {
    uint32_t place = 0;
    while (store->segments[place] != segment) {
        place++;
    }
    store->segment_count--;
    memmove(store->segments + place, store->segments + place + 1,
            (store->segment_count - place) * sizeof(tm_segment *));
}

bool tm_store_set_aside(tm_store *store, const char *name) {
    char to[TM_DISK_NAME_BYTES + sizeof TM_DISK_DAMAGED];
    snprintf(to, sizeof to, TM_DISK_DAMAGED "/%s", name);
    bool is_aside = store->disk->port->rename(store->disk, name, to) == 0;
    pthread_mutex_lock(&store->state);
    store->set_aside += is_aside;
    pthread_mutex_unlock(&store->state);
    return is_aside;
}

int tm_store_drop(tm_store *store, tm_segment *segment) {
    tm_disk *disk = store->disk;
    char name[TM_DISK_NAME_BYTES];
    char to[TM_DISK_NAME_BYTES];
    tm_segment_name(name, segment->first_n, segment->serial);
    if (segment->is_damaged && !tm_store_set_aside(store, name)) {
        return TM_LOG_DISK;
    }
    disk->port->close(disk, segment->file);
    pthread_mutex_lock(&store->state);
    bool is_spare = !segment->is_failed && !segment->is_damaged && segment->bytes == store->segment_bytes &&
                    store->spare_count <= SEGMENTS_RESERVED + 1 && tm_store_add_spare(store, ++store->serial);
    uint64_t serial = store->serial;
    store->spare_count -= is_spare;
    unlist(store, segment);
    pthread_mutex_unlock(&store->state);
    if (is_spare) {
        tm_spare_name(to, serial);
        is_spare = disk->port->rename(disk, name, to) == 0;
    } else if (!segment->is_damaged) {
        disk->port->remove(disk, name);
    }
    pthread_mutex_lock(&store->state);
    if (is_spare) {
        store->spares[store->spare_count++] = serial;
    }
    tm_segment_free(segment);
    tm_store_judge_room(store);
    pthread_mutex_unlock(&store->state);
    return TM_OK;
}
