/* layout.h - the bytes of a segment: header, batches, records, footer.
 *
 *     0      4096                                               multiple of 512
 *     header |batch: head, records, filler|batch ...|footer: head, rows, postings, summaries|unused|tail: footer offset
 *
 * Law: a 512-byte sector with committed bytes is not written again until the segment is reused, so a batch begins at a
 * sector. Everything is little-endian and covered by a CRC-32C; those of records and footers begin with the serial
 * number of the segment, the salt, which no other use of the file has. Nothing is used before its crc is verified, and
 * sizes are compared with the remaining bytes even then.
 */
#ifndef TM_LOG_LAYOUT_H
#define TM_LOG_LAYOUT_H

#include "log/crc.h"
#include "tm_log.h"

#define SECTOR_BYTES 512U
#define SEGMENT_HEAD_BYTES 4096U
#define SEGMENT_BYTES_MIN 16384U
#define SEGMENT_MAGIC UINT64_C(0x00474f4c534d4154)    /* "TAMSLOG", and the version of the layout as the last byte */
#define CHECKPOINT_MAGIC UINT64_C(0x00504b43534d4154) /* "TAMSCKP", as above */
#define VERSION_PLAIN 2U         /* without records of custody, so that programs of version 2 read it */
#define VERSION_CUSTODY 3U       /* the greatest version that is known; the layout is that of version 2 */
#define BATCH_MAGIC 0x48435442U  /* "BTCH" */
#define FOOTER_MAGIC 0x544f4f46U /* "FOOT" */
#define COUNTER_BITS 40U
#define LIFE_MAX ((UINT64_C(1) << 24) - 1)

/* The first bytes of a segment. */
typedef struct tm_segment_head {
    uint64_t magic;
    uint64_t log_id;
    uint64_t serial;        /* life (24 bits of 32), and a count within it */
    uint64_t previous;      /* serial of the previous segment; 0: none */
    uint64_t first_n;       /* the least number that it may contain */
    uint64_t last_n_before; /* last number committed before it began */
    uint64_t seq_before;    /* last batch committed before it began */
    uint64_t bytes;
    uint32_t reserved;
    uint32_t crc; /* of all fields before it */
} tm_segment_head;

/* The first bytes of a batch. */
typedef struct tm_batch_head {
    uint32_t magic;
    uint32_t crc; /* of the fields behind it */
    uint64_t serial;
    uint64_t seq;              /* that of the previous batch + 1 */
    uint64_t committed_before; /* seq of the last batch on disk when this one was written */
    uint64_t first_n;          /* of the records; of copies, the least number */
    uint64_t last_n;
    uint32_t bytes; /* of the records */
    uint32_t count;
    uint32_t is_copies;
    uint32_t reserved;
} tm_batch_head;

