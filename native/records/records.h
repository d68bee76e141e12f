/* records.h - what happened to messages, on its way from the switch to the thread that writes it down.
 *
 *     taken ──[entry][entry][filler]│[entry]──> noted          a ring; each entry is in one piece, a multiple of 8
 * bytes entry   tm_record, then the neighbours' numbers, then connections it went to, dropped ones, packed attributes
 *       entry   or tm_kept_record: what became of a message that a keep has
 *
 * Law: one thread notes, the switch's; one other takes. Neither waits for the other, and they share `noted`, `taken`,
 * `lost` and the call alone. Records are numbered whether or not there is room for them, so that a gap is a loss.
 */
#ifndef TM_RECORDS_H
#define TM_RECORDS_H

#include <stdatomic.h>

#include "base/idset.h"

#define RECORD_NOT_REFUSED UINT8_MAX

typedef enum { RECORD_OF_MESSAGE, RECORD_OF_KEPT, RECORD_FILLER } tm_record_kind;

/* How every entry begins. */
typedef struct tm_record_head {
    uint32_t size; /* of the entry */
    uint8_t kind;  /* tm_record_kind */
} tm_record_head;

typedef struct tm_record {
    uint32_t size; /* this and what follows: as in tm_record_head */
    uint8_t kind;
    uint8_t refused; /* TM_DROP_*, or RECORD_NOT_REFUSED */
    uint8_t entered; /* here: its attributes follow */
    uint8_t reserved;
    uint64_t n;
    uint64_t t_us;
    uint64_t origin;
    uint64_t number;
    uint64_t source;
    uint64_t source_epoch;
    uint64_t transit;        /* 0: it was not let in */
    uint64_t from_neighbour; /* 0: a client */
    uint64_t published_us;   /* 0: nobody has said */
    uint64_t match_ns;
    uint32_t from_connection;
    uint32_t bytes;
    uint32_t matched;
    uint32_t links; /* lengths of the lists */
    uint32_t clients;
    uint32_t dropped;
    uint32_t attribute_bytes;
    uint32_t reserved_32;
} tm_record;

/* What a record of a kept message says; the names are in record_lines.c. */
typedef enum {
    KEPT_ACKED, /* the ways to leave a keep, in the order of tm_leaving */
    KEPT_EXPIRED,
    KEPT_DROPPED,
    KEPT_REPLACED,
    KEPT_DEAD,
    KEPT_UNDELIVERABLE,
    KEPT_DAMAGED,
    KEPT_SKIPPED,
    KEPT_KEPT,
    KEPT_GIVEN,
    KEPT_REPLAYED, /* given, though it has left: it is kept on */
    KEPT_TOLD,     /* a loss was told to a member */
    KEPT_WHATS
} tm_kept_what;

/* How a keep came by a message. */
typedef enum { KEPT_BY_PUBLISHER, KEPT_AT_START, KEPT_AS_LETTER, KEPT_SOURCES } tm_kept_source;

typedef struct tm_kept_record {
    uint32_t size; /* this and what follows: as in tm_record_head */
    uint8_t kind;
    uint8_t what;   /* tm_kept_what */
    uint8_t source; /* of KEPT_KEPT: tm_kept_source */
    uint8_t maybe_duplicate;
    uint64_t n;
    uint64_t t_us;
    uint64_t position; /* 0: it is about no single message */
    uint64_t origin;   /* of KEPT_KEPT, KEPT_GIVEN and KEPT_REPLAYED: the id */
    uint64_t number;
    uint64_t expires_ms; /* of KEPT_KEPT; 0: never */
    uint64_t total;      /* of losses and KEPT_TOLD: lost so since the keep was made */
    uint32_t keep;
    uint32_t connection; /* UINT32_MAX: nobody's */
    uint32_t deliveries;
    uint8_t lost; /* of KEPT_TOLD: by which way */
    uint8_t reserved[3];
} tm_kept_record;

/* A router as lines call it. */
typedef struct tm_record_name {
    uint64_t number;
    uint8_t *text; /* owned */
    uint32_t size;
    uint32_t hops;
} tm_record_name;

struct tm_records {
    tm_memory memory; /* of the thread that takes, after tm_records_new */
    uint8_t *prefix;  /* owned */
    size_t prefix_size;
    uint8_t *kept_prefix; /* owned; NULL: nothing is noted of kept messages */
    size_t kept_prefix_size;
    tm_table *wanted; /* borrowed; NULL: by share */
    uint64_t share;
    uint8_t *ring; /* owned */
    uint32_t ring_bytes;
    int called; /* owned: an eventfd */

    uint8_t apart[64];          /* in cache lines of their own: what one thread writes all the time, and the other */
    atomic_uint_fast64_t noted; /* bytes; this and what follows: of the thread that notes */
    uint64_t n;
    uint64_t taken_then; /* as it was last looked at */
    atomic_uint_fast64_t lost;
    atomic_bool is_called;

    uint8_t apart_again[64];
    atomic_uint_fast64_t taken; /* bytes; this and what follows: of the thread that takes */
    tm_record_name *names;      /* owned */
    uint32_t name_count;
    uint32_t name_capacity;
    uint32_t name_bytes_max;
    tm_idset name_set; /* of places + 1, by number */
};

/* Is a message sampled? Every router answers alike: this equals protocol/sampling.py (a test compares them). */
static inline uint64_t tm_records_mix(uint64_t origin, uint64_t number) {
    uint64_t mixed = (origin ^ (number << 32 | number >> 32)) + UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ mixed >> 31;
}

static inline bool tm_records_sample(const tm_records *records, uint64_t origin, uint64_t number) {
    return records->share == UINT64_MAX || tm_records_mix(origin, number) < records->share;
}

/* Lists and attributes of an entry. */
static inline uint64_t *tm_record_links(tm_record *record) {
    return (uint64_t *)(record + 1);
}
static inline uint32_t *tm_record_clients(tm_record *record) {
    return (uint32_t *)(tm_record_links(record) + record->links);
}
static inline uint32_t *tm_record_dropped(tm_record *record) {
    return tm_record_clients(record) + record->clients;
}
static inline uint8_t *tm_record_attributes(tm_record *record) {
    return (uint8_t *)(tm_record_dropped(record) + record->dropped);
}

/* Room for an entry of which `shape` gives the lengths of lists and attributes, with these copied; NULL: none, which is
 * counted. It is there for the other side after tm_records_commit. */
tm_record *tm_records_begin(tm_records *records, const tm_record *shape);
void tm_records_commit(tm_records *records, const tm_record *record);
/* Note what became of a kept message, all of `shape` but its size, kind and n; lost and counted without room. */
void tm_records_note_kept(tm_records *records, const tm_kept_record *shape);
/* One that cannot be noted whole. */
void tm_records_lose(tm_records *records);

#endif
