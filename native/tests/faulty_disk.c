/* faulty_disk.c - see faulty_disk.h. */
#include "faulty_disk.h"

#include <errno.h>
#include <string.h>

#include "base/tested.h"

tm_fault tm_broken = TM_BREAK_NOTHING;
uint64_t tm_tested_ns;

/* Address sanitizer: what was freed waits for as long as a few crashes take, so that its memory is in the cache. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "quarantine_size_mb=8:malloc_context_size=8";
}

static void free_disk(tm_disk *base);

static faulty_disk *called(tm_disk *base) {
    faulty_disk *disk = (faulty_disk *)base;
    disk->calls++;
    if (disk->before != NULL) {
        disk->before(disk->context);
    }
    return disk;
}

/* ---- bytes ---- */

static void share_less(faulty_bytes *bytes) {
    if (bytes != NULL && --bytes->sharers == 0) {
        free(bytes);
    }
}

/* Bytes of nobody else with so much room, and what the file holds; what is behind that is 0. */
static faulty_bytes *own(faulty_file *file, size_t capacity) {
    faulty_bytes *old = file->bytes;
    size_t filled = old != NULL ? old->capacity : 0;
    if (old != NULL && old->sharers == 1 && capacity <= filled) {
        return old;
    }
    capacity = capacity > filled ? (capacity + FAULTY_SECTOR - 1) / FAULTY_SECTOR * FAULTY_SECTOR : filled;
    size_t sectors = capacity / FAULTY_SECTOR;
    faulty_bytes *bytes = malloc(sizeof *bytes + 2 * capacity + sectors);
    CHECK(bytes != NULL, "no memory");
    *bytes = (faulty_bytes){.now = (uint8_t *)(bytes + 1), .capacity = capacity, .sharers = 1, .is_clean = true};
    bytes->disk = bytes->now + capacity;
    bytes->states = bytes->disk + capacity;
    memset(bytes->now + filled, 0, capacity - filled);
    memset(bytes->states, SECTOR_ON_DISK, sectors);
    if (old != NULL) {
        memcpy(bytes->now, old->now, filled);
        bytes->is_clean = old->is_clean;
    }
    if (!bytes->is_clean) {
        memcpy(bytes->disk, old->disk, filled);
        memcpy(bytes->states, old->states, filled / FAULTY_SECTOR);
    }
    share_less(old);
    file->bytes = bytes;
    return bytes;
}

static void grow(faulty_file *file, size_t size) {
    own(file, size);
    file->size = size > file->size ? size : file->size;
}

static void put(faulty_file *file, const void *from, size_t size, size_t at) {
    grow(file, at + size);
    faulty_bytes *bytes = file->bytes;
    for (size_t sector = at / FAULTY_SECTOR; sector * FAULTY_SECTOR < at + size; sector++) {
        if (bytes->states[sector] == SECTOR_ON_DISK) {
            memcpy(bytes->disk + sector * FAULTY_SECTOR, bytes->now + sector * FAULTY_SECTOR, FAULTY_SECTOR);
        }
        bytes->states[sector] = SECTOR_TO_BE_WRITTEN;
    }
    memcpy(bytes->now + at, from, size);
    bytes->is_clean = false;
}

/* The system writes a file to disk; if that fails, half of it, and forgets the rest. */
static void write_back(faulty_file *file, bool fails, dice *d) {
    file->disk_size = file->size;
    if (file->bytes == NULL || file->bytes->is_clean) {
        return;
    }
    faulty_bytes *bytes = own(file, 0);
    bytes->is_clean = true;
    for (size_t sector = 0; sector < bytes->capacity / FAULTY_SECTOR; sector++) {
        if (bytes->states[sector] == SECTOR_TO_BE_WRITTEN) {
            bytes->states[sector] = fails && below(d, 2) != 0 ? SECTOR_FORGOTTEN : SECTOR_ON_DISK;
        }
        bytes->is_clean = bytes->is_clean && bytes->states[sector] == SECTOR_ON_DISK;
    }
}

/* ---- names ---- */

static faulty_name *find(faulty_name *names, const char *name) {
    for (uint32_t i = 0; i < FAULTY_FILES; i++) {
        if (names[i].file >= 0 && strcmp(names[i].name, name) == 0) {
            return &names[i];
        }
    }
    return NULL;
}

