/* disk.c - the disk port on a folder of the system, and operations of several calls for every disk.
 *
 * Law: each function of the port is one system call, repeated only if a signal interrupted it before it began. A long
 * write of whole sectors bypasses the page cache through a buffer of the disk, because copying into pages that are not
 * resident costs ten times as much. If the system refuses that, it uses the cache, as short writes do.
 */
#define _GNU_SOURCE
#include "log/disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/tested.h"

#define DIRECT_BYTES_MIN (64U << 10) /* of a write that bypasses the page cache */
#define DIRECT_BYTES_MAX (4U << 20)  /* of such a write in one call */
#define DIRECT_UNIT 512U             /* places and sizes are multiples of it */
#define DIRECT_ALIGNED 4096U         /* alignment of the buffer */

typedef struct real_disk {
    tm_disk base;
    tm_memory memory;
    int folder;         /* owned */
    int damaged;        /* owned */
    uint8_t *buffer;    /* owned, used by the thread that writes batches; NULL: no long write yet */
    atomic_int written; /* the file of `direct`; -1: none */
    int direct;         /* owned: the descriptor that bypasses the page cache */
    bool is_direct_refused;
} real_disk;

static real_disk *real(tm_disk *disk) {
    return (real_disk *)disk;
}

static int told(int result) {
    return result < 0 ? -errno : 0;
}

/* ---- the calls ---- */

static int open_file(tm_disk *disk, const char *name, bool is_new, int *file) {
    int flags = O_RDWR | O_CLOEXEC | (is_new ? O_CREAT | O_TRUNC : 0);
    *file = openat(real(disk)->folder, name, flags, 0600);
    return told(*file);
}

static void end_direct(real_disk *disk) {
    if (atomic_load(&disk->written) >= 0) {
        close(disk->direct);
        atomic_store(&disk->written, -1);
    }
}

static void close_file(tm_disk *disk, int file) {
    if (atomic_load(&real(disk)->written) == file) { /* `direct` is closed only by the thread that writes its file */
        end_direct(real(disk));
    }
    close(file);
}

static int preallocate(tm_disk *disk, int file, uint64_t bytes) {
    (void)disk;
    return -posix_fallocate(file, 0, (off_t)bytes);
}

static int cut_file(tm_disk *disk, int file, uint64_t bytes) {
    (void)disk;
    return told(ftruncate(file, (off_t)bytes));
}

/* ---- bypassing the page cache ---- */

static size_t bytes_of(const struct iovec *parts, int count) {
    size_t bytes = 0;
    for (int i = 0; i < count; i++) {
        bytes += parts[i].iov_len;
    }
    return bytes;
}

/* true if a write may bypass the page cache; `direct` is then of its file, and the buffer exists. */
static bool begin_direct(real_disk *disk, int file, size_t bytes, uint64_t at) {
    bool is_asked = bytes >= DIRECT_BYTES_MIN && bytes % DIRECT_UNIT == 0 && at % DIRECT_UNIT == 0;
    if (!is_asked || disk->is_direct_refused) {
        return false;
    }
    if (atomic_load(&disk->written) != file) {
        char name[32];
        end_direct(disk);
        snprintf(name, sizeof name, "/proc/self/fd/%d", file);
        disk->direct = open(name, O_RDWR | O_DIRECT | O_CLOEXEC);
        atomic_store(&disk->written, disk->direct >= 0 ? file : -1);
    }
    if (disk->buffer == NULL) {
        disk->buffer = TM_NEW(&disk->memory, TM_COLD, uint8_t, DIRECT_BYTES_MAX + DIRECT_ALIGNED);
    }
    disk->is_direct_refused = atomic_load(&disk->written) != file || disk->buffer == NULL;
    return !disk->is_direct_refused;
}

/* Write as much of the parts as fits the buffer; -EINVAL: the system refuses this way. */
static int64_t write_direct(real_disk *disk, const struct iovec *parts, int count, uint64_t at) {
    uint8_t *start = disk->buffer + (DIRECT_ALIGNED - (uintptr_t)disk->buffer % DIRECT_ALIGNED);
    size_t bytes = 0;
    for (int i = 0; i < count && bytes < DIRECT_BYTES_MAX; i++) {
        size_t size = parts[i].iov_len < DIRECT_BYTES_MAX - bytes ? parts[i].iov_len : DIRECT_BYTES_MAX - bytes;
        memcpy(start + bytes, parts[i].iov_base, size);
        bytes += size;
    }
    ssize_t written;
    do {
        written = pwrite(disk->direct, start, bytes, (off_t)at);
    } while (written < 0 && errno == EINTR);
    disk->is_direct_refused = written < 0 && errno == EINVAL;
    return written < 0 ? -errno : written;
}

static int64_t write_parts(tm_disk *disk, int file, const struct iovec *parts, int count, uint64_t at) {
    ssize_t written;
    if (begin_direct(real(disk), file, bytes_of(parts, count), at)) {
        int64_t result = write_direct(real(disk), parts, count, at);
        if (result != -EINVAL) {
            return result;
        }
    }
    do {
        written = pwritev(file, parts, count, (off_t)at);
    } while (written < 0 && errno == EINTR);
    return written < 0 ? -errno : written;
}

static int64_t read_some(tm_disk *disk, int file, void *out, size_t size, uint64_t at) {
    (void)disk;
    ssize_t got;
    do {
        got = pread(file, out, size, (off_t)at);
    } while (got < 0 && errno == EINTR);
    return got < 0 ? -errno : got;
}

