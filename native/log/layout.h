/* layout.h - the bytes of a segment: header, batches, records, footer.
 *
 *     0      4096                                               multiple of 512
 *     header |batch: head, records, filler|batch ...|footer: head, rows, postings, summaries|unused|tail: where the
 * footer is
 *
 * Law: a sector of 512 bytes that holds something committed is never written again until the segment is used again, so
 * a batch begins at a sector. Everything is little-endian and stands under a CRC-32C; those of records and of footers
 * begin with the segment's serial number, which no other use of the file has: the salt. Nothing is believed before
 * its crc is right, and sizes are compared with what is left even then.
 */
#ifndef TM_LOG_LAYOUT_H
#define TM_LOG_LAYOUT_H

#include "log/crc.h"
#include "tm_log.h"

#define SECTOR_BYTES 512U
#define SEGMENT_HEAD_BYTES 4096U
#define SEGMENT_BYTES_MIN 16384U
#define SEGMENT_MAGIC UINT64_C(0x32474f4c534d4154) /* "TAMSLOG2": the last byte is the version of the layout */
#define BATCH_MAGIC 0x48435442U                    /* "BTCH" */
#define FOOTER_MAGIC 0x544f4f46U                   /* "FOOT" */
#define COUNTER_BITS 40U
#define LIFE_MAX ((UINT64_C(1) << 24) - 1)

/* The first bytes of a segment. */
typedef struct tm_segment_head {
    uint64_t magic;
    uint64_t log_id;
    uint64_t serial;        /* life (24 bits of 32), count in it */
    uint64_t previous;      /* serial of the segment before; 0: none */
    uint64_t first_n;       /* the first number that may stand in it */
    uint64_t last_n_before; /* committed before it began */
    uint64_t seq_before;    /* batch committed before it began */
    uint64_t bytes;
    uint32_t reserved;
    uint32_t crc; /* of all before */
} tm_segment_head;

/* The first bytes of a batch. */
typedef struct tm_batch_head {
    uint32_t magic;
    uint32_t crc; /* of what follows, of this head */
    uint64_t serial;
    uint64_t seq;              /* one more than that of the batch before */
    uint64_t committed_before; /* seq of what was on disk before this one was written */
    uint64_t first_n;          /* of the records; of copies the least */
    uint64_t last_n;
    uint32_t bytes; /* of the records */
    uint32_t count;
    uint32_t is_copies;
    uint32_t reserved;
} tm_batch_head;

/* The first bytes of a footer; rows, postings and summaries follow. */
typedef struct tm_footer_head {
    uint32_t magic;
    uint32_t crc; /* of the salt and what follows, rows, postings and summaries included */
    uint64_t serial;
    uint64_t last_seq;
    uint64_t last_n;
    uint64_t last_fresh_n; /* of records that are no copies */
    uint64_t summaries_ms; /* what times of summaries are near to */
    uint64_t least_us;     /* when records were appended, copies too, as they say */
    uint64_t most_us;
    uint32_t rows;
    uint32_t postings;
    uint32_t summaries;
    uint32_t used; /* where the last batch ends */
} tm_footer_head;

/* The last bytes of a segment that has a footer. */
typedef struct tm_footer_tail {
    uint32_t magic;
    uint32_t reserved;
    uint32_t at;
    uint32_t bytes;
} tm_footer_tail;

/* What a holder is. Terms of a keep are kept for themselves: what the keep has done with does not touch them. */
typedef enum { TM_KEEP, TM_HOME, TM_TERMS } tm_role;

/* A row: what one holder has in one segment, of numbers with one high half. */
typedef struct tm_row {
    uint64_t holder;
    uint32_t high;
    tm_role role;
    uint32_t count;
    uint32_t start; /* its first posting in the footer */
    uint32_t low_min;
    uint32_t low_max;
} tm_row;

/* A record of a row. */
typedef struct tm_posting {
    uint32_t low;     /* half of its number */
    uint32_t summary; /* place in the list of summaries */
} tm_posting;

/* A record of the segment that is kept for somebody, in short: once, for however many. It is believed by itself, as
 * records are: a footer is checked as a whole when a log is opened, and read piece by piece after that. */
typedef struct tm_summary {
    uint32_t place; /* where it stands, in units of 8 bytes */
    uint32_t body_size;
    uint32_t at_ms;    /* low half of when it was appended: the moment that is nearest to `summaries_ms` */
    uint32_t lasts_ms; /* from then on; 0: for ever; SUMMARY_IS_SHORT: the record says more than this */
    uint32_t crc;      /* of the salt, the record's number and what is before */
} tm_summary;
#define SUMMARY_IS_SHORT UINT32_MAX

