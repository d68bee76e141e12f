/* recorder.c - calls that change a log's folder, written down as they are done, loaded before the C library:
 * LD_PRELOAD.
 *
 *     RECORDED   the folder of the log            RECORD   the file of what was done, with the process id behind its
 * name CLOCK      a file of 8 bytes, which all recorded processes share: one tick for each line of their records
 *     UNSYNCED   set: fdatasync and fsync do nothing, and say that they did
 *
 * Law: a change is written down when it is done, before its caller hears of that. A sync covers what was written down
 * before it began, and is written down when it is done: with the tick of its beginning.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define PATH_BYTES 4096
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

typedef struct line {
    uint64_t tick;
    uint64_t at;   /* of a write; the size after a cut; the tick at which a sync began */
    uint32_t size; /* of the bytes behind the names */
    uint16_t name_size;
    uint8_t other_size; /* of a second name */
    char kind;
} line;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint64_t *shared; /* the clock; mapped while the process lives */
static int record = -1;          /* open while the process lives */

/* Map the clock and open the record, once; called with the lock held. */
static void begin(void) {
    if (shared != NULL) {
        return;
    }
    int clock = open(getenv("CLOCK"), O_RDWR | O_CLOEXEC);
    void *mapped = clock < 0 ? MAP_FAILED : mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, clock, 0);
    char name[PATH_BYTES];
    snprintf(name, sizeof name, "%s.%d", getenv("RECORD"), getpid());
    record = open(name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (mapped == MAP_FAILED || record < 0) {
        abort();
    }
    close(clock);
    shared = mapped;
}

/* Return the name of a path in the recorded folder, in `path`; NULL: it is not in there. */
static const char *inside(char *path) {
    const char *folder = getenv("RECORDED");
    size_t size = folder == NULL ? 0 : strlen(folder);
    return size > 0 && strncmp(path, folder, size) == 0 && (path[size] == '/' || path[size] == 0) ? path + size : NULL;
}

/* Write the path of an open file into `path`, of PATH_BYTES, and return its name in the recorded folder, or NULL. */
static const char *name_of(int file, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, path, PATH_BYTES - 1);
    path[size < 0 ? 0 : size] = 0;
    return inside(path);
}

/* The same of a name in an open folder. */
static const char *name_at(int folder, const char *name, char *path) {
    if (name[0] == '/') {
        snprintf(path, PATH_BYTES, "%s", name);
        return inside(path);
    }
    if (folder == AT_FDCWD || name_of(folder, path) == NULL) {
        return NULL;
    }
    size_t size = strlen(path);
    snprintf(path + size, PATH_BYTES - size, "/%s", name);
    return inside(path);
}

static uint64_t tick(void) {
    pthread_mutex_lock(&lock);
    begin();
    uint64_t now = atomic_fetch_add(shared, 1);
    pthread_mutex_unlock(&lock);
    return now;
}

static void write_down(char kind, const char *name, const char *other, uint64_t at, const struct iovec *parts,
                       int count, size_t size) {
    int error = errno;
    line head = {.at = at, .size = (uint32_t)size, .kind = kind};
    head.name_size = (uint16_t)strlen(name);
    head.other_size = (uint8_t)strlen(other);
    struct iovec all[1024] = {
        {&head, sizeof head}, {(void *)(uintptr_t)name, head.name_size}, {(void *)(uintptr_t)other, head.other_size}};
    int used = 3;
    for (int i = 0; i < count && size > 0 && used < 1024; i++) {
        size_t some = parts[i].iov_len < size ? parts[i].iov_len : size;
        all[used++] = (struct iovec){parts[i].iov_base, some};
        size -= some;
    }
    pthread_mutex_lock(&lock);
    begin();
    head.tick = atomic_fetch_add(shared, 1);
    if (size > 0 || writev(record, all, used) < 0) {
        abort(); /* a record with a hole judges nothing */
    }
    pthread_mutex_unlock(&lock);
    errno = error;
}

ssize_t pwritev(int file, const struct iovec *parts, int count, off_t at) {
    char path[PATH_BYTES];
    ssize_t done = REAL(pwritev)(file, parts, count, at);
    const char *name = done > 0 ? name_of(file, path) : NULL;
    if (name != NULL) {
        write_down('w', name, "", (uint64_t)at, parts, count, (size_t)done);
    }
    return done;
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t at) {
    char path[PATH_BYTES];
    ssize_t done = REAL(pwrite)(file, bytes, size, at);
    const char *name = done > 0 ? name_of(file, path) : NULL;
    if (name != NULL) {
        struct iovec part = {(void *)(uintptr_t)bytes, size};
        write_down('w', name, "", (uint64_t)at, &part, 1, (size_t)done);
    }
    return done;
}

int posix_fallocate(int file, off_t at, off_t size) {
    char path[PATH_BYTES];
    int error = REAL(posix_fallocate)(file, at, size);
    const char *name = error == 0 ? name_of(file, path) : NULL;
    if (name != NULL) {
        write_down('g', name, "", (uint64_t)(at + size), NULL, 0, 0);
    }
    return error;
}

int ftruncate(int file, off_t size) {
    char path[PATH_BYTES];
    int result = REAL(ftruncate)(file, size);
    const char *name = result == 0 ? name_of(file, path) : NULL;
    if (name != NULL) {
        write_down('c', name, "", (uint64_t)size, NULL, 0, 0);
    }
    return result;
}

int openat(int folder, const char *name, int flags, ...) {
    char path[PATH_BYTES];
    va_list more;
    va_start(more, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
    va_end(more);
    int file = REAL(openat)(folder, name, flags, mode);
    const char *made = file >= 0 && (flags & O_CREAT) != 0 ? name_at(folder, name, path) : NULL;
    if (made != NULL) {
        write_down('n', made, "", 0, NULL, 0, 0);
    }
    return file;
}

int renameat(int from, const char *name, int to, const char *other) {
    char path[PATH_BYTES], other_path[PATH_BYTES];
    int result = REAL(renameat)(from, name, to, other);
    const char *old = result == 0 ? name_at(from, name, path) : NULL;
    const char *new = result == 0 ? name_at(to, other, other_path) : NULL;
    if (old != NULL && new != NULL) {
        write_down('r', old, new, 0, NULL, 0, 0);
    }
    return result;
}

int unlinkat(int folder, const char *name, int flags) {
    char path[PATH_BYTES];
    int result = REAL(unlinkat)(folder, name, flags);
    const char *gone = result == 0 ? name_at(folder, name, path) : NULL;
    if (gone != NULL) {
        write_down('u', gone, "", 0, NULL, 0, 0);
    }
    return result;
}

static int synced(int file, int (*sync)(int), char kind) {
    char path[PATH_BYTES];
    const char *name = name_of(file, path);
    if (name == NULL) {
        return sync(file);
    }
    if (getenv("UNSYNCED") != NULL) {
        return 0;
    }
    uint64_t began = tick();
    int result = sync(file);
    if (result == 0) {
        write_down(kind, name, "", began, NULL, 0, 0);
    }
    return result;
}

int fdatasync(int file) {
    return synced(file, REAL(fdatasync), 's');
}

int fsync(int file) {
    return synced(file, REAL(fsync), 's');
}
