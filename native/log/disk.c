/* disk.c - the disk port on a folder of the system, and what every disk does in several calls.
 *
 * Law: each function of the port is one system call, tried again only where a signal interrupted it before it began.
 */
#define _GNU_SOURCE
#include "log/disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "log/tested.h"

typedef struct real_disk {
    tm_disk base;
    tm_memory memory;
    int folder;  /* owned */
    int damaged; /* owned */
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

static void close_file(tm_disk *disk, int file) {
    (void)disk;
    close(file);
}

static int preallocate(tm_disk *disk, int file, uint64_t bytes) {
    (void)disk;
    return -posix_fallocate(file, 0, (off_t)bytes);
}

static int64_t write_parts(tm_disk *disk, int file, const struct iovec *parts, int count, uint64_t at) {
    (void)disk;
    ssize_t written;
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
    tm_memory memory = own->memory;
    if (own->damaged >= 0) {
        close(own->damaged);
    }
    if (own->folder >= 0) {
        close(own->folder);
    }
    TM_DELETE(&memory, TM_COLD, own, real_disk, 1);
}

static const tm_disk_port PORT = {open_file,   close_file,  preallocate, write_parts, read_some, sync_file,
                                  rename_file, sync_folder, remove_file, list_files,  size_of,   free_disk};

int tm_disk_new(const char *folder, tm_disk **made) {
    tm_memory memory = {0};
    real_disk *disk = TM_NEW(&memory, TM_COLD, real_disk, 1);
    if (disk == NULL) {
        return -ENOMEM;
    }
    *disk = (real_disk){.base = {&PORT}, .memory = memory, .folder = -1, .damaged = -1};
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

/* ---- several calls ---- */

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

int tm_disk_replace(tm_disk *disk, const char *name, const void *bytes, size_t size) {
    char beside[TM_DISK_NAME_BYTES];
    snprintf(beside, sizeof beside, "%s.new", name);
    int file;
    int result = disk->port->open(disk, beside, true, &file);
    if (result != 0) {
        return result;
    }
    struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = size};
    result = tm_disk_write_whole(disk, file, &part, 1, 0);
    result = result == 0 ? disk->port->sync(disk, file) : result;
    disk->port->close(disk, file);
    result = result == 0 ? disk->port->rename(disk, beside, name) : result;
    return result == 0 ? disk->port->sync_folder(disk) : result;
}
