/* segment.h - one segment: its file, and which holders have which records in it.
 *
 * Law: the index of an open or closed segment is in memory, as chains of links by row; of a sealed one, the rows are in
 * memory, postings and summaries in its footer. `pins` counts the readers of its file, which stays while there are
 * any.
 */
#ifndef TM_LOG_SEGMENT_H
#define TM_LOG_SEGMENT_H

#include "base/idset.h"
#include "log/disk.h"
#include "log/layout.h"

typedef enum {
    SEGMENT_OPEN,   /* batches are written into it */
    SEGMENT_CLOSED, /* complete, without a footer */
    SEGMENT_SEALED,
} tm_segment_state;

/* A posting in memory. */
typedef struct tm_link {
    uint32_t low;
    uint32_t summary;
    uint32_t next; /* + 1; 0: the last one */
} tm_link;

/* A posting with its summary, for readers. */
typedef struct tm_reference {
    uint32_t low;
    tm_summary summary;
} tm_reference;

/* Room for records that are still to be indexed. */
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
    uint64_t last_n;       /* last number committed with its last batch */
    uint64_t last_fresh_n; /* of its records that are not copies; 0: none */
    int file;              /* owned */
    tm_segment_state state;
    uint64_t judge_at;    /* judged again once tm_store.done has reached this count; 0: at once */
    uint64_t crowded_at;  /* as judge_at, while room is short */
    uint64_t weight;      /* of all of its records (tm_record_weight), once it is sealed; 0: unknown */
    uint64_t heaviest;    /* most weight that one done number can remove */
    uint64_t open_weight; /* weight of the open records when it was found to be sparse; 0: it goes whatever that is */
    uint64_t begun_at;    /* tm_store.done + 1 when it began; 0: in an earlier run */
    uint64_t left_at;     /* tm_store.changes when it began to leave */
    uint32_t pins;
    uint32_t version; /* of an open one */
    bool is_damaged;  /* goes to damaged/ once its open records have been copied */
    bool is_failed;   /* a write or an fdatasync failed: removed then */
    bool is_sparse;   /* its open records are to be copied */
    bool is_leaving;  /* in no later checkpoint */
    bool is_mixed;    /* the links of a row, which are in memory, are not in the order of their numbers */
    tm_row *rows;     /* owned; sorted by holder when sealed, with `start` as in the footer; otherwise `start` is a link
                       * + 1 */
    uint32_t row_count;
    uint32_t row_capacity;
    uint32_t last_row; /* the last one found or added */
    tm_idset row_set;  /* of rows + 1, while not sealed */
    tm_link *links;    /* owned; while not sealed */
    uint32_t link_count;
    uint32_t link_capacity;
    tm_summary *summaries; /* owned; while not sealed, in the order of their places */
    uint32_t summary_count;
    uint32_t summary_capacity;
    uint64_t summaries_ms; /* of the first one appended */
    uint64_t least_us;     /* when records were appended; more than `most_us`: there are none */
    uint64_t most_us;
} tm_segment;

/* Return a new segment; NULL: no memory. */
tm_segment *tm_segment_new(tm_memory *memory);
/* Free the memory of a segment; the caller closes the file. */
void tm_segment_free(tm_segment *segment);

/* Reserve an index as long as that of another segment, if memory is not short: an array that grows to several MiB step
 * by step is copied, and touches fresh memory, at each step. */
void tm_segment_expect(tm_segment *segment, const tm_segment *like);
/* Reserve room for a record in addition to `*room`, which grows, so that tm_segment_index cannot fail. false: no
 * memory. */
bool tm_segment_reserve(tm_segment *segment, const tm_log_record *record, tm_room *room);
/* Index a record at a place, in units of 8 bytes, after tm_segment_reserve. */
void tm_segment_index(tm_segment *segment, const tm_log_record *record, uint32_t place);

/* A walk over the rows of one holder, in no order; NULL after the last. A row is borrowed until the index of the
 * segment changes. */
typedef struct tm_row_walk {
    const tm_segment *segment; /* borrowed */
    tm_claim of;
    tm_idset_search search; /* of an index in memory */
    uint32_t next;          /* row of a sealed segment */
} tm_row_walk;
tm_row_walk tm_segment_rows_of(const tm_segment *segment, tm_claim of);
tm_row *tm_segment_next_row(tm_row_walk *walk);

/* Return the size of the footer of a segment whose index is in memory; and write the footer into `out`, which has that
 * size. */
uint64_t tm_segment_footer_bytes(const tm_segment *segment);
void tm_segment_footer(const tm_segment *segment, uint8_t *out);
/* Seal a segment with the rows of a sound footer; false: no memory. */
bool tm_segment_seal(tm_segment *segment, const uint8_t *footer);

/* Replace the index by an empty one in memory. */
void tm_segment_unseal(tm_segment *segment);

/* Return how many records of a row, of an index in memory that is not mixed, have numbers past `after`. */
uint32_t tm_segment_newer(const tm_segment *segment, const tm_row *row, uint64_t after);
/* Read references of one row, by number, into `out`: `count` of them from index `from` on, which are all if the segment
 * is mixed. false: the disk cannot be read. */
bool tm_segment_references(const tm_segment *segment, tm_disk *disk, const tm_row *row, uint32_t from, uint32_t count,
                           tm_reference *out);
/* Decode the summary in a reference to record `n`. false: it is damaged or not sufficient, and the record must be
 * read. */
bool tm_segment_summary(const tm_segment *segment, const tm_reference *reference, uint64_t n, tm_log_summary *summary);

#endif
