/* group_filters.h - what worker groups of the other routers want: filters by (router, id), each of a group and of so
 * many members, in a table of their own.
 *
 * Law: a message goes to nobody because of these filters; the router that it enters chooses by them, and asks this
 * table alone then. A switch that was given no table for them holds none.
 */
#ifndef TM_GROUP_FILTERS_H
#define TM_GROUP_FILTERS_H

#include "network/remote_filters.h"

/* By handle. */
typedef struct tm_group_filter {
    uint32_t group; /* its number */
    uint32_t members;
} tm_group_filter;

typedef struct tm_group_filters {
    tm_network network;    /* its table is NULL: there is none */
    tm_group_filter *rows; /* owned; of handles in use */
    uint32_t capacity;
} tm_group_filters;

void tm_group_filters_init(tm_group_filters *filters, tm_memory *memory, tm_table *table, tm_routers *routers);
void tm_group_filters_clear(tm_group_filters *filters); /* the table is left as it is */

/* The results of tm_network_install; TM_MISUSED also for the group 0, or without members. */
int tm_group_filters_install(tm_group_filters *filters, uint32_t router, uint64_t id, const uint8_t *packed,
                             size_t size, tm_group_filter row);

#endif
