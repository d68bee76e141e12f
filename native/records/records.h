/* records.h - records of messages, on their way from the switch to the thread that writes them down.
 *
 *     taken ──[entry][entry][filler]│[entry]──> noted      a ring; each entry is in one piece, a multiple of 8 bytes
 *     entry   tm_record, then the neighbours' numbers, then receiving connections, dropped ones, packed attributes
 *     entry   or tm_stored_record: an event of a stored message
 *
 * Law: the switch's thread appends, and one other thread takes. Neither waits for the other, and they share `noted`,
 * `taken`, `lost` and `is_called` alone. Records are numbered even without room for them, so that a gap is a loss.
 */
#ifndef TM_RECORDS_H
#define TM_RECORDS_H

#include <stdatomic.h>

#include "base/idset.h"

#define RECORD_NOT_REFUSED UINT8_MAX

typedef enum { RECORD_OF_MESSAGE, RECORD_OF_STORED, RECORD_FILLER } tm_record_kind;

/* The beginning of every entry. */
typedef struct tm_record_head {
    uint32_t size; /* of the entry */
    uint8_t kind;  /* tm_record_kind */
} tm_record_head;

typedef struct tm_record {
    uint32_t size; /* up to `n`, equal to tm_record_head */
    uint8_t kind;
    uint8_t refused; /* TM_DROP_*, or RECORD_NOT_REFUSED */
    uint8_t entered; /* true if it entered here: its attributes follow */
    uint8_t reserved;
    uint64_t n;
    uint64_t t_us;
    uint64_t origin;
    uint64_t number;
    uint64_t source;
    uint64_t source_epoch;
    uint64_t transit;        /* 0: it was refused before it was stamped */
    uint64_t from_neighbour; /* 0: a client */
    uint64_t published_us;   /* 0: unknown */
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

/* Events of a stored message; their names are in record_lines.c. */
typedef enum {
    FATE_ACKED, /* up to FATE_SKIPPED: outcomes, in the order of tm_leaving */
    FATE_EXPIRED,
    FATE_DROPPED,
    FATE_REPLACED,
    FATE_DEAD,
    FATE_UNDELIVERABLE,
    FATE_DAMAGED,
    FATE_SKIPPED,
    FATE_STORED,
    FATE_GIVEN,
    FATE_REPLAYED, /* delivered after its outcome; it stays stored */
    FATE_TOLD,     /* a loss was reported to a consumer */
    FATE_ENTERED,  /* from here on of a chain between two routers: an entry stored it for a home */
    FATE_PASSED,   /* a home did not store it */
    FATE_GIVEN_UP, /* an entry no longer has some for a home */
    FATE_MISSED,   /* a home has told its consumers that some do not come */
    FATES
} tm_fate;

/* How a durable subscription got a message. */
typedef enum { FATE_BY_PUBLISHER, FATE_AT_START, FATE_AS_DEAD_LETTER, STORED_SOURCES } tm_stored_source;

typedef struct tm_stored_record {
    uint32_t size; /* up to `n`, equal to tm_record_head */
    uint8_t kind;
    uint8_t what;   /* tm_fate */
    uint8_t source; /* of FATE_STORED: tm_stored_source */
    uint8_t maybe_duplicate;
    uint64_t n;
    uint64_t t_us;
    uint64_t position; /* 0: it concerns no single message */
    uint64_t origin;   /* of FATE_STORED, FATE_GIVEN, FATE_REPLAYED, FATE_ENTERED and FATE_PASSED: the message id */
    uint64_t number;
    uint64_t expires_ms; /* of FATE_STORED; 0: never */
    uint64_t total;      /* of losses and FATE_TOLD: all such losses of the durable subscription; of FATE_GIVEN_UP and
                          * FATE_MISSED: messages, 0: unknown */
    uint64_t peer;  /* from FATE_ENTERED on: the other router of the chain; `position` is a number of the entry's */
    uint64_t first; /* of FATE_GIVEN_UP and FATE_MISSED: the first number, up to `position`; 0 of others */
    uint32_t durable;
    uint32_t connection; /* UINT32_MAX: none */
    uint32_t deliveries;
    uint8_t lost; /* of FATE_TOLD: the outcome of the lost messages */
    uint8_t reserved[3];
} tm_stored_record;

/* The name of a router in lines. */
typedef struct tm_record_name {
    uint64_t number;
    uint8_t *text; /* owned */
    uint32_t size;
    uint32_t hops;
} tm_record_name;

struct tm_records {
    tm_memory memory; /* used by the taking thread, after tm_records_new */
    uint8_t *prefix;  /* owned */
    size_t prefix_size;
    uint8_t *stored_prefix; /* owned; NULL: stored messages are not recorded */
    size_t stored_prefix_size;
    tm_table *wanted; /* borrowed; NULL: sampled by `share` */
    uint64_t share;
    uint8_t *ring; /* owned */
    uint32_t ring_bytes;
    int called; /* owned: an eventfd */

    uint8_t apart[64];          /* keeps the data of the two threads in separate cache lines */
    atomic_uint_fast64_t noted; /* bytes; this and the next fields belong to the appending thread */
    uint64_t n;
    uint64_t taken_then; /* value of `taken` when last read */
    atomic_uint_fast64_t lost;
    atomic_bool is_called;

    uint8_t apart_again[64];
    atomic_uint_fast64_t taken; /* bytes; this and the next fields belong to the taking thread */
    tm_record_name *names;      /* owned */
    uint32_t name_count;
    uint32_t name_capacity;
    uint32_t name_bytes_max;
    tm_idset name_set; /* of places + 1, by number */
};

/* Hash a message id for sampling. It is equal on every router and to protocol/sampling.py (a test compares them). */
static inline uint64_t tm_records_mix(uint64_t origin, uint64_t number) {
    uint64_t mixed = (origin ^ (number << 32 | number >> 32)) + UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ mixed >> 31;
}

static inline bool tm_records_sample(const tm_records *records, uint64_t origin, uint64_t number) {
    return records->share == UINT64_MAX || tm_records_mix(origin, number) < records->share;
}

/* Return the lists and attributes of an entry. */
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

/* Reserve an entry whose list and attribute lengths are those of `shape`, which is copied; NULL: no room, which is
 * counted. The other thread sees it after tm_records_commit. */
tm_record *tm_records_begin(tm_records *records, const tm_record *shape);
/* Publish an entry from tm_records_begin, with its lists and attributes filled in, to the taking thread. */
void tm_records_commit(tm_records *records, const tm_record *record);
/* Record an event of a stored message from all of `shape` but its size, kind and n; without room it is lost and
 * counted. */
void tm_records_note_stored(tm_records *records, const tm_stored_record *shape);
/* Count a record that cannot be written whole. */
void tm_records_lose(tm_records *records);

#endif
