/* disk.h - the disk port: everything that the log asks of a disk, or of an engine in its place, as one table of
 * functions.
 *
 * Law: nothing in native/log touches a file but through this table. A name is one of the log's folder, without a slash,
 * or `damaged/` and such a name. What was written is on disk once `sync` of its file has returned 0; a file that was
 * made, renamed or removed is so once `sync_folder` has. A call returns 0 (or a count of bytes) or a negative errno.
 */
#ifndef TM_LOG_DISK_H
#define TM_LOG_DISK_H

#include <sys/uio.h>

#include "tm.h"

#define TM_DISK_NAME_BYTES 64U /* of a name, with the zero at its end */
#define TM_DISK_DAMAGED "damaged"

typedef struct tm_disk tm_disk;

/* Told of each file of a folder; false: enough. */
typedef bool (*tm_disk_seen)(void *context, const char *name);

typedef struct tm_disk_port {
    int (*open)(tm_disk *disk, const char *name, bool is_new, int *file); /* `*file` is the caller's to close */
    void (*close)(tm_disk *disk, int file);
    int (*preallocate)(tm_disk *disk, int file, uint64_t bytes);
    int (*cut)(tm_disk *disk, int file, uint64_t bytes); /* what is behind them goes */
    int64_t (*write)(tm_disk *disk, int file, const struct iovec *parts, int count, uint64_t at); /* may be short */
    int64_t (*read)(tm_disk *disk, int file, void *out, size_t size, uint64_t at);                /* may be short */
    int (*sync)(tm_disk *disk, int file); /* after a failure nobody knows what is on disk: it is never asked twice */
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

/* A folder of the system in `*made`, yours to free by its port; the folder is made where it is absent, and locked
 * against another process. */
int tm_disk_new(const char *folder, tm_disk **made);

/* Read or write the whole of it: short calls are continued. A read past the end is -EIO. */
int tm_disk_read_whole(tm_disk *disk, int file, void *out, size_t size, uint64_t at);
int tm_disk_write_whole(tm_disk *disk, int file, struct iovec *parts, int count, uint64_t at);

/* Does the result of a call say that there is no room on the disk, or no more for this user? */
bool tm_disk_is_full(int result);

/* Put `size` bytes into the file `name`, whole or not at all: written beside it, synced, renamed, folder synced.
 * `over`: a file that is used up for it, with the room that it has; NULL: a new one. */
int tm_disk_replace(tm_disk *disk, const char *name, const void *bytes, size_t size, const char *over);

#endif
