/* segment.h - one segment: its file, and who has what in it.
 *
 * Law: of an open or closed segment the index lies in memory, as chains of links by row; of a sealed one the rows lie
 * in memory, postings and summaries in its footer. `pins` says how many read its file now: it does not go away
 * meanwhile.
 */
#ifndef TM_LOG_SEGMENT_H
#define TM_LOG_SEGMENT_H

#include "base/idset.h"
#include "log/disk.h"
#include "log/layout.h"

typedef enum {
    SEGMENT_OPEN,   /* batches are written into it */
    SEGMENT_CLOSED, /* no more is written into it, and it has no footer */
    SEGMENT_SEALED,
} tm_segment_state;

/* A posting in memory. */
typedef struct tm_link {
    uint32_t low;
    uint32_t summary;
    uint32_t next; /* + 1; 0: the last one */
} tm_link;

/* A posting with its summary, for who reads. */
typedef struct tm_reference {
    uint32_t low;
    tm_summary summary;
} tm_reference;

/* What records that are still to be indexed need. */
typedef struct tm_room {
    uint32_t links;
    uint32_t summaries;
} tm_room;

typedef struct tm_segment {
    tm_memory *memory; /* borrowed */
    uint64_t serial;
    uint64_t previous;
    uint64_t first_n;
    uint64_t bytes; /* of the file */
    uint64_t used;  /* where the next batch begins; of a sealed segment, where its footer does */
    uint64_t seq_before;
    uint64_t last_seq;
    uint64_t last_n;       /* committed, when its last batch was */
    uint64_t last_fresh_n; /* of records in it that are no copies; 0: none */
    int file;              /* owned */
    tm_segment_state state;
    uint64_t judge_at;    /* once so many numbers were done with (tm_store.done) it may be worth going; 0: at once */
    uint64_t crowded_at;  /* as that, while room is short */
    uint64_t weight;      /* of all of its records (tm_record_weight), once it is sealed; 0: it is not known */
    uint64_t heaviest;    /* what one number that is done with takes from that at most */
    uint64_t open_weight; /* of what was open when it was found to be sparse; 0: it goes, whatever that is */
    uint64_t begun_at;    /* one more number was done with than when it began; 0: in an earlier life */
    uint64_t left_at;     /* change of the store with which it began to leave */
    uint32_t pins;
    bool is_damaged; /* goes to damaged/ once what is open in it has been copied */
    bool is_failed;  /* a write or an fdatasync failed: goes for good, then */
    bool is_sparse;  /* what is open in it is to be copied forward */
    bool is_leaving; /* is in no checkpoint from now on */
    tm_row *rows; /* owned; sorted by holder when sealed, with `start` as in the footer; else `start` is a link + 1 */
    uint32_t row_count;
    uint32_t row_capacity;
    uint32_t last_row; /* that was found or made last */
    tm_idset row_set;  /* of rows + 1, while not sealed */
    tm_link *links;    /* owned; while not sealed */
    uint32_t link_count;
    uint32_t link_capacity;
    tm_summary *summaries; /* owned; while not sealed. In the order of their places */
    uint32_t summary_count;
    uint32_t summary_capacity;
    uint64_t summaries_ms; /* of the first one that was appended */
    uint64_t least_us;     /* when records were appended, as they say; more than `most_us`: there are none */
    uint64_t most_us;
} tm_segment;

/* NULL: no memory. */
tm_segment *tm_segment_new(tm_memory *memory);
/* Free what is in memory; the file is closed by the caller. */
void tm_segment_free(tm_segment *segment);

/* Make room for an index as long as that of another segment, where memory is not short: an array that grows to several
 * MiB step by step is copied, and touches fresh memory, at each step. */
void tm_segment_expect(tm_segment *segment, const tm_segment *like);
/* Make room for a record beside those for which there is `*room` already, which grows, so that tm_segment_index does
 * not fail. false: no memory. */
bool tm_segment_reserve(tm_segment *segment, const tm_log_record *record, tm_room *room);
void tm_segment_index(tm_segment *segment, const tm_log_record *record, uint32_t place);

/* The rows of one holder: a walk over them, in no order; NULL after the last. A row is borrowed until the segment's
 * index changes. */
typedef struct tm_row_walk {
    const tm_segment *segment; /* borrowed */
    tm_claim of;
    tm_idset_search search; /* of an index in memory */
    uint32_t next;          /* row, of a sealed segment */
} tm_row_walk;
tm_row_walk tm_segment_rows_of(const tm_segment *segment, tm_claim of);
tm_row *tm_segment_next_row(tm_row_walk *walk);

/* The footer of a segment whose index is in memory: as many bytes, and what they are (`scratch` has room for them). */
uint64_t tm_segment_footer_bytes(const tm_segment *segment);
void tm_segment_footer(const tm_segment *segment, uint8_t *out);
/* Take the rows of a sound footer; false: no memory. The segment is sealed then. */
bool tm_segment_seal(tm_segment *segment, const uint8_t *footer);

/* Back to an index in memory, which is empty. */
void tm_segment_unseal(tm_segment *segment);

/* References of one row, by number, into `out`: `count` of them from the one at `from` on; of a segment that is not
 * sealed, all. false: the disk does not give them. */
bool tm_segment_references(const tm_segment *segment, tm_disk *disk, const tm_row *row, uint32_t from, uint32_t count,
                           tm_reference *out);
/* What a reference says of its record, whose number is `n`. false: not enough, the record has to be read; so it is,
 * too, where the summary is damaged. */
bool tm_segment_summary(const tm_segment *segment, const tm_reference *reference, uint64_t n, tm_log_summary *summary);

#endif
