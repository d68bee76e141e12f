/* remote_filters.h - filters of the other routers, by (router, id), in a table whose interfaces are routers.
 *
 * Law: every handle of the table is one filter of one router, under that router's id for it, and every such filter has
 * a handle. Filters are installed and uninstalled one by one and do not depend on topology. While there are few, their
 * packed bytes are kept, too, for plans (small_plan.h); once there were more, only after all have gone.
 */
#ifndef TM_REMOTE_FILTERS_H
#define TM_REMOTE_FILTERS_H

#include "network/filter_keys.h"
#include "network/routers.h"
#include "tm.h"

#define FILTER_NONE UINT32_MAX

/* A remote filter, by handle. */
typedef struct tm_remote_filter {
    uint64_t id;
    uint32_t router; /* ROUTER_NONE: the handle is not in use */
    uint32_t next;   /* next handle of the router */
    uint32_t previous;
    bool is_everything; /* true if it has no constraints */
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
    unsigned which;      /* ROUTER_WANTS or ROUTER_SHARES: the kind of these filters */
    tm_remote_filter *filters;
    uint32_t capacity;
    uint32_t used; /* one more than the highest handle ever used */
    uint32_t count;
    uint32_t everything_count; /* number of filters without constraints */
    tm_idset set;              /* of handles + 1, by (router, id) */
    tm_filter_keys *keys;      /* borrowed; NULL: filters have no keys */
    uint64_t version;          /* changes whenever a filter is installed or uninstalled */
    tm_packed_filter packed[NETWORK_PACKED_MAX];
    uint32_t packed_count; /* all filters or, once there were too many, 0 */
    bool is_packed;
} tm_network;

void tm_network_init(tm_network *network, tm_memory *memory, tm_table *table, tm_routers *routers, unsigned which);
void tm_network_clear(tm_network *network); /* does not change the table */
/* Give filters keys from now on, before there are any; `keys` is borrowed until the network is cleared. */
static inline void tm_network_use_keys(tm_network *network, tm_filter_keys *keys) {
    network->keys = keys;
}

/* Install a filter; returns the results of tm_table_add, and TM_MISUSED if the router has a filter of this id. */
int tm_network_install(tm_network *network, uint32_t router, uint64_t id, const uint8_t *packed, size_t size);
/* Return the handle of a filter, or FILTER_NONE. */
uint32_t tm_network_find(const tm_network *network, uint32_t router, uint64_t id);
int tm_network_uninstall(tm_network *network, uint32_t router,
                         uint64_t id); /* TM_ABSENT: the router has no such filter */
/* Uninstall at most `steps` filters of a router. */
void tm_network_forget(tm_network *network, uint32_t router, uint32_t steps);
/* true if routers have filters, and none of these has a constraint */
static inline bool tm_network_wants_all(const tm_network *network) {
    return network->count > 0 && network->everything_count == network->count;
}
/* true if a router, by its index, has a filter */
static inline bool tm_network_is_asking(const tm_network *network, uint32_t router) {
    return network->routers->rows[router].number != 0 &&
           network->routers->rows[router].filter_count[network->which] > 0;
}
bool tm_network_is_sound(const tm_network *network);

#endif
