/* group_filters.h - filters of the other routers' worker groups: each by (router, id), with its group and its number of
 * members, in a table of their own.
 *
 * Law: these filters alone send a message nowhere; the router that it enters chooses by them, and only then matches
 * this table. A switch without such a table holds no such filters.
 */
#ifndef TM_GROUP_FILTERS_H
#define TM_GROUP_FILTERS_H

#include "network/remote_filters.h"

/* A group filter, by handle. */
typedef struct tm_group_filter {
    uint32_t group; /* its number */
    uint32_t members;
} tm_group_filter;

typedef struct tm_group_filters {
    tm_network network;    /* its table is NULL if there is none */
    tm_group_filter *rows; /* owned; of handles in use */
    uint32_t capacity;
} tm_group_filters;

void tm_group_filters_init(tm_group_filters *filters, tm_memory *memory, tm_table *table, tm_routers *routers);
void tm_group_filters_clear(tm_group_filters *filters); /* does not change the table */

/* Install a filter; returns the results of tm_network_install, and TM_MISUSED for group 0 or 0 members. */
int tm_group_filters_install(tm_group_filters *filters, uint32_t router, uint64_t id, const uint8_t *packed,
                             size_t size, tm_group_filter row);

#endif
