/* remote_filters.h - what the other routers want: filters by (router, id) in a table whose interfaces are routers.
 *
 * Law: every handle of the table is one filter of one router, under the id that this router gave it, and the other way
 * round. Filters come and go singly; topology is not in here. As long as there are but a few, their packed bytes are
 * kept too, for plans (small_plan.h); once there have been more, not before all have gone.
 */
#ifndef TM_REMOTE_FILTERS_H
#define TM_REMOTE_FILTERS_H

#include "network/routers.h"
#include "tm.h"

#define FILTER_NONE UINT32_MAX

/* By handle. */
typedef struct tm_remote_filter {
    uint64_t id;
    uint32_t router; /* ROUTER_NONE: no such handle */
    uint32_t next;   /* handle, of the same router */
    uint32_t previous;
    bool is_everything; /* without constraints */
} tm_remote_filter;

#define NETWORK_PACKED_MAX 32U

typedef struct tm_packed_filter {
    uint32_t handle;
    uint32_t size;
    uint8_t *bytes; /* owned */
} tm_packed_filter;

typedef struct tm_network {
    tm_memory *memory;   /* borrowed */
    tm_table *table;     /* borrowed */
    tm_routers *routers; /* borrowed */
    unsigned which;      /* ROUTER_WANTS or ROUTER_SHARES: which filters of routers these are */
    tm_remote_filter *filters;
    uint32_t capacity;
    uint32_t used; /* one more than the highest handle that there has been */
    uint32_t count;
    uint32_t everything_count; /* filters without constraints among them */
    tm_idset set;              /* of handles + 1, by (router, id) */
    uint64_t version;          /* changes with every filter that comes or goes */
    tm_packed_filter packed[NETWORK_PACKED_MAX];
    uint32_t packed_count; /* all filters or, once there were too many, none */
    bool is_packed;
} tm_network;

void tm_network_init(tm_network *network, tm_memory *memory, tm_table *table, tm_routers *routers, unsigned which);
void tm_network_clear(tm_network *network); /* the table is left as it is */

/* The results of tm_table_add, and TM_MISUSED where the router has a filter of this id. */
int tm_network_install(tm_network *network, uint32_t router, uint64_t id, const uint8_t *packed, size_t size);
/* The handle of a filter, or FILTER_NONE. */
uint32_t tm_network_find(const tm_network *network, uint32_t router, uint64_t id);
int tm_network_uninstall(tm_network *network, uint32_t router, uint64_t id); /* TM_ABSENT: it has no such filter */
/* Uninstall at most `steps` filters of a router. */
void tm_network_forget(tm_network *network, uint32_t router, uint32_t steps);
/* Has any router a filter, and none a filter with a constraint? */
static inline bool tm_network_wants_all(const tm_network *network) {
    return network->count > 0 && network->everything_count == network->count;
}
/* Has this router, by its index, any filter? */
static inline bool tm_network_is_asking(const tm_network *network, uint32_t router) {
    return network->routers->rows[router].number != 0 &&
           network->routers->rows[router].filter_count[network->which] > 0;
}
bool tm_network_is_sound(const tm_network *network);

#endif
