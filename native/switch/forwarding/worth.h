/* worth.h - whether a set saves more than it costs for messages that enter here: the matching saved at routers on the
 * path, against the extra cost of finding a set instead of links.
 *
 * Law: measured, not assumed. One message in WORTH_EVERY is treated the other way and timed, fewer where sets are not
 * worth it and that would cost more than 1 % here; and one more is timed as usual. The saving of a router on the path
 * is taken to equal this router's. An outlier counts as OUTLIER averages at most. The routers on the path are those of
 * the tree of messages from here, which the owner of the switch sets; without a tree every message gets a set.
 *
 *     worth it    visits x (links - onward) > set - links + a tenth of (1 + visits) x links
 */
#ifndef TM_SWITCH_WORTH_H
#define TM_SWITCH_WORTH_H

#include "network/places.h"
#include "tm.h"

#define WORTH_EVERY 128U
#define WORTH_RARELY 1024U /* messages after which the other way is tried at any cost */
#define WORTH_FIRST 64U    /* messages that are measured before sets are written, half of them each way */
#define WORTH_GAIN 10U /* a gain below this fraction of the work of all routers is within noise and does not count */
#define WORTH_SPAN 32U
#define WORTH_SHARE 1024U /* fixed point: one visit is this many units */
#define WORTH_WORDS (TM_ROUTE_SET_ROUTERS_MAX / 64)

/* A moving average of about the last WORTH_SPAN measurements. */
typedef struct tm_average {
    uint64_t value;
    uint32_t count; /* measurements in it, WORTH_SPAN at most; 0: none yet */
} tm_average;

typedef struct tm_worth {
    tm_memory *memory; /* borrowed */
    uint64_t *numbers; /* owned; routers of the tree except this one, ascending */
    uint32_t *before;  /* owned; for each router, the place of the one before it on the path from here, or WORTH_HERE */
    uint32_t count;    /* 0: there is no tree */
    uint32_t numbers_capacity;
    uint32_t before_capacity;
    uint64_t inner[WORTH_WORDS]; /* bitset over places: routers that forward messages from here */
    uint64_t seen[WORTH_WORDS];  /* bitset over places: routers on the path of the current message */
    bool is_inner_any;
    bool is_worth;
    uint32_t turn;        /* messages since the tree was set */
    uint32_t tried;       /* `turn` when a message was last treated the other way */
    uint32_t every;       /* messages between two of these */
    tm_average visits;    /* inner routers on the path of a message, in units of 1 / WORTH_SHARE */
    tm_average links_ns;  /* time of a message by links */
    tm_average set_ns;    /* time of a message by its set */
    tm_average onward_ns; /* of that, the time after the match; an upper bound for a router that accepts the set */
} tm_worth;

/* Treatment of one message. */
typedef struct tm_trial {
    bool is_by_set;
    bool is_timed;
} tm_trial;

void tm_worth_init(tm_worth *worth, tm_memory *memory);
void tm_worth_clear(tm_worth *worth);
/* Set the tree of messages from here: they reach routers[i] by before[i] (both copied), which is one of `routers`, in
 * ascending order, or any other number, which stands for this router. Returns TM_OK; on TM_NO_MEMORY or TM_MISUSED
 * there is no tree. */
int tm_worth_set(tm_worth *worth, const uint64_t *routers, const uint64_t *before, size_t count);

/* Return the treatment of the next message that may get a set. */
tm_trial tm_worth_next(tm_worth *worth);
/* Note the time of a message by links. */
void tm_worth_note_links(tm_worth *worth, uint64_t ns);
/* Note the time of a message by its set `members`, and the part of it after the match. */
void tm_worth_note_set(tm_worth *worth, uint64_t ns, uint64_t onward_ns, const tm_places *places,
                       const uint64_t *members);

#endif
