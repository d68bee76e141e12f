/* recover_files.c - lists the segments and spare files in the folder of a log.
 *
 * Law: only an incomplete spare file is removed, and no file of another log is touched. See recover.h.
 */
#include <stdlib.h>

#include "base/grow.h"
#include "log/recover.h"
#include "log/spares.h"

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

/* Remove spare files of another size, or whose blocks were not on disk when the system ended. If only the process
 * ended, they may not be on disk yet: a segment would lose its end at the next failure of the system. */
static void check_spares(tm_store *store) {
    tm_disk *disk = store->disk;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < store->spare_count; i++) {
        char name[TM_DISK_NAME_BYTES];
        int file;
        tm_spare_name(name, store->spares[i]);
        bool is_open = disk->port->open(disk, name, false, &file) == 0;
        bool is_whole = is_open && disk->port->size(disk, file) == (int64_t)store->segment_bytes &&
                        disk->port->sync(disk, file) == 0;
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
        bool is_another = is_sound && r->store->log_id != 0 && c->head.log_id != r->store->log_id;
        uint32_t version = is_read ? tm_segment_head_version(&c->head) : 0;
        is_another = is_another || (version != 0 && !is_sound);
        if (is_another && c->head.serial == c->serial) {
            return !is_sound && version > VERSION_PLAIN ? TM_LOG_NEWER : TM_LOG_FOREIGN;
        }
        c->is_begun = is_sound && c->head.serial == c->serial;
        c->is_torn_head = !is_sound;
        c->is_cut = size < (int64_t)(c->is_begun ? c->head.bytes : SEGMENT_BYTES_MIN);
    }
    return TM_OK;
}

int recover_files(recovering *r) {
    tm_disk *disk = r->store->disk;
    if (disk->port->list(disk, see, r) != 0) {
        return TM_LOG_DISK;
    }
    check_spares(r->store);
    tm_store_find_room(r->store);
    return r->is_short_of_memory ? TM_NO_MEMORY : open_candidates(r);
}
