/* tm_custody_api.h - durable subscriptions of the network in the switch, as C and Python share them. cffi reads this
 * text as it is, as it reads tm_api.h. It rests on tm_durables_api.h. The rules C1 to C14 are those of
 * docs/design/rules.md, Custody.
 *
 * Law: no message makes an object of Python. C moves chains by messages; Python moves them by all other records, sends
 * CUSTODY_ACK and CUSTODY_ASK, and takes GAP. Both use the functions below, so that a chain has one state: the one in
 * C. All calls need tm_switch_durables; without it they return TM_MISUSED.
 *
 *     DIRECTED for this router --> its place in the chain of its entry --+--> a record for the subscriptions that match
 *                                                                        +--> TM_EVENT_CHAINS, once a turn
 */

/* ---- a home: what arrives ---- */

/* Chains exist once Python has begun them, and after a start those of the log; a DIRECTED of a router without a chain
 * is dropped and counted. Of one with a chain
 *
 *   - of an earlier log of the entry: it is dropped and counted;
 *   - of a later log, or a later life: it is dropped, and Python is told (TM_CHAIN_LATER), which begins that life;
 *   - for another log of this router: it is dropped, and Python is told (TM_CHAIN_REPEATED);
 *   - whose number this router has: it is dropped, and Python is told (TM_CHAIN_REPEATED);
 *   - whose previous number this router does not have: it is dropped, and Python is told (TM_CHAIN_EARLY). Nothing is
 *     held back: the entry sends it again behind what is missing;
 *   - otherwise it is taken (C3): one record for all durable subscriptions that it matches now, with `from_router` the
 *     entry and `from_n` its number. A message whose id is stored here already (C11), that nothing wants, that has
 *     expired or that cannot be matched or stored moves the chain without it; a record of kind TM_LOG_CHAIN at the end
 * of the turn says so (C5). A log without room, and a lack of memory, take nothing, and the chain stays.
 *
 * From the beginning of its chain on, messages of an entry are stored by the chain alone, and not from the copies for
 * live subscribers, so that their order is that of the chain. */

/* An event of tm_switch_poll and its variants, at most one a call: `frame` is an array of tm_chain_report, one for each
 * chain about which there is something to say, by `why`. A report that finds no memory is made in a later call. */
#define TM_EVENT_CHAINS 12

#define TM_CHAIN_MOVED 1    /* `on_disk` is greater than in the last report: acknowledge it (C4) */
#define TM_CHAIN_REPEATED 2 /* something came that this router has, or for another log of it: acknowledge `on_disk` */
#define TM_CHAIN_EARLY 4    /* what follows `have` is missing up to `early`, a previous number that came: ask (C3) */
#define TM_CHAIN_LATER 8    /* `later_log`, `later_life` and `later_before` came: compare, and begin that life (C10) */
#define TM_CHAIN_FULL 16    /* something was not taken, because the log has no room or failed, or memory is missing */

typedef struct tm_chain_report {
    uint64_t entry;
    uint64_t log;     /* of the entry, whose chain this is */
    uint64_t have;    /* number up to which all has been taken */
    uint64_t on_disk; /* and that is on disk */
    uint64_t early;
    uint64_t later_log;
    uint32_t later_life;
    uint32_t later_before;
    uint32_t why; /* TM_CHAIN_* */
    uint32_t reserved;
} tm_chain_report;

/* Append a record of kind TM_LOG_CHAIN and take what it says, which begins the chain of an entry (Began), moves it
 * (Passed, NumbersLost) or adds to its totals (Doubt). `chain->n` is set to the number of the record. Start from
 * tm_custody_chain_of, so that nothing that has been taken is lost. TM_MISUSED: within one log and life, `have` would
 * fall. Other results as those of tm_log_append, TM_NO_MEMORY; nothing has changed then. */
int tm_custody_set_chain(tm_switch *sw, tm_log_chain *chain);
/* Return the chain of an entry with all that has been taken, on disk or not. TM_ABSENT: there is none. */
int tm_custody_chain_of(const tm_switch *sw, uint64_t entry, tm_log_chain *chain);
/* End the chain of an entry: append a record of kind TM_LOG_FORGET. Messages of that router are stored from the copies
 * for live subscribers again. TM_ABSENT: there is none. Other results as those of tm_log_append. */
int tm_custody_end_chain(tm_switch *sw, uint64_t entry);

/* ---- figures: counts of messages, in this run of the router ---- */

typedef struct tm_custody_stats {
    uint64_t chains;     /* of entries */
    uint64_t arrived;    /* taken, and stored for durable subscriptions here */
    uint64_t passed;     /* taken, and not stored: known, unwanted, expired, or impossible to store */
    uint64_t known;      /* of the passed ones, those whose id was stored already */
    uint64_t repeated;   /* dropped: this router has the number */
    uint64_t early;      /* dropped: what comes before is missing */
    uint64_t strange;    /* dropped: of a router without a chain, of another log or life, or for another log */
    uint64_t not_taken;  /* dropped: the log has no room or failed, or memory is missing */
    uint64_t from_trees; /* copies for live subscribers that were not stored, as the chain brings the message */
} tm_custody_stats;

int tm_custody_figures(const tm_switch *sw, tm_custody_stats *out);
