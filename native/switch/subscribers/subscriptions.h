/* subscriptions.h - subscriptions by (subscriber, id), with their filters in the table and the packed bytes of these.
 *
 * Law: every handle of the table that the switch added belongs to exactly one subscription, and every subscription's
 * filters have handles. A subscription is in the set from its first filter to its last; a failed one leaves no trace.
 * The packed bytes of a filter are kept for plans (small_plan.h) and, unless its subscription is unlisted, for lists;
 * the arena has names of dialects, too.
 */
#ifndef TM_SUBSCRIPTIONS_H
#define TM_SUBSCRIPTIONS_H

#include "base/arena.h"
#include "base/idset.h"
#include "switch/subscribers/folded_names.h"
#include "switch/subscribers/programs.h"
#include "switch/subscribers/worker_groups.h"
#include "tm.h"

#define SUBSCRIPTION_NONE UINT32_MAX
#define SUBSCRIPTIONS_PLANNED_MAX 256U /* above every handle that a plan may have */

typedef struct tm_subscription {
    uint32_t subscriber; /* interface of the table */
    uint32_t id;
    uint32_t filters; /* first handle of its list */
    uint32_t next;    /* of one subscriber; of a free row, the next free one */
    uint32_t previous;
    uint32_t stamp;       /* of the last message that satisfies it */
    uint32_t group;       /* WORKER_GROUP_NONE: it gets every message */
    uint32_t table_bytes; /* bytes that its filters take in the table, and its program */
    uint32_t program;     /* PROGRAM_NONE: its filters decide alone */
    uint32_t dialect;     /* in the arena: the name of the dialect that its predicate was written in; 0: none */
    uint8_t dialect_size;
    uint8_t own_messages;
    uint8_t in_use;
    bool is_unlisted;  /* its filters are not read again */
    bool is_unindexed; /* it has a program, and a filter that every message satisfies */
    bool is_folded;    /* its filters may have conditions on folded texts, and are no narrower than its program */
} tm_subscription;

/* A subscribed filter, by handle. */
typedef struct tm_kept_filter {
    uint32_t subscription; /* SUBSCRIPTION_NONE: the handle is not in use */
    uint32_t next;         /* next handle of the subscription */
    uint32_t block;        /* in the arena: the packed filter; 0: it is not kept */
    uint32_t size;
} tm_kept_filter;

typedef struct tm_subscriptions {
    tm_memory *memory; /* borrowed */
    tm_table *table;   /* borrowed */
    tm_subscription *rows;
    uint32_t row_count;
    uint32_t row_capacity;
    uint32_t free;
    uint32_t live;
    tm_idset set; /* of rows + 1, by (subscriber, id) */
    tm_kept_filter *kept;
    uint32_t kept_capacity;
    uint32_t stored_count; /* one more than the highest handle ever used */
    uint32_t filters;
    uint64_t version; /* changes whenever a filter is added or removed */
    tm_arena bytes;
    tm_programs programs;
    tm_folded_names folded; /* of subscriptions that are folded */
    tm_worker_groups groups;
} tm_subscriptions;

void tm_subscriptions_init(tm_subscriptions *subscriptions, tm_memory *memory, tm_table *table);
void tm_subscriptions_clear(tm_subscriptions *subscriptions); /* does not change the table */

/* Return the row of a subscription, or SUBSCRIPTION_NONE. */
uint32_t tm_subscriptions_find(const tm_subscriptions *subscriptions, uint32_t subscriber, uint32_t id);

/* Add a subscription without filters to `*list` (the subscriber's) on TM_OK; TM_MISUSED: the id is in use;
 * TM_NO_MEMORY. */
int tm_subscriptions_begin(tm_subscriptions *subscriptions, uint32_t subscriber, uint32_t id, bool own_messages,
                           uint32_t *list, uint32_t *row);
/* Make a subscription without filters a member of a worker group; returns TM_OK or TM_NO_MEMORY. */
int tm_subscriptions_join(tm_subscriptions *subscriptions, uint32_t row, const tm_subscribe *subscribe);
/* Give a subscription a copy of a verified residual program; returns TM_OK or TM_NO_MEMORY. */
int tm_subscriptions_decide_by(tm_subscriptions *subscriptions, uint32_t row, const uint8_t *program, uint32_t size);
/* Note the name of the dialect of a subscription, which has none yet; returns TM_OK or TM_NO_MEMORY. */
int tm_subscriptions_note_dialect(tm_subscriptions *subscriptions, uint32_t row, const uint8_t *name, uint8_t size);
/* Add one filter to a subscription; returns the results of tm_table_add. */
int tm_subscriptions_add(tm_subscriptions *subscriptions, uint32_t row, const uint8_t *filter, uint32_t size);
/* Remove a subscription and its filters; returns the number of filters. */
uint32_t tm_subscriptions_end(tm_subscriptions *subscriptions, uint32_t row, uint32_t *list);

/* Copy the packed filters into a smaller arena if most of the arena is unused and the copy is short. */
void tm_subscriptions_shrink(tm_subscriptions *subscriptions);

bool tm_subscriptions_are_sound(const tm_subscriptions *subscriptions);

#endif
