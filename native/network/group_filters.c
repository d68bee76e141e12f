/* group_filters.c - see group_filters.h. */
#include "network/group_filters.h"

#include "base/grow.h"

void tm_group_filters_init(tm_group_filters *filters, tm_memory *memory, tm_table *table, tm_routers *routers) {
    *filters = (tm_group_filters){0};
    tm_network_init(&filters->network, memory, table, routers, ROUTER_SHARES);
}

void tm_group_filters_clear(tm_group_filters *filters) {
    tm_network *network = &filters->network;
    TM_DELETE(network->memory, TM_COLD, filters->rows, tm_group_filter, filters->capacity);
    tm_network_clear(network);
    tm_group_filters_init(filters, network->memory, network->table, network->routers);
}

int tm_group_filters_install(tm_group_filters *filters, uint32_t router, uint64_t id, const uint8_t *packed,
                             size_t size, tm_group_filter row) {
    tm_network *network = &filters->network;
    if (network->table == NULL || row.group == 0 || row.members == 0) {
        return TM_MISUSED;
    }
    int result = TM_OK;
    if (network->routers->rows[router].filter_count[ROUTER_SHARES] == 0) { /* every matching filter must be returned */
        result = tm_table_set_interface(network->table, router, TM_INTERFACE_CLIENT);
    }
    result = result == TM_OK ? tm_network_install(network, router, id, packed, size) : result;
    if (result != TM_OK) {
        return result;
    }
    uint32_t handle = tm_network_find(network, router, id);
    if (!tm_grow(network->memory, TM_COLD, &filters->rows, sizeof *filters->rows, &filters->capacity, handle + 1)) {
        tm_network_uninstall(network, router, id);
        return TM_NO_MEMORY;
    }
    filters->rows[handle] = row;
    return TM_OK;
}
