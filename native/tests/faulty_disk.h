/* faulty_disk.h - a disk in memory that does everything a disk may do to a log.
 *
 * Law: what was synced is there after a crash; of what was not, each sector of 512 bytes is there or not by the dice,
 * and of the folder's changes any first part. A failed sync writes some sectors and forgets that the others were to be
 * written, as Linux does: the next sync says 0. Bits flip only when asked.
 */
#ifndef TM_FAULTY_DISK_H
#define TM_FAULTY_DISK_H

#include "log/disk.h"
#include "support.h"

#define FAULTY_FILES 96U
#define FAULTY_OPEN 96U
#define FAULTY_SECTOR 512U

typedef enum {
    CRASH_ALL_LOST, /* of what was not synced */
    CRASH_ALL_KEPT,
    CRASH_SOME_KEPT, /* in any order */
    CRASH_PREFIX_KEPT,
    CRASH_OF_PROCESS, /* the system goes on, with what it has not written yet */
    CRASH_KINDS,
} crash_kind;

typedef enum { SECTOR_ON_DISK, SECTOR_TO_BE_WRITTEN, SECTOR_FORGOTTEN } sector_state;

/* What a file holds, in one allocation. Disks share it; who changes it takes a copy first. */
typedef struct faulty_bytes {
    uint8_t *now;    /* in this allocation, as the two behind it: what the system shows */
    uint8_t *disk;   /* what there is after a crash; only of sectors that are not on disk as they are now */
    uint8_t *states; /* a sector_state for each sector */
    size_t capacity; /* of `now` and `disk` */
    uint32_t sharers;
    bool is_clean; /* all sectors are on disk */
} faulty_bytes;

typedef struct faulty_file {
    faulty_bytes *bytes; /* owned with other disks; NULL: none yet */
    size_t size;
    size_t disk_size;
    bool is_used;
} faulty_file;

typedef struct faulty_name {
    char name[2 * TM_DISK_NAME_BYTES];
    int file; /* -1: no such name */
} faulty_name;

typedef struct faulty_disk {
    tm_disk base;
    dice dice;
    faulty_file files[FAULTY_FILES];
    faulty_name names[FAULTY_FILES];  /* as the system shows them */
    faulty_name synced[FAULTY_FILES]; /* as they were when the folder was synced */
    struct change {
        char from[2 * TM_DISK_NAME_BYTES]; /* empty: made or removed */
        char to[2 * TM_DISK_NAME_BYTES];
        int file; /* -1: removed */
    } changes[40];
    uint32_t change_count;
    bool is_open[FAULTY_OPEN];
    int open_file[FAULTY_OPEN];
    uint64_t calls;
    void (*before)(void *context); /* each call; NULL: nobody asks */
    void *context;
    uint32_t short_in; /* 1 of so many writes is short; 0: none */
    uint32_t fails_in; /* 1 of so many syncs and writes fails; 0: none */
    bool is_full;      /* nothing can be preallocated or grow */
} faulty_disk;

faulty_disk *faulty_new(uint64_t seed);
/* What is found after a crash now, on a disk without faults. */
faulty_disk *faulty_crash(const faulty_disk *disk, crash_kind kind, uint64_t seed);
/* Flip a bit of a file whose name begins so; false: there is none. */
bool faulty_flip(faulty_disk *disk, const char *beginning);
/* The file of this name (`damaged/` and a name, too); NULL: there is none. Borrowed until the next call of the disk. */
const faulty_file *faulty_find(const faulty_disk *disk, const char *name);
/* Cut a file to `size` bytes, on disk as well. */
void faulty_cut(faulty_disk *disk, const char *name, size_t size);

#endif
