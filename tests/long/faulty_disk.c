/* faulty_disk.c - calls of the disk that are slow or fail, loaded before the C library: LD_PRELOAD.
 *
 * Law: files in the folder DISK_FAULTS say what goes wrong, from the moment they are there: `slow` makes each fdatasync
 * take a second, `full` has nothing written that was not there, `failing` fails each write and sync.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

static int is_on(const char *fault) {
    char path[4096];
    const char *folder = getenv("DISK_FAULTS");
    return folder != NULL && snprintf(path, sizeof path, "%s/%s", folder, fault) < (int)sizeof path &&
           access(path, F_OK) == 0;
}

static int fault(void) {
    return is_on("failing") ? EIO : is_on("full") ? ENOSPC : 0;
}

int fdatasync(int file) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    if (is_on("slow")) {
        sleep(1);
    }
    if (is_on("failing")) {
        errno = EIO;
        return -1;
    }
    return real(file);
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t at) {
    ssize_t (*real)(int, const void *, size_t, off_t) =
        (ssize_t (*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
    if (is_on("failing")) {
        errno = EIO;
        return -1;
    }
    return real(file, bytes, size, at);
}

ssize_t pwritev(int file, const struct iovec *parts, int count, off_t at) {
    ssize_t (*real)(int, const struct iovec *, int, off_t) =
        (ssize_t (*)(int, const struct iovec *, int, off_t))dlsym(RTLD_NEXT, "pwritev");
    if (is_on("failing")) {
        errno = EIO;
        return -1;
    }
    return real(file, parts, count, at);
}

int posix_fallocate(int file, off_t at, off_t size) {
    int (*real)(int, off_t, off_t) = (int (*)(int, off_t, off_t))dlsym(RTLD_NEXT, "posix_fallocate");
    int error = fault();
    return error != 0 ? error : real(file, at, size);
}