static void set(faulty_name *names, const char *name, int file) {
    faulty_name *at = find(names, name);
    for (uint32_t i = 0; at == NULL && i < FAULTY_FILES; i++) {
        at = names[i].file < 0 ? &names[i] : NULL;
    }
    CHECK(at != NULL, "too many names");
    snprintf(at->name, sizeof at->name, "%s", name);
    at->file = file;
}

static void apply(faulty_name *names, const struct change *change) {
    if (change->from[0] != 0) {
        faulty_name *from = find(names, change->from);
        if (from != NULL) {
            int file = from->file;
            from->file = -1;
            set(names, change->to, file);
        }
    } else if (change->file < 0) {
        faulty_name *at = find(names, change->to);
        if (at != NULL) {
            at->file = -1;
        }
    } else {
        set(names, change->to, change->file);
    }
}

/* Files that no name and nobody who reads leads to. */
static void collect(faulty_disk *disk) {
    bool is_used[FAULTY_FILES + 1] = {false}; /* the first place is for names without a file */
    for (uint32_t i = 0; i < FAULTY_FILES; i++) {
        is_used[disk->names[i].file + 1] = is_used[disk->synced[i].file + 1] = true;
    }
    for (uint32_t i = 0; i < disk->change_count; i++) {
        is_used[disk->changes[i].file + 1] = true;
    }
    for (uint32_t i = 0; i < FAULTY_OPEN; i++) {
        is_used[disk->is_open[i] ? disk->open_file[i] + 1 : 0] = true;
    }
    for (uint32_t i = 0; i < FAULTY_FILES; i++) {
        if (!is_used[i + 1] && disk->files[i].is_used) {
            share_less(disk->files[i].bytes);
            disk->files[i] = (faulty_file){0};
        }
    }
}

static bool is_named(const faulty_disk *disk, int file) {
    for (uint32_t i = 0; i < FAULTY_FILES; i++) {
        if (disk->names[i].file == file) {
            return true;
        }
    }
    return false;
}

static int change(faulty_disk *disk, const char *from, const char *to, int file) {
    if (disk->change_count == sizeof disk->changes / sizeof disk->changes[0]) { /* the journal writes what is old */
        apply(disk->synced, &disk->changes[0]);
        memmove(disk->changes, disk->changes + 1, --disk->change_count * sizeof disk->changes[0]);
    }
    struct change *at = &disk->changes[disk->change_count++];
    snprintf(at->from, sizeof at->from, "%s", from);
    snprintf(at->to, sizeof at->to, "%s", to);
    at->file = file;
    apply(disk->names, at);
    return 0;
}

/* ---- the port ---- */

static faulty_file *file_of(faulty_disk *disk, int handle) {
    CHECK(handle >= 0 && handle < (int)FAULTY_OPEN && disk->is_open[handle], "a file that is not open: %d", handle);
    return &disk->files[disk->open_file[handle]];
}

static int open_file(tm_disk *base, const char *name, bool is_new, int *handle) {
    faulty_disk *disk = called(base);
    faulty_name *at = find(disk->names, name);
    if (at == NULL && !is_new) {
        return -ENOENT;
    }
    int file = at != NULL ? at->file : 0;
    if (is_new) { /* another file of that name: what the old one held is not to be seen again */
        for (file = 0; file < (int)FAULTY_FILES && disk->files[file].is_used; file++) {
        }
        CHECK(file < (int)FAULTY_FILES, "too many files");
        disk->files[file].is_used = true;
        change(disk, "", name, file);
    }
    for (int i = 0; i < (int)FAULTY_OPEN; i++) {
        if (!disk->is_open[i]) {
            disk->is_open[i] = true;
            disk->open_file[i] = file;
            *handle = i;
            if (is_new) {
                collect(disk);
            }
            return 0;
        }
    }
    CHECK(false, "too many open files");
    return -EMFILE;
}

static void close_file(tm_disk *base, int handle) {
    faulty_disk *disk = (faulty_disk *)base;
    file_of(disk, handle);
    disk->is_open[handle] = false;
    if (!is_named(disk, disk->open_file[handle])) {
        collect(disk);
    }
}

static int preallocate(tm_disk *base, int handle, uint64_t bytes) {
    faulty_disk *disk = called(base);
    if (disk->is_full) {
        return -ENOSPC;
    }
    grow(file_of(disk, handle), bytes);
    return 0;
}

static void shorten(faulty_file *file, size_t size) {
    faulty_bytes *bytes = own(file, 0);
    memset(bytes->now + size, 0, bytes->capacity - size); /* what lies behind the end is not to be seen */
    file->size = size;
}

