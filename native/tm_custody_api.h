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
    uint64_t
        lacking_first;     /* of the numbers since the last report: those between these two may have been passed over */
    uint64_t lacking_last; /* although something here wants them, as it has no room. 0: none have */
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

/* ---- an entry: what leaves ---- */

/* A home is open while this router has on disk what the durable subscriptions there want (C12). A message of a client
 * that one of them wants becomes one record, for all homes and for durable subscriptions here; its number is that of
 * the record (C2). It is sent to a home at once if all before it in that chain were sent, if the window of the home has
 * room and a link takes it; otherwise the home is behind (`sent` < `last`), and nothing more is sent to it until Python
 * has read the rest from the log:
 *
 *     mark = tm_custody_mark; tm_log_ask(home, is_home 1, after `sent`, bytes)
 *     tm_custody_send with the records of the answer, as far as the home takes them now
 *     tm_custody_send_tail from the mark, once an answer had room for all there was
 *
 * The bytes that are stored for a home and not acknowledged are bounded, and their age (tm_custody_bound). Past a bound
 * (`is_past`) Python asks the log for summaries and has the oldest given up (tm_custody_give_up, C7), until the home is
 * within both again; the log itself bounds what arrives meanwhile, and a full log takes no record that gives up. Age is
 * judged by Unix time, and a message is given up within a sixty-fourth part of the bound after its time, so that a home
 * which stays away has few records that give up. What is given up stands
 * before all that is open, and nothing behind it is sent until Python has sent a GAP with the numbers of record `gap`,
 * or, if it has none, a doubt up to `gap_last`.
 *
 * A message that a home wants is stored as one that a durable subscription here wants: it is confirmed from the disk,
 * or refused. For more than TM_LOG_HOMES_MAX homes, or without room for its place in the chain, it is refused as
 * TOO_LARGE. With EVERY_HOME it is confirmed once it is on disk here and each home has acknowledged it, and refused as
 * NOT_HELD if it is given up for one of them (C8); of the homes with a copy of one durable subscription, as many have
 * to as that asks for (tm_custody_copy). Such waits are bounded as those for the disk are, by `waits_max` of
 * tm_durables_options: a home gets half of those that are left, and past that its messages are refused as OVERLOADED.
 */

#define TM_CUSTODY_NAME_BYTES 64    /* of the longest name of a home */
#define TM_CUSTODY_WINDOW 4194304   /* bytes: the most that is on the way to a home, known to a thirty-second part */
#define TM_CUSTODY_HOMES_MAX 4096   /* homes that were ever open in this run: 6 MiB */
#define TM_CUSTODY_BYTES 1073741824 /* the bound of what is stored for a home, unless tm_custody_bound sets one */
#define TM_CUSTODY_GAPS_MAX                                                                                            \
    4096 /* records of one home that give up, 64 KiB in memory; at this bound the oldest become one doubt (C10) */

typedef struct tm_custody_home {
    uint64_t router;
    uint64_t log;      /* id of its log; 0: unknown */
    uint64_t have;     /* number up to which it has acknowledged all */
    uint64_t sent;     /* last number that was sent */
    uint64_t last;     /* last number in its chain */
    uint64_t window;   /* bytes that may be on the way */
    uint64_t bytes;    /* stored and not acknowledged, with a charge for each message: at least those that are, and at
                        * most a thirty-second part of the bound more */
    uint64_t given_up; /* last number that was given up and is not acknowledged; 0: none */
    uint64_t gap;      /* record of the first numbers that were given up behind `sent`; 0: there are none */
    uint64_t gap_last; /* the last of these numbers */
    uint64_t doubt;    /* the last record that put a doubt in place of others; 0: there is none */
    uint64_t gone;     /* messages that were given up in this run */
    uint64_t gone_old; /* of these, those that had waited for too long; the others were past the bound of bytes */
    uint64_t refused;  /* messages that had no room in this run, where that is refused */
    uint64_t is_past;  /* 1: something is stored past a bound, or may be, and tm_custody_give_up is due */
} tm_custody_home;

/* Set the life that the present one of the log follows, which DIRECTED names; 0: there is none. */
int tm_custody_follow(tm_switch *sw, uint32_t before);
/* Bound what is stored for each home, from now on: its bytes (0: TM_CUSTODY_BYTES), and for how long a message waits
 * (0: for ever). `refuses`: a message without room for it is stored for the others alone, and refused as LOG_FULL if
 * its publisher asks for storage; nothing is given up for room. */
int tm_custody_bound(tm_switch *sw, uint64_t bytes_max, uint64_t age_ms, uint32_t refuses);
/* Open a home without filters, or open it again; its chain is that of the log, and of this run. TM_OK, TM_NO_MEMORY,
 * TM_TOO_MANY (subscribers_max or TM_CUSTODY_HOMES_MAX), TM_MISUSED (it is open). */
int tm_custody_open_home(tm_switch *sw, uint64_t router);
/* Name a home in refusals. TM_ABSENT: no such home; TM_MISUSED: the name is too long. */
int tm_custody_name(tm_switch *sw, uint64_t router, const char *name, uint32_t size);
/* Add one packed filter of durable subscription `number` there. Results as those of tm_table_add; TM_ABSENT: no such
 * home. */
