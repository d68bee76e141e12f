/* recover.h - what the parts of a recovery share:
 *
 *     recover.c           the order of it: from a folder to a store that is served
 *     recover_files.c     which files there are
 *     recover_segment.c   one segment is taken into the store, or is none
 *     rescan.c            a sealed segment is read again
 *
 * Law: a candidate is a file of the folder that is named as a segment, until a segment has it or it is found to be
 * none.
 */
#ifndef TM_LOG_RECOVER_H
#define TM_LOG_RECOVER_H

#include "log/checkpoint.h"
#include "log/scan.h"

/* A file of the folder that is named as a segment. */
typedef struct candidate {
    uint64_t serial;
    uint64_t first_n;
    uint64_t bytes;
    tm_segment_head head;
    int file;          /* owned until a segment has it; -1 */
    bool is_begun;     /* its head is sound and its own */
    bool is_torn_head; /* not sound at all */
    bool is_cut;       /* shorter than it was made */
} candidate;

typedef struct recovering {
    tm_store *store;
    tm_checkpoint checkpoint;
    candidate *all; /* owned */
    uint32_t count;
    uint32_t capacity;
    uint64_t max_serial;
    uint64_t life;
    uint8_t *bytes; /* owned: of the segment that is scanned */
    uint64_t bytes_size;
    tm_segment *segment;  /* that is scanned */
    bool has_left_out;    /* copies of the segment that is scanned */
    bool misses_segments; /* before the end of the one that is scanned: some have gone, or may have */
    bool is_short_of_memory;
} recovering;

/* ---- recover_files.c ---- */

/* Find candidates and spare files, and read the heads of the former, which are in the order of their serials then. */
int recover_files(recovering *r);

/* ---- recover_segment.c ---- */

/* Take candidate `i` into the store, or out of use where it never held anything. */
int recover_segment(recovering *r, uint32_t i);
/* What the checkpoint says of this serial; NULL: nothing. Borrowed. */
const tm_listed *recover_listed(const recovering *r, uint64_t serial);
/* Room for the bytes of a candidate; false: no memory. */
bool recover_has_room(recovering *r, const candidate *c);
/* Read a whole file into `r->bytes`; what cannot be read is zeroes. */
void recover_read(recovering *r, const candidate *c);
/* Numbers are missing: what a scan with `r` for context calls. */
void recover_missing(void *context, uint64_t first, uint64_t last);
bool tm_store_add_missing(tm_store *store, uint64_t first, uint64_t last);

#endif
