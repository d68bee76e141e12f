/* homes.h - the chains of this router, which is an entry, to the homes of durable subscriptions elsewhere.
 *
 * Law: a home is a subscriber of the local table, whose filters are those of its durable subscriptions, so that a
 * message is matched once for all receivers here. A message is sent at once only to a home that all before it were sent
 * to; what is behind is sent from the log, in its order. The row of a home never moves and stays until the end, as its
 * chain does.
 */
#ifndef TM_DURABLE_CUSTODY_HOMES_H
#define TM_DURABLE_CUSTODY_HOMES_H

#include "durable/custody/copies.h"
#include "durable/tables/held.h"
#include "switch/message.h"
#include "tm_custody.h"

#define NUMBER_LIFE_BITS 40U /* of a number: its counter, below its life (tm_log_api.h) */
#define HOME_MARKS 32U       /* of one count: it is known to a thirty-second part of its bound */

/* All up to number `n` are the first `bytes` that were counted. */
typedef struct tm_home_mark {
    uint64_t n;
    uint64_t bytes;
} tm_home_mark;

/* Bytes of messages in the order of a chain. */
typedef struct tm_home_bytes {
    uint64_t all;
    uint64_t gone; /* of these, those of which that is known */
    tm_home_mark marks[HOME_MARKS];
    uint32_t mark_count;
} tm_home_bytes;

/* Numbers that are given up, by record `n`; `last` is the greatest of them. */
typedef struct tm_home_gap {
    uint64_t n;
    uint64_t last;
} tm_home_gap;

typedef struct tm_home {
    tm_custody_home chain; /* those from `bytes` on are found for each reader */
    tm_home_bytes way;     /* what was sent since it last went back, and acknowledged */
    tm_home_bytes stored;  /* what is in the chain, and acknowledged or given up (bound.h) */
    tm_held_queue held;    /* messages of which this home's disk is awaited */
    tm_home_gap *gaps;     /* owned, in the order of the chain: those of which the log has the record */
    uint32_t gap_count;
    uint32_t gap_capacity;
    uint64_t doubt;      /* the last record that put one in place of others */
    uint64_t gone;       /* messages that were given up in this run */
    uint64_t gone_old;   /* of these, those that had waited for too long */
    uint64_t refused;    /* messages that found no room in this run */
    uint64_t since_ms;   /* none of those that are stored came before, Unix ms */
    uint32_t subscriber; /* SUBSCRIBER_NONE: it is closed */
    bool is_closing;
    uint64_t stamp; /* `stamp` of tm_durables when it was last collected; these are of the current message: */
    bool is_sole;   /* a durable subscription there wants it that is in no set of copies */
    uint32_t place; /* in the claims of copies; HELD_NO_PLACE: none */
    char name[TM_CUSTODY_NAME_BYTES + 1U];
} tm_home;

typedef struct tm_homes {
    tm_memory *memory; /* borrowed */
    tm_home **rows;    /* owned, with every row */
    uint32_t count;
    uint32_t capacity;
    uint32_t before; /* life that the present one of the log follows */
    uint64_t log;
    uint64_t bytes_max;                /* of one home; 0: TM_CUSTODY_BYTES */
    uint64_t age_ms;                   /* for which a message may wait; 0: for ever */
    uint32_t wanted[TM_LOG_HOMES_MAX]; /* homes that want the current message */
    tm_log_home claims[TM_LOG_HOMES_MAX];
    uint32_t wanted_count;
    bool refuses;  /* what has no room within `bytes_max` is refused, and nothing is given up for room */
    bool has_more; /* more than TM_LOG_HOMES_MAX want it */
    tm_copies copies;
    tm_custody_sent stats;
} tm_homes;

/* Return the homes that a record is for. */
static inline const tm_log_home *durable_homes_in(const tm_log_record *record) {
    const uint8_t *at = (const uint8_t *)(record + 1) + (record->durables + 1U) / 2 * 8;
    return (const tm_log_home *)(const void *)at;
}
/* Return what a record says of a home; NULL: it is not for it. */
static inline const tm_log_home *durable_claim_of(const tm_log_record *record, uint64_t router) {
    for (uint32_t i = 0; i < record->homes; i++) {
        if (durable_homes_in(record)[i].router == router) {
            return &durable_homes_in(record)[i];
        }
    }
    return NULL;
}

tm_home *durable_home(const tm_homes *homes, uint64_t router);
/* Collect a home that wants the current message, once for each `stamp`, for a copy of a set or (COPY_SET_NONE) for what
 * is in none. */
void durable_want_home(tm_homes *homes, uint32_t slot, uint32_t set, uint64_t stamp);
/* Write the homes that are collected, each with the number before in its chain, to `claims`. */
void durable_claim_homes(tm_homes *homes);
/* Take record `n` into the chains of the homes that are collected, and send its frame to those that have no message to
 * get before it. */
void durable_depart(tm_switch *sw, const tm_message *message, const uint8_t *frame, uint32_t size, uint64_t n);
/* Send frame `n` of the chain to a home, behind those that were sent. false: it cannot leave now. */
bool durable_send_to(tm_switch *sw, tm_home *home, const uint8_t *frame, uint32_t size, uint64_t n);
/* All up to `have` has arrived. */
void durable_note_arrived(tm_home *home, uint64_t have);
/* Send again from what is behind `have`. */
void durable_go_back(tm_home *home, uint64_t have);
void durable_free_homes(tm_switch *sw);
/* Return what is wrong; NULL: nothing is. */
const char *durable_check_homes(const tm_switch *sw);

#endif