static int sync_file(tm_disk *disk, int file) {
    (void)disk;
    return told(fdatasync(file));
}

static int rename_file(tm_disk *disk, const char *from, const char *to) {
    return told(renameat(real(disk)->folder, from, real(disk)->folder, to));
}

static int sync_folder(tm_disk *disk) {
    int result = told(fsync(real(disk)->folder));
    return result != 0 ? result : told(fsync(real(disk)->damaged));
}

static int remove_file(tm_disk *disk, const char *name) {
    return told(unlinkat(real(disk)->folder, name, 0));
}

static int list_files(tm_disk *disk, tm_disk_seen seen, void *context) {
    int copy = openat(real(disk)->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = copy < 0 ? NULL : fdopendir(copy);
    if (folder == NULL) {
        return -errno;
    }
    struct dirent *entry;
    errno = 0;
    while ((entry = readdir(folder)) != NULL) {
        if (entry->d_type != DT_DIR && strlen(entry->d_name) < TM_DISK_NAME_BYTES && !seen(context, entry->d_name)) {
            break;
        }
    }
    int result = entry == NULL && errno != 0 ? -errno : 0;
    closedir(folder);
    return result;
}

static int64_t size_of(tm_disk *disk, int file) {
    (void)disk;
    struct stat stat;
    return fstat(file, &stat) < 0 ? -errno : stat.st_size;
}

static void free_disk(tm_disk *disk) {
    real_disk *own = real(disk);
    end_direct(own);
    TM_DELETE(&own->memory, TM_COLD, own->buffer, uint8_t, own->buffer != NULL ? DIRECT_BYTES_MAX + DIRECT_ALIGNED : 0);
    tm_memory memory = own->memory;
    if (own->damaged >= 0) {
        close(own->damaged);
    }
    if (own->folder >= 0) {
        close(own->folder);
    }
    TM_DELETE(&memory, TM_COLD, own, real_disk, 1);
}

static const tm_disk_port PORT = {open_file,   close_file,  preallocate, cut_file,   write_parts, read_some, sync_file,
                                  rename_file, sync_folder, remove_file, list_files, size_of,     free_disk};

int tm_disk_new(const char *folder, tm_disk **made) {
    tm_memory memory = {0};
    real_disk *disk = TM_NEW(&memory, TM_COLD, real_disk, 1);
    if (disk == NULL) {
        return -ENOMEM;
    }
    *disk = (real_disk){.base = {&PORT}, .memory = memory, .folder = -1, .damaged = -1, .written = -1};
    int result = mkdir(folder, 0700) < 0 && errno != EEXIST ? -errno : 0;
    disk->folder = result == 0 ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    result = result == 0 ? told(disk->folder) : result;
    result = result == 0 ? told(flock(disk->folder, LOCK_EX | LOCK_NB)) : result;
    if (result == 0 && mkdirat(disk->folder, TM_DISK_DAMAGED, 0700) < 0 && errno != EEXIST) {
        result = -errno;
    }
    disk->damaged = result == 0 ? openat(disk->folder, TM_DISK_DAMAGED, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    result = result == 0 ? told(disk->damaged) : result;
    if (result != 0) {
        free_disk(&disk->base);
        return result;
    }
    *made = &disk->base;
    return 0;
}

/* ---- operations of several calls ---- */

int tm_disk_read_whole(tm_disk *disk, int file, void *out, size_t size, uint64_t at) {
    for (size_t done = 0; done < size;) {
        int64_t got = disk->port->read(disk, file, (uint8_t *)out + done, size - done, at + done);
        if (got <= 0) {
            return got == 0 ? -EIO : (int)got;
        }
        done += (size_t)got;
    }
    return 0;
}

int tm_disk_write_whole(tm_disk *disk, int file, struct iovec *parts, int count, uint64_t at) {
    while (count > 0) {
        int64_t wrote = disk->port->write(disk, file, parts, count, at);
        if (wrote <= 0) {
            return wrote == 0 ? -EIO : (int)wrote;
        }
        if (TM_BREAKS(SHORT_WRITE)) {
            return 0;
        }
        at += (uint64_t)wrote;
        while (count > 0 && (size_t)wrote >= parts->iov_len) {
            wrote -= (int64_t)parts->iov_len;
            parts++;
            count--;
        }
        if (count > 0) {
            parts->iov_base = (uint8_t *)parts->iov_base + wrote;
            parts->iov_len -= (size_t)wrote;
        }
    }
    return 0;
}

bool tm_disk_is_full(int result) {
    return result == -ENOSPC || result == -EDQUOT;
}

int tm_disk_replace(tm_disk *disk, const char *name, const void *bytes, size_t size, const char *over) {
    char beside[TM_DISK_NAME_BYTES];
    snprintf(beside, sizeof beside, "%s.new", name);
    int file;
    int result = over != NULL ? disk->port->rename(disk, over, beside) : 0;
    result = result == 0 ? disk->port->open(disk, beside, over == NULL, &file) : result;
    if (result != 0) {
        return result;
    }
    struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = size};
    result = tm_disk_write_whole(disk, file, &part, 1, 0);
    result = result == 0 && over != NULL ? disk->port->cut(disk, file, size) : result;
    result = result == 0 ? disk->port->sync(disk, file) : result;
    disk->port->close(disk, file);
    if (result != 0) {
        disk->port->remove(disk, beside); /* frees its room until it is written again */
        return result;
    }
    result = disk->port->rename(disk, beside, name);
    return result == 0 ? disk->port->sync_folder(disk) : result;
}