_Static_assert(sizeof(tm_log_record) == 56 && sizeof(tm_batch_head) == 64 && sizeof(tm_segment_head) == 72, "layout");
_Static_assert(sizeof(tm_footer_head) == 80 && sizeof(tm_row) == 32 && sizeof(tm_posting) == 8, "layout");
_Static_assert(sizeof(tm_summary) == 20, "layout");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the layout is that of the memory");

static inline uint64_t tm_sectors(uint64_t bytes) {
    return (bytes + SECTOR_BYTES - 1) / SECTOR_BYTES * SECTOR_BYTES;
}
static inline uint32_t tm_salt(uint64_t serial) {
    return tm_crc(0, &serial, sizeof serial);
}

static inline const uint32_t *tm_record_keeps(const tm_log_record *record) {
    return (const uint32_t *)(record + 1);
}
static inline const tm_log_home *tm_record_homes(const tm_log_record *record) {
    return (const tm_log_home *)(tm_record_keeps(record) + (record->keeps + 1U) / 2 * 2);
}
static inline const uint8_t *tm_record_body(const tm_log_record *record) {
    return (const uint8_t *)(tm_record_homes(record) + record->homes);
}

/* For whom a record is kept: `i` is less than tm_record_claims. */
typedef struct tm_claim {
    uint64_t holder;
    tm_role role;
} tm_claim;
static inline tm_claim tm_claim_of(uint64_t holder, uint32_t is_home) {
    return (tm_claim){holder, is_home != 0 ? TM_HOME : TM_KEEP};
}
static inline uint32_t tm_record_claims(const tm_log_record *record) {
    return (uint32_t)record->keeps + record->homes;
}
static inline tm_claim tm_record_claim(const tm_log_record *record, uint32_t i) {
    if (i < record->keeps) {
        return (tm_claim){tm_record_keeps(record)[i], record->kind == TM_LOG_KEEP ? TM_TERMS : TM_KEEP};
    }
    return (tm_claim){tm_record_homes(record)[i - record->keeps].router, TM_HOME};
}

/* What a record takes of a segment, its summary included, where many lie in one batch; beside that each of those for
 * whom it is kept weighs POSTING_WEIGHT, and its row. A summary that is damaged says anything: no body is longer than
 * `most`.
 */
#define POSTING_WEIGHT (sizeof(tm_posting) + sizeof(uint64_t))
static inline uint64_t tm_record_weight(uint64_t body, uint64_t most) {
    return sizeof(tm_log_record) + sizeof(tm_summary) + ((body < most ? body : most) + 7) / 8 * 8;
}

/* ---- layout.c ---- */

/* As many bytes as a record of these has; 64 bit, so that nothing wraps. */
uint64_t tm_record_bytes(uint32_t keeps, uint32_t homes, uint64_t body);
uint32_t tm_record_crc(uint32_t salt, const tm_log_record *record);
/* Is a record whole within `left` bytes, as long as what is in it, and is its crc right? `left` may be less than a
 * record's head. */
bool tm_record_is_sound(uint32_t salt, const uint8_t *at, uint64_t left);

void tm_segment_head_seal(tm_segment_head *head);
bool tm_segment_head_is_sound(const tm_segment_head *head);
/* Is it sound, and of another version of the layout? */
bool tm_segment_head_is_foreign(const tm_segment_head *head);
uint32_t tm_summary_crc(uint32_t salt, uint64_t n, const tm_summary *summary);
void tm_batch_head_seal(tm_batch_head *head);
/* Is it the head of a batch of this segment, of which so many bytes are left? */
bool tm_batch_head_is_sound(const tm_batch_head *head, uint64_t serial, uint64_t left);
/* Is a footer whole within `left` bytes, and do its rows fit its postings? */
bool tm_footer_is_sound(const uint8_t *at, uint64_t left, uint64_t serial);
uint32_t tm_footer_crc(const tm_footer_head *head, uint64_t bytes);
uint64_t tm_footer_bytes(const tm_footer_head *head);

/* `segment-<first number>-<serial>` and `spare-<serial>`, in hex. */
void tm_segment_name(char *name, uint64_t first_n, uint64_t serial);
void tm_spare_name(char *name, uint64_t serial);
bool tm_segment_name_read(const char *name, uint64_t *first_n, uint64_t *serial);
bool tm_spare_name_read(const char *name, uint64_t *serial);

#endif
