/* recover.h - what the parts of a recovery share:
 *
 *     recover.c           the order of steps, from a folder to a store in service
 *     recover_files.c     the list of files
 *     recover_segment.c   one file becomes a segment of the store or is discarded
 *     rescan.c            a sealed segment is read again
 *
 * Law: a candidate is a file of the folder with the name of a segment, until a segment owns it or it is discarded.
 */
#ifndef TM_LOG_RECOVER_H
#define TM_LOG_RECOVER_H

#include "log/checkpoint.h"
#include "log/scan.h"

/* A file of the folder with the name of a segment. */
typedef struct candidate {
    uint64_t serial;
    uint64_t first_n;
    uint64_t bytes;
    tm_segment_head head;
    int file;          /* owned until a segment owns it; -1 */
    bool is_begun;     /* its head is sound and has its serial */
    bool is_torn_head; /* its head is not sound */
    bool is_cut;       /* shorter than it was created */
} candidate;

typedef struct recovering {
    tm_store *store;
    tm_checkpoint checkpoint;
    candidate *all; /* owned */
    uint32_t count;
    uint32_t capacity;
    uint64_t max_serial;
    uint64_t life;
    uint8_t *bytes; /* owned: of the scanned segment */
    uint64_t bytes_size;
    tm_segment *segment;  /* the scanned one */
    bool has_left_out;    /* copies of the scanned segment */
    bool misses_segments; /* segments before the end of the scanned one are missing, or may be */
    bool is_short_of_memory;
} recovering;

/* ---- recover_files.c ---- */

/* Find candidates and spare files, and read the heads of the candidates, which are then sorted by serial. */
int recover_files(recovering *r);

/* ---- recover_segment.c ---- */

/* Take candidate `i` into the store, or discard it if it never held anything. */
int recover_segment(recovering *r, uint32_t i);
/* Return the entry of a serial in the checkpoint, borrowed; NULL: there is none. */
const tm_listed *recover_listed(const recovering *r, uint64_t serial);
/* Reserve room for the bytes of a candidate; false: no memory. */
bool recover_has_room(recovering *r, const candidate *c);
/* Read a whole file into `r->bytes`; unreadable parts are zeroes. */
void recover_read(recovering *r, const candidate *c);
/* Record missing numbers: the callback of a scan whose context is `r`. */
void recover_missing(void *context, uint64_t first, uint64_t last);
/* Add missing numbers to the store. false: no memory. */
bool tm_store_add_missing(tm_store *store, uint64_t first, uint64_t last);

#endif