/* The first bytes of a footer; rows, postings and summaries follow. */
typedef struct tm_footer_head {
    uint32_t magic;
    uint32_t crc; /* of the salt and what follows, including rows, postings and summaries */
    uint64_t serial;
    uint64_t last_seq;
    uint64_t last_n;
    uint64_t last_fresh_n; /* of records that are not copies */
    uint64_t summaries_ms; /* base of the times of summaries */
    uint64_t least_us;     /* when records, including copies, were appended */
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

/* The kind of a holder. The policy of a durable subscription is a holder of its own, which acks of the subscription do
 * not affect; so is what was last recorded of the chain of an entry, and of that of a home. */
typedef enum { TM_DURABLE, TM_HOME, TM_POLICY, TM_CHAIN_OF_ENTRY, TM_CHAIN_OF_HOME } tm_role;

/* A row: the records of one holder in one segment whose numbers have one high half. */
typedef struct tm_row {
    uint64_t holder;
    uint32_t high;
    tm_role role;
    uint32_t count;
    uint32_t start; /* its first posting in the footer */
    uint32_t low_min;
    uint32_t low_max;
} tm_row;

/* A reference to a record in a row. */
typedef struct tm_posting {
    uint32_t low;     /* low half of its number */
    uint32_t summary; /* index in the list of summaries */
} tm_posting;

/* The index entry of a record of the segment that has holders, one for all of them. It has its own crc, as records
 * have: the footer is verified as a whole when a log is opened, and read in pieces after that. */
typedef struct tm_summary {
    uint32_t place; /* of the record, in units of 8 bytes */
    uint32_t body_size;
    uint32_t at_ms;    /* low half of the time of appending: the one nearest to `summaries_ms` */
    uint32_t lasts_ms; /* from then on; 0: unlimited; SUMMARY_IS_SHORT: the record must be read */
    uint32_t crc;      /* of the salt, the record's number and the fields before */
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

static inline const uint32_t *tm_record_durables(const tm_log_record *record) {
    return (const uint32_t *)(record + 1);
}
static inline const tm_log_home *tm_record_homes(const tm_log_record *record) {
    return (const tm_log_home *)(tm_record_durables(record) + (record->durables + 1U) / 2 * 2);
}
static inline const uint8_t *tm_record_body(const tm_log_record *record) {
    return (const uint8_t *)(tm_record_homes(record) + record->homes);
}

/* A holder of a record; `i` is less than tm_record_claims. */
typedef struct tm_claim {
    uint64_t holder;
    tm_role role;
} tm_claim;
static inline tm_claim tm_claim_of(uint64_t holder, uint32_t is_home) {
    return (tm_claim){holder, is_home != 0 ? TM_HOME : TM_DURABLE};
}
static inline uint32_t tm_record_claims(const tm_log_record *record) {
    return (uint32_t)record->durables + record->homes;
}
static inline tm_claim tm_record_claim(const tm_log_record *record, uint32_t i) {
    if (i < record->durables) {
        return (tm_claim){tm_record_durables(record)[i], record->kind == TM_LOG_DURABLE ? TM_POLICY : TM_DURABLE};
    }
    tm_role role = record->kind == TM_LOG_CHAIN      ? TM_CHAIN_OF_ENTRY
                   : record->kind == TM_LOG_HOME_HAS ? TM_CHAIN_OF_HOME
                                                     : TM_HOME;
    return (tm_claim){tm_record_homes(record)[i - record->durables].router, role};
}
/* true if a record is of custody: programs of version 2 do not do what it promises. */
static inline bool tm_record_is_of_custody(const tm_log_record *record) {
    return record->homes > 0 || record->from_router != 0;
}

/* Return the bytes of a segment that a record takes, with its summary, where many share a batch; each of its holders
 * adds POSTING_WEIGHT, and its row. A damaged summary may have any body size, so that is limited to `most`. */
#define POSTING_WEIGHT (sizeof(tm_posting) + sizeof(uint64_t))
static inline uint64_t tm_record_weight(uint64_t body, uint64_t most) {
    return sizeof(tm_log_record) + sizeof(tm_summary) + ((body < most ? body : most) + 7) / 8 * 8;
}

/* ---- layout.c ---- */

/* Return the bytes of a record with these parts; 64 bit, so that nothing wraps. */
uint64_t tm_record_bytes(uint32_t durables, uint32_t homes, uint64_t body);
uint32_t tm_record_crc(uint32_t salt, const tm_log_record *record);
/* true if a record is whole within `left` bytes, its size fits its parts and its crc is right. `left` may be less than
 * the head of a record. */
bool tm_record_is_sound(uint32_t salt, const uint8_t *at, uint64_t left);

/* Set the crc of a head. */
void tm_segment_head_seal(tm_segment_head *head);
/* Return the version of a head whose magic number and crc are right; 0: they are not. */
uint32_t tm_segment_head_version(const tm_segment_head *head);
/* true if the head is of a known version. */
bool tm_segment_head_is_sound(const tm_segment_head *head);
/* Return the version in a magic number that begins as `magic` does; 0: it does not. */
uint32_t tm_version_of(uint64_t magic, uint64_t number);
/* true if files of a version are known. */
bool tm_version_is_known(uint32_t version);
static inline uint64_t tm_versioned(uint64_t magic, uint32_t version) {
    return magic | (uint64_t)('0' + version) << 56;
}
uint32_t tm_summary_crc(uint32_t salt, uint64_t n, const tm_summary *summary);
void tm_batch_head_seal(tm_batch_head *head);
/* true if this is the head of a batch of this segment, of which `left` bytes remain. */
bool tm_batch_head_is_sound(const tm_batch_head *head, uint64_t serial, uint64_t left);
/* true if a footer is whole within `left` bytes and its rows fit its postings. */
bool tm_footer_is_sound(const uint8_t *at, uint64_t left, uint64_t serial);
uint32_t tm_footer_crc(const tm_footer_head *head, uint64_t bytes);
uint64_t tm_footer_bytes(const tm_footer_head *head);

/* `segment-<first number>-<serial>` and `spare-<serial>`, in hex. */
void tm_segment_name(char *name, uint64_t first_n, uint64_t serial);
void tm_spare_name(char *name, uint64_t serial);
bool tm_segment_name_read(const char *name, uint64_t *first_n, uint64_t *serial);
bool tm_spare_name_read(const char *name, uint64_t *serial);

#endif
