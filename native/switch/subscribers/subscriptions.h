/* subscriptions.h - who asked for what: (subscriber, id) <-> filters in the table, with their packed bytes.
 *
 * Law: every handle of the table that the switch added belongs to exactly one subscription, and the other way round. A
 * subscription is in the set from its first filter to its last; one whose filters were not all taken leaves no trace.
 */
#ifndef TM_SUBSCRIPTIONS_H
#define TM_SUBSCRIPTIONS_H

#include "base/arena.h"
#include "base/idset.h"
#include "switch/subscribers/worker_groups.h"
#include "tm.h"

#define SUBSCRIPTION_NONE UINT32_MAX

typedef struct tm_subscription {
    uint32_t subscriber; /* interface of the table */
    uint32_t id;
    uint32_t filters; /* first handle of its list */
    uint32_t next;    /* of the same subscriber; of a free row, the next free one */
    uint32_t previous;
    uint32_t stamp;       /* the last message that was found to satisfy it */
    uint32_t group;       /* WORKER_GROUP_NONE: every message is for it */
    uint32_t table_bytes; /* that its filters brought to the table */
    uint8_t own_messages;
    uint8_t in_use;
} tm_subscription;

/* By handle. */
typedef struct tm_kept_filter {
    uint32_t subscription; /* SUBSCRIPTION_NONE: no such handle */
    uint32_t next;         /* handle, of the same subscription */
    uint32_t block;        /* in the arena: the packed filter */
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
    uint32_t kept_count; /* one more than the highest handle that there has been */
    uint32_t filters;
    uint64_t version; /* changes with every filter that comes or goes */
    tm_arena bytes;
    tm_worker_groups groups;
} tm_subscriptions;

void tm_subscriptions_init(tm_subscriptions *subscriptions, tm_memory *memory, tm_table *table);
void tm_subscriptions_clear(tm_subscriptions *subscriptions); /* the table is left as it is */

/* The row of a subscription, or SUBSCRIPTION_NONE. */
uint32_t tm_subscriptions_find(const tm_subscriptions *subscriptions, uint32_t subscriber, uint32_t id);

/* A row without filters, which is not in `*list` (the subscriber's) unless TM_OK; TM_MISUSED: the id is in use. */
int tm_subscriptions_begin(tm_subscriptions *subscriptions, uint32_t subscriber, uint32_t id, bool own_messages,
                           uint32_t *list, uint32_t *row);
/* Have it share the messages of a group, before it has filters; TM_OK or TM_NO_MEMORY. */
int tm_subscriptions_join(tm_subscriptions *subscriptions, uint32_t row, const tm_subscribe *subscribe);
/* Add one filter to it: the results of tm_table_add. */
int tm_subscriptions_add(tm_subscriptions *subscriptions, uint32_t row, const uint8_t *filter, uint32_t size);
/* Take it and its filters away; returns how many filters it had. */
uint32_t tm_subscriptions_end(tm_subscriptions *subscriptions, uint32_t row, uint32_t *list);

/* Let go of the room that filters have left behind, once it is most of what there is; one call copies little enough. */
void tm_subscriptions_shrink(tm_subscriptions *subscriptions);

bool tm_subscriptions_are_sound(const tm_subscriptions *subscriptions);

#endif