int tm_custody_want(tm_switch *sw, uint64_t router, uint32_t number, const uint8_t *filter, uint32_t size);
/* Remove the filters of a durable subscription there. TM_ABSENT: it has none. */
int tm_custody_unwant(tm_switch *sw, uint64_t router, uint32_t number);
/* Note that durable subscription `number` there is one of the copies that share this number, and one `copies_min`: as
 * many of them a message needs to be held, and the copy of this router counts. 0, and for one that was never named: it
 * is none. Once it is no copy, it does not count for messages that wait. TM_ABSENT: no such home; TM_NO_MEMORY: it is
 * none. */
int tm_custody_copy(tm_switch *sw, uint64_t router, uint32_t number, uint64_t copies, uint32_t copies_min);
/* Close a home: messages are no longer stored for it. At most `steps` filters are dropped; call this until `*left` is
 * 0. Those that are stored for it stay until TM_LOG_FORGET. TM_ABSENT: no such home. */
int tm_custody_close_home(tm_switch *sw, uint64_t router, uint32_t steps, uint32_t *left);
/* TM_ABSENT: no such home. */
int tm_custody_home_of(const tm_switch *sw, uint64_t router, tm_custody_home *out);

/* Take an acknowledgement by the log `log` of a home, with its window (at most TM_CUSTODY_WINDOW): append a record of
 * kind TM_LOG_HOME_HAS if it says more than before. By another log the chain begins at its beginning (C9). TM_ABSENT:
 * no such home; TM_MISUSED: it was never given, or is less than before. Other results as those of tm_log_append;
 * nothing has changed then. */
int tm_custody_acknowledged(tm_switch *sw, uint64_t router, uint64_t log, uint64_t have, uint64_t window);
/* Refuse publishers that wait for messages `first` to `last`, which something at the home wants and lacks. TM_ABSENT:
 * no such home. */
int tm_custody_lacks(tm_switch *sw, uint64_t router, uint64_t first, uint64_t last);
/* Send again from what is behind `have`, as the home asked or its acknowledgement is overdue. TM_ABSENT; TM_MISUSED: it
 * was never given. */
int tm_custody_go_back(tm_switch *sw, uint64_t router, uint64_t have);
/* Note that Python has sent a GAP up to number `n`. TM_ABSENT; TM_MISUSED: `n` is not between `sent` and `last`. */
int tm_custody_sent_gap(tm_switch *sw, uint64_t router, uint64_t n);
/* Send the records that the log has answered for a home and the number `after`, as far as they are behind what was
 * sent.
 * `*used`: bytes of those that were sent, or need not be; the rest waits for window, link or a GAP, or begins with a
 * record that cannot be read, of which Python sends a doubt. 0 bytes also if the home has gone back behind `after`. */
int tm_custody_send(tm_switch *sw, uint64_t router, uint64_t after, const uint8_t *records, size_t size, size_t *used);
/* Return the place behind all that is on disk now, for tm_custody_send_tail. */
uint64_t tm_custody_mark(const tm_switch *sw);
/* Send what was appended since a mark, on disk or not, behind what was sent. TM_OK: the home is no longer behind.
 * TM_LOG_BUSY: it still is; window or link has no room, what follows is no message, or is not behind the mark. */
int tm_custody_send_tail(tm_switch *sw, uint64_t router, uint64_t mark);

/* Give up the oldest messages for a home that is past a bound, at most TM_LOG_NUMBERS_MAX: about half of the bound of
 * bytes, and those that came before one that has waited for too long, with it. Append a record of kind TM_LOG_GIVEN_UP.
 * At TM_CUSTODY_GAPS_MAX the record puts a doubt in place of the oldest ones instead. `open`: what the log has answered
 * to tm_log_ask_summaries, past the greater of `have` and `given_up`, which was asked when record `doubt` was on disk.
 * TM_ABSENT: no such home, it is within its bounds, or nothing of `open` is left. Other results as those of
 * tm_log_append; nothing has changed then. */
int tm_custody_give_up(tm_switch *sw, uint64_t router, const tm_log_summary *open, size_t count);

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

typedef struct tm_custody_sent {
    uint64_t homes;        /* that are open */
    uint64_t entered;      /* messages that were stored for homes */
    uint64_t sent;         /* copies that left at once */
    uint64_t left;         /* copies that did not, and are sent from the log */
    uint64_t resent;       /* copies that were sent from the log */
    uint64_t lost;         /* messages without a request for storage that the log did not take, for all their homes */
    uint64_t given_up;     /* messages, for each home for which that happened */
    uint64_t given_up_old; /* of these, those that had waited for too long */
    uint64_t waiting;      /* messages whose publishers wait until each home has them */
    uint64_t held;         /* messages that were confirmed so */
    uint64_t held_us;      /* and how long their publishers waited, together */
    uint64_t not_held;     /* messages that were refused, as they were given up for a home, or their home has left */
} tm_custody_sent;

int tm_custody_sent_figures(const tm_switch *sw, tm_custody_sent *out);
