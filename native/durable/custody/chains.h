/* chains.h - the chains of entries, as they arrive at this router, which is a home.
 *
 * Law: `have` of a chain is what has been taken, and each number up to it is in a record that was appended or, until
 * the end of the turn, noted by `is_unwritten`. What is on disk is asked of the log alone (C4).
 */
#ifndef TM_DURABLE_CUSTODY_CHAINS_H
#define TM_DURABLE_CUSTODY_CHAINS_H

#include "durable/custody/ids.h"
#include "switch/message.h"
#include "tm_custody.h"

typedef struct tm_arrival {
    tm_log_chain chain; /* `n`: its last record, or the last message that moved it */
    uint64_t on_disk;
    uint64_t early;         /* 0: nothing has come early since `have` passed it */
    uint64_t lacking_first; /* numbers since the last report that something wants and lacks; 0: there are none */
    uint64_t lacking_last;
    uint64_t later_log;
    uint32_t later_life;
    uint32_t later_before;
    uint32_t why;      /* TM_CHAIN_*, to be reported */
    bool is_unwritten; /* it has passed over a message, and no record says so yet */
} tm_arrival;

typedef struct tm_arrivals {
    tm_memory *memory; /* borrowed */
    tm_arrival *rows;  /* owned; by entry */
    uint32_t count;
    uint32_t capacity;
    uint64_t log; /* id of the log of this router */
    bool is_due;  /* some row is unwritten, or has something to report */
    tm_custody_ids ids;
    tm_custody_stats stats;
} tm_arrivals;

/* Recall the chains that the log has. TM_OK, TM_NO_MEMORY. */
int durable_recall_chains(tm_switch *sw);
/* Return the chain of an entry, borrowed until one is added or removed; NULL: there is none. */
tm_arrival *durable_arrival(const tm_arrivals *arrivals, uint64_t entry);
/* Add the chain of an entry, for which durable_reserve_arrival has made room. */
tm_arrival *durable_add_arrival(tm_arrivals *arrivals, uint64_t entry);
bool durable_reserve_arrival(tm_arrivals *arrivals);
void durable_remove_arrival(tm_arrivals *arrivals, tm_arrival *arrival);
/* Report a chain at the end of the turn, for the reasons `why`. */
static inline void durable_note_chain(tm_arrivals *arrivals, tm_arrival *arrival, uint32_t why) {
    arrival->why |= why;
    arrivals->is_due = true;
}

/* Append a record of how far a chain has come: of an entry, or of a home (`is_home`). Results as those of
 * tm_log_append. */
int durable_append_chain(tm_switch *sw, const tm_log_chain *chain, uint64_t *n);
/* Write what was passed over (C5); what the log does not take is written in a later turn. */
void durable_write_chains(tm_switch *sw);
/* Look how far chains are on disk, after a commit. */
void durable_note_chains_on_disk(tm_switch *sw);
/* Tell Python what there is to say. */
void durable_report_chains(tm_switch *sw);

/* true if a message from a link must not be stored from this copy: its chain brings it, or its id is stored. */
bool durable_has_elsewhere(tm_switch *sw, const tm_message *message);
/* Note that a message which entered at another router is stored. */
void durable_note_stored_id(tm_switch *sw, const tm_message *message);

void durable_free_chains(tm_arrivals *arrivals);
/* Return what is wrong; NULL: nothing is. */
const char *durable_check_chains(const tm_switch *sw);

#endif
