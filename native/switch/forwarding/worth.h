/* worth.h - whether a set is worth its cost to messages that enter here: what the routers on the way spare by it
 * against what finding it takes more than finding links does.
 *
 * Law: measured, not assumed. One message in WORTH_EVERY is treated the other way by the clock, fewer where sets are
 * not worth it and that would cost more than 1 % here; and one more as the others are. What a router on the way spares
 * is taken to be what this one would. An outlier counts as OUTLIER averages at most. Who the routers on the way are is
 * known by the tree of messages from here, which the owner of the switch tells; without one every message gets a set.
 *
 *     worth it    visits x (links - onward) > set - links + a tenth of (1 + visits) x links
 */
#ifndef TM_SWITCH_WORTH_H
#define TM_SWITCH_WORTH_H

#include "network/places.h"
#include "tm.h"

#define WORTH_EVERY 128U
#define WORTH_RARELY 1024U /* messages after which the other way is tried, however dear */
#define WORTH_FIRST 64U    /* messages that are measured before sets are written, half of them each way */
#define WORTH_GAIN 10U     /* less than this part of what all routers do is no gain: it cannot be told from chance */
#define WORTH_SPAN 32U
#define WORTH_SHARE 1024U /* visits are counted in these parts of one */
#define WORTH_WORDS (TM_ROUTE_SET_ROUTERS_MAX / 64)

/* Of what was measured: of the last ones more or less. */
typedef struct tm_average {
    uint64_t value;
    uint32_t count; /* measurements in it, WORTH_SPAN at most; 0: nothing was measured yet */
} tm_average;

typedef struct tm_worth {
    tm_memory *memory; /* borrowed */
    uint64_t *numbers; /* owned; routers of the tree but this one, ascending */
    uint32_t *before;  /* owned; of each the one that its messages from here come by, or WORTH_HERE */
    uint32_t count;    /* 0: there is no tree */
    uint32_t numbers_capacity;
    uint32_t before_capacity;
    uint64_t inner[WORTH_WORDS]; /* bitset over them: those that messages go on from */
    uint64_t seen[WORTH_WORDS];  /* of the message at hand: those that it comes by */
    bool is_inner_any;
    bool is_worth;
    uint32_t turn;       /* messages since the tree was told, */
    uint32_t tried;      /* and what that was when one was treated the other way last */
    uint32_t every;      /* messages from one of these to the next */
    tm_average visits;   /* inner routers that a message comes by, in WORTH_SHARE parts of one */
    tm_average links_ns; /* of a message by links */
    tm_average set_ns;   /* of one by its set */
    tm_average
        onward_ns; /* of that, without the match: writing the set, and copies by it; to believe one takes no more */
} tm_worth;

/* How a message is to be treated. */
typedef struct tm_trial {
    bool is_by_set;
    bool is_timed;
} tm_trial;

void tm_worth_init(tm_worth *worth, tm_memory *memory);
void tm_worth_clear(tm_worth *worth);
/* Take messages from here to come to routers[i] by before[i] (copied): one of `routers`, which ascend, or any other
 * number, which is this router's. TM_OK; TM_NO_MEMORY, TM_MISUSED: there is no tree now. */
int tm_worth_set(tm_worth *worth, const uint64_t *routers, const uint64_t *before, size_t count);

/* The next message that may get a set. */
tm_trial tm_worth_next(tm_worth *worth);
/* One by links took so long. */
void tm_worth_note_links(tm_worth *worth, uint64_t ns);
/* One by its set took so long, and of that `onward_ns` after the match. `members` is the set. */
void tm_worth_note_set(tm_worth *worth, uint64_t ns, uint64_t onward_ns, const tm_places *places,
                       const uint64_t *members);

#endif