/* The length is on disk with the next sync. Until then the system may show the old end, with nothing in it. */
static int cut_open(tm_disk *base, int handle, uint64_t size) {
    faulty_disk *disk = called(base);
    shorten(file_of(disk, handle), size);
    return 0;
}

static int64_t write_parts(tm_disk *base, int handle, const struct iovec *parts, int count, uint64_t at) {
    faulty_disk *disk = called(base);
    faulty_file *file = file_of(disk, handle);
    size_t all = 0;
    for (int i = 0; i < count; i++) {
        all += parts[i].iov_len;
    }
    if (disk->is_full && at + all > file->size) {
        return -ENOSPC;
    }
    if (disk->fails_in > 0 && below(&disk->dice, disk->fails_in) == 0) {
        return -EIO;
    }
    size_t left = disk->short_in > 0 && all > 1 && below(&disk->dice, disk->short_in) == 0
                      ? 1 + below(&disk->dice, (uint32_t)all - 1)
                      : all;
    size_t written = left;
    for (int i = 0; i < count && left > 0; i++) {
        size_t size = parts[i].iov_len < left ? parts[i].iov_len : left;
        put(file, parts[i].iov_base, size, at);
        at += size;
        left -= size;
    }
    return (int64_t)written;
}

static int64_t read_some(tm_disk *base, int handle, void *out, size_t size, uint64_t at) {
    faulty_disk *disk = (faulty_disk *)base; /* a crash before a read is one before the next call */
    faulty_file *file = file_of(disk, handle);
    if (at >= file->size) {
        return 0;
    }
    size = size < file->size - at ? size : file->size - at;
    memcpy(out, file->bytes->now + at, size);
    return (int64_t)size;
}

static int sync_file(tm_disk *base, int handle) {
    faulty_disk *disk = called(base);
    faulty_file *file = file_of(disk, handle);
    bool fails = disk->fails_in > 0 && below(&disk->dice, disk->fails_in) == 0;
    write_back(file, fails, &disk->dice);
    return fails ? -EIO : 0;
}

static int rename_file(tm_disk *base, const char *from, const char *to) {
    faulty_disk *disk = called(base);
    faulty_name *at = find(disk->names, from);
    if (at == NULL) {
        return -ENOENT;
    }
    change(disk, from, to, at->file);
    collect(disk);
    return 0;
}

static int sync_folder(tm_disk *base) {
    faulty_disk *disk = called(base);
    if (disk->fails_in > 0 && below(&disk->dice, disk->fails_in * 4) == 0) {
        return -EIO;
    }
    memcpy(disk->synced, disk->names, sizeof disk->synced);
    disk->change_count = 0;
    collect(disk);
    return 0;
}

static int remove_file(tm_disk *base, const char *name) {
    faulty_disk *disk = called(base);
    if (find(disk->names, name) == NULL) {
        return -ENOENT;
    }
    change(disk, "", name, -1);
    collect(disk);
    return 0;
}

static int list_files(tm_disk *base, tm_disk_seen seen, void *context) {
    faulty_disk *disk = called(base);
    for (uint32_t i = 0; i < FAULTY_FILES; i++) {
        if (disk->names[i].file >= 0 && strchr(disk->names[i].name, '/') == NULL &&
            !seen(context, disk->names[i].name)) {
            break;
        }
    }
    return 0;
}

static int64_t size_of(tm_disk *base, int handle) {
    return (int64_t)file_of((faulty_disk *)base, handle)->size;
}

static void free_disk(tm_disk *base) {
    faulty_disk *disk = (faulty_disk *)base;
    for (uint32_t i = 0; i < FAULTY_FILES; i++) {
        share_less(disk->files[i].bytes);
    }
    free(disk);
}

static const tm_disk_port PORT = {open_file,   close_file,  preallocate, cut_open,   write_parts, read_some, sync_file,
                                  rename_file, sync_folder, remove_file, list_files, size_of,     free_disk};

/* ---- crashes ---- */

faulty_disk *faulty_new(uint64_t seed) {
    faulty_disk *disk = calloc(1, sizeof *disk);
    CHECK(disk != NULL, "no memory");
    disk->base.port = &PORT;
    disk->dice = (dice){seed};
    for (uint32_t i = 0; i < FAULTY_FILES; i++) {
        disk->names[i].file = disk->synced[i].file = -1;
    }
    return disk;
}

