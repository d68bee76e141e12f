/* disk.h - the disk port: all disk operations of the log as one table of functions, which an engine may replace.
 *
 * Law: native/log accesses files only through this table. A name is one in the folder of the log, without a slash, or
 * `damaged/` and such a name. Written bytes are on disk once `sync` of their file has returned 0; a file that was
 * created, renamed or removed is so on disk once `sync_folder` has. A call returns 0 (or a count of bytes) or a
 * negative errno.
 */
#ifndef TM_LOG_DISK_H
#define TM_LOG_DISK_H

#include <sys/uio.h>

#include "tm.h"

#define TM_DISK_NAME_BYTES 64U /* of a name, with the terminating zero */
#define TM_DISK_DAMAGED "damaged"

typedef struct tm_disk tm_disk;

/* Called for each file of a folder; false ends the listing. */
typedef bool (*tm_disk_seen)(void *context, const char *name);

typedef struct tm_disk_port {
    int (*open)(tm_disk *disk, const char *name, bool is_new, int *file); /* the caller closes `*file` */
    void (*close)(tm_disk *disk, int file);
    int (*preallocate)(tm_disk *disk, int file, uint64_t bytes);
    int (*cut)(tm_disk *disk, int file, uint64_t bytes); /* removes the bytes behind `bytes` */
    int64_t (*write)(tm_disk *disk, int file, const struct iovec *parts, int count, uint64_t at); /* may be short */
    int64_t (*read)(tm_disk *disk, int file, void *out, size_t size, uint64_t at);                /* may be short */
    int (*sync)(tm_disk *disk, int file); /* called once: after a failure the state of the disk is unknown */
    int (*rename)(tm_disk *disk, const char *from, const char *to); /* replaces `to` */
    int (*sync_folder)(tm_disk *disk);                              /* `damaged/` as well */
    int (*remove)(tm_disk *disk, const char *name);
    int (*list)(tm_disk *disk, tm_disk_seen seen, void *context); /* names without `damaged/` */
    int64_t (*size)(tm_disk *disk, int file);
    void (*free)(tm_disk *disk);
} tm_disk_port;

struct tm_disk {
    const tm_disk_port *port; /* static */
};

/* Open a folder of the system in `*made`, which the caller frees by its port. The folder is created if absent, and
 * locked against other processes. Returns 0 or a negative errno. */
int tm_disk_new(const char *folder, tm_disk **made);

/* Read or write all bytes, continuing short calls. A read past the end is -EIO. */
int tm_disk_read_whole(tm_disk *disk, int file, void *out, size_t size, uint64_t at);
int tm_disk_write_whole(tm_disk *disk, int file, struct iovec *parts, int count, uint64_t at);

/* true if the result of a call reports that the disk, or the quota of this user, has no room. */
bool tm_disk_is_full(int result);

/* Write `size` bytes into the file `name`, atomically: written to a second file, synced, renamed, folder synced.
 * `over`: a file whose blocks are used for it; NULL: a new file. */
int tm_disk_replace(tm_disk *disk, const char *name, const void *bytes, size_t size, const char *over);

#endif