/* Which sectors of `from` a power cut leaves as they are now. */
static void cut_sectors(const faulty_bytes *from, faulty_bytes *to, crash_kind kind, dice *d) {
    bool is_prefix_over = false;
    for (size_t sector = 0; sector < from->capacity / FAULTY_SECTOR; sector++) {
        size_t at = sector * FAULTY_SECTOR;
        bool is_now = from->states[sector] == SECTOR_ON_DISK;
        if (from->states[sector] == SECTOR_TO_BE_WRITTEN) {
            is_prefix_over = is_prefix_over || below(d, 4) == 0;
            is_now = kind == CRASH_ALL_KEPT || (kind == CRASH_SOME_KEPT && below(d, 2) == 0) ||
                     (kind == CRASH_PREFIX_KEPT && !is_prefix_over);
        }
        memcpy(to->now + at, (is_now ? from->now : from->disk) + at, FAULTY_SECTOR);
    }
}

static void copy_file(const faulty_file *from, faulty_file *to, crash_kind kind, dice *d) {
    *to = *from;
    if (from->bytes == NULL) {
        return;
    }
    from->bytes->sharers++;
    if (kind == CRASH_OF_PROCESS) {
        return;
    }
    bool is_grown = kind == CRASH_ALL_KEPT || (kind != CRASH_ALL_LOST && below(d, 2) == 0);
    to->size = to->disk_size = is_grown ? from->size : from->disk_size;
    if (from->bytes->is_clean) { /* and what was never written is 0 */
        return;
    }
    size_t capacity = from->bytes->capacity;
    share_less(to->bytes);
    to->bytes = NULL;
    cut_sectors(from->bytes, own(to, capacity), kind, d);
    if (to->size < capacity) { /* what lies behind the end is not to be seen */
        memset(to->bytes->now + to->size, 0, capacity - to->size);
    }
}

faulty_disk *faulty_crash(const faulty_disk *disk, crash_kind kind, uint64_t seed) {
    faulty_disk *after = faulty_new(seed);
    for (uint32_t i = 0; i < FAULTY_FILES; i++) {
        copy_file(&disk->files[i], &after->files[i], kind, &after->dice);
    }
    memcpy(after->synced, disk->synced, sizeof after->synced);
    if (kind == CRASH_OF_PROCESS) {
        memcpy(after->changes, disk->changes, sizeof after->changes);
        memcpy(after->names, disk->names, sizeof after->names);
        after->change_count = disk->change_count;
    } else {
        uint32_t kept = kind == CRASH_ALL_LOST   ? 0
                        : kind == CRASH_ALL_KEPT ? disk->change_count
                                                 : below(&after->dice, disk->change_count + 1);
        for (uint32_t i = 0; i < kept; i++) {
            apply(after->synced, &disk->changes[i]);
        }
        memcpy(after->names, after->synced, sizeof after->names);
    }
    collect(after);
    return after;
}

bool faulty_flip(faulty_disk *disk, const char *beginning) {
    uint32_t start = below(&disk->dice, FAULTY_FILES);
    for (uint32_t i = 0; i < FAULTY_FILES; i++) {
        const faulty_name *at = &disk->names[(start + i) % FAULTY_FILES];
        if (at->file >= 0 && strncmp(at->name, beginning, strlen(beginning)) == 0) {
            faulty_file *file = &disk->files[at->file];
            if (file->size > 0) {
                size_t byte = below(&disk->dice, (uint32_t)file->size);
                faulty_bytes *bytes = own(file, 0);
                bytes->now[byte] ^= (uint8_t)(1U << below(&disk->dice, 8));
                bytes->disk[byte] = bytes->now[byte];
                return true;
            }
        }
    }
    return false;
}

static faulty_file *named(faulty_disk *disk, const char *name) {
    faulty_name *at = find(disk->names, name);
    return at != NULL ? &disk->files[at->file] : NULL;
}

const faulty_file *faulty_find(const faulty_disk *disk, const char *name) {
    return named((faulty_disk *)(uintptr_t)disk, name);
}

void faulty_cut(faulty_disk *disk, const char *name, size_t size) {
    faulty_file *file = named(disk, name);
    CHECK(file != NULL && size <= file->size, "%s has no %zu bytes", name, size);
    shorten(file, size);
    memset(file->bytes->states, SECTOR_ON_DISK, file->bytes->capacity / FAULTY_SECTOR);
    file->bytes->is_clean = true;
    file->disk_size = size;
}
