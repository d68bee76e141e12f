/* net.c - other routers and their filters, as tm_switch_api.h passes them in. */
#include "switch/forwarding/net.h"

#include "base/grow.h"
#include "model/filter.h"
#include "switch/forwarding/forward.h"
#include "switch/forwarding/worth.h"

/* ---- life ---- */

void switch_net_free(tm_net *net, tm_memory *memory) {
    if (net == NULL) {
        return;
    }
    tm_routes_clear(&net->routes);
    tm_network_clear(&net->network);
    tm_group_filters_clear(&net->shared);
    tm_windows_clear(&net->transit);
    tm_reached_clear(&net->reached);
    tm_routers_clear(&net->routers);
    TM_DELETE(memory, TM_COLD, net->neighbours, tm_neighbour, net->neighbour_capacity);
    TM_DELETE(memory, TM_COLD, net->found, uint32_t, net->found_capacity);
    TM_DELETE(memory, TM_COLD, net->handles, uint32_t, net->handle_capacity);
    TM_DELETE(memory, TM_COLD, net->choosing.routers, uint32_t, net->choosing.router_capacity);
    TM_DELETE(memory, TM_COLD, net->choosing.handles, uint32_t, net->choosing.handle_capacity);
    TM_DELETE(memory, TM_COLD, net->choosing.candidates, tm_candidate, net->choosing.candidate_capacity);
    TM_DELETE(memory, TM_COLD, net->choosing.frame, uint8_t, net->choosing.frame_capacity);
    tm_publishers_clear(&net->choosing.had);
    tm_places_clear(&net->reuse.places);
    tm_worth_clear(&net->reuse.worth);
    switch_keys_free(&net->keys, memory);
    TM_DELETE(memory, TM_COLD, net->departures, uint64_t, net->departure_words);
    TM_DELETE(memory, TM_COLD, net->routed_frame, uint8_t, net->routed_capacity);
    TM_DELETE(memory, TM_COLD, net->plans, tm_small_plan, SWITCH_FORMS);
    TM_DELETE(memory, TM_COLD, net, tm_net, 1);
}

int switch_use_router(tm_switch *sw, uint64_t number, uint32_t *index) {
    tm_net *net = sw->net;
    uint32_t wanted = net->routers.count < SMALL_PLAN_FILTERS_MAX ? SMALL_PLAN_FILTERS_MAX : net->routers.count + 1;
    if (!tm_grow(&sw->memory, TM_COLD, &net->found, sizeof *net->found, &net->found_capacity, wanted) ||
        !tm_grow(&sw->memory, TM_COLD, &net->handles, sizeof *net->handles, &net->handle_capacity, wanted)) {
        return TM_NO_MEMORY;
    }
    return tm_routers_use(&net->routers, number, index);
}

int tm_switch_join(tm_switch *sw, tm_table *network, uint32_t sources_max, uint32_t forwarding) {
    if (sw == NULL || network == NULL || network == sw->table || sw->net != NULL ||
        switch_forwarding(forwarding) == NULL || (forwarding == TM_FORWARD_KEYS && !tm_table_limits(network))) {
        return TM_MISUSED;
    }
    tm_net *net = TM_NEW(&sw->memory, TM_COLD, tm_net, 1);
    if (net == NULL) {
        return TM_NO_MEMORY;
    }
    tm_routers_init(&net->routers, &sw->memory);
    tm_network_init(&net->network, &sw->memory, network, &net->routers, ROUTER_WANTS);
    tm_group_filters_init(&net->shared, &sw->memory, NULL, &net->routers);
    tm_routes_init(&net->routes, &sw->memory, network);
    tm_windows_init(&net->transit, &sw->memory, WINDOW_IN_TRANSIT, sources_max);
    tm_reached_init(&net->reached, &sw->memory);
    tm_publishers_init(&net->choosing.had, &sw->memory, sw->options.publishers_max);
    tm_places_init(&net->reuse.places, &sw->memory);
    tm_worth_init(&net->reuse.worth, &sw->memory);
    tm_filter_keys_init(&net->keys.filters, &sw->memory);
    if (forwarding == TM_FORWARD_KEYS) {
        tm_network_use_keys(&net->network, &net->keys.filters);
    }
    net->keys.keys_max = TM_KEYS;
    net->forwarding = switch_forwarding(forwarding);
    net->destinations_max = TM_ROUTE_ROUTERS;
    net->epoch_max = UINT64_MAX;
    net->plans = TM_NEW(&sw->memory, TM_COLD, tm_small_plan, SWITCH_FORMS);
    sw->net = net;
    int result = net->plans != NULL ? switch_use_router(sw, sw->options.number, &net->me) : TM_NO_MEMORY;
    if (result != TM_OK) {
        sw->net = NULL;
        switch_net_free(net, &sw->memory);
    }
    return result;
}

int tm_switch_list_routers(tm_switch *sw, uint32_t destinations_max) {
    if (sw == NULL || sw->net == NULL || destinations_max == 0 || destinations_max > TM_ROUTE_ROUTERS_MAX) {
        return TM_MISUSED;
    }
    sw->net->destinations_max = destinations_max;
    return TM_OK;
}

int tm_switch_limit_keys(tm_switch *sw, uint32_t keys_max) {
    if (sw == NULL || sw->net == NULL || keys_max == 0 || keys_max > TM_ROUTE_KEYS_MAX) {
        return TM_MISUSED;
    }
    sw->net->keys.keys_max = keys_max;
    return TM_OK;
}

int tm_switch_share(tm_switch *sw, tm_table *shared) {
    if (sw == NULL || shared == NULL || sw->net == NULL || sw->net->shared.network.table != NULL ||
        shared == sw->table || shared == sw->net->network.table) {
        return TM_MISUSED;
    }
    tm_group_filters_init(&sw->net->shared, &sw->memory, shared, &sw->net->routers);
    return TM_OK;
}

void tm_switch_raise_epoch(tm_switch *sw, uint64_t epoch) {
    sw->options.epoch = epoch;
    sw->transit = 0;
}

void tm_switch_bound_epochs(tm_switch *sw, uint64_t epoch_max) {
    if (sw->net != NULL) {
        sw->net->epoch_max = epoch_max;
    }
}

void tm_switch_forget_source(tm_switch *sw, uint64_t router) {
    tm_net *net = sw->net;
    uint32_t index = net != NULL ? tm_routers_find(&net->routers, router) : ROUTER_NONE;
    if (net != NULL) {
        tm_windows_forget(&net->transit, router);
    }
    if (index != ROUTER_NONE) {
        net->routers.rows[index].epoch_max = UINT64_MAX;
        switch_release_router(net, index);
    }
}

int tm_switch_bound_source(tm_switch *sw, uint64_t router, uint64_t epoch_max) {
    uint32_t index;
    if (sw->net == NULL) {
        return TM_MISUSED;
    }
    int result = switch_use_router(sw, router, &index);
    if (result == TM_OK) {
        sw->net->routers.rows[index].epoch_max = epoch_max;
        tm_windows_forget_above(&sw->net->transit, router, epoch_max);
        switch_release_router(sw->net, index);
    }
    return result;
}

/* ---- routers in use ---- */

void switch_release_router(tm_net *net, uint32_t router) {
    const tm_router *at = &net->routers.rows[router];
    bool is_linked = at->neighbour != NEIGHBOUR_NONE && net->neighbours[at->neighbour].sessions > 0;
    if (at->number == 0 || at->filter_count[ROUTER_WANTS] + at->filter_count[ROUTER_SHARES] > 0 ||
        at->epoch_max != UINT64_MAX || router == net->me || is_linked || tm_routes_mention(&net->routes, router)) {
        return;
    }
    if (at->neighbour != NEIGHBOUR_NONE) {
        net->neighbours[at->neighbour] = (tm_neighbour){.router = ROUTER_NONE, .connection = CONNECTION_NONE};
    }
    tm_routers_release(&net->routers, router);
}

void switch_sweep_routers(tm_net *net) {
    for (uint32_t router = 0; router < net->routers.count; router++) {
        switch_release_router(net, router);
    }
}

/* ---- remote filters ---- */

int tm_filters_check(const uint8_t *bytes, const uint64_t *offsets, size_t count, uint8_t *results) {
    tm_memory memory = {0};
    tm_filter *filter = TM_NEW(&memory, TM_COLD, tm_filter, 1);
    if (filter == NULL) {
        return TM_NO_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        results[i] = (uint8_t)tm_filter_parse(bytes + offsets[i], (size_t)(offsets[i + 1] - offsets[i]), filter);
    }
    TM_DELETE(&memory, TM_COLD, filter, tm_filter, 1);
    return TM_OK;
}

/* Install filters of a router; `rows` gives the group of each, NULL: they belong to no group. */
static int install_all(tm_switch *sw, uint64_t number, const uint8_t *bytes, const uint64_t *offsets,
                       const uint64_t *ids, const tm_shared_filter *rows, size_t count, uint8_t *results) {
    uint32_t router;
    if (sw == NULL || sw->net == NULL || number == sw->options.number) {
        return TM_MISUSED;
    }
    int result = switch_use_router(sw, number, &router);
    if (result != TM_OK) {
        return result;
    }
    for (size_t i = 0; i < count; i++) {
        const uint8_t *packed = bytes + offsets[i];
        size_t size = (size_t)(offsets[i + 1] - offsets[i]);
        if (rows == NULL) {
            result = tm_network_install(&sw->net->network, router, ids[i], packed, size);
        } else {
            tm_group_filter row = {.group = rows[i].group, .members = rows[i].members};
            result = tm_group_filters_install(&sw->net->shared, router, ids[i], packed, size, row);
        }
        results[i] = (uint8_t)result;
    }
    switch_release_router(sw->net, router);
    return TM_OK;
}

int tm_switch_install(tm_switch *sw, uint64_t number, const uint8_t *bytes, const uint64_t *offsets,
                      const uint64_t *ids, size_t count, uint8_t *results) {
    return install_all(sw, number, bytes, offsets, ids, NULL, count, results);
}

int tm_switch_install_shared(tm_switch *sw, uint64_t number, const uint8_t *bytes, const uint64_t *offsets,
                             const uint64_t *ids, const tm_shared_filter *rows, size_t count, uint8_t *results) {
    return rows == NULL ? TM_MISUSED : install_all(sw, number, bytes, offsets, ids, rows, count, results);
}

/* Remove a filter from either table: ids of a router differ in both. */
static int uninstall(tm_net *net, uint32_t router, uint64_t id) {
    int result = tm_network_uninstall(&net->network, router, id);
    return result == TM_ABSENT ? tm_network_uninstall(&net->shared.network, router, id) : result;
}

int tm_switch_uninstall(tm_switch *sw, uint64_t number, const uint64_t *ids, size_t count, uint8_t *results) {
    if (sw == NULL || sw->net == NULL) {
        return TM_MISUSED;
    }
    uint32_t router = tm_routers_find(&sw->net->routers, number);
    for (size_t i = 0; i < count; i++) {
        results[i] = TM_ABSENT;
        if (router != ROUTER_NONE) {
            results[i] = (uint8_t)uninstall(sw->net, router, ids[i]);
        }
    }
    if (router != ROUTER_NONE) {
        switch_release_router(sw->net, router);
    }
    return TM_OK;
}

int tm_switch_router_numbers(const tm_switch *sw, uint64_t *numbers, uint32_t capacity, uint32_t *count) {
    if (sw == NULL || sw->net == NULL || count == NULL || (numbers == NULL && capacity > 0)) {
        return TM_MISUSED;
    }
    const tm_routers *routers = &sw->net->routers;
    for (uint32_t i = 0; i < capacity && i < routers->count; i++) {
        numbers[i] = routers->rows[i].number;
    }
    *count = routers->count;
    return TM_OK;
}

int tm_switch_forget_router(tm_switch *sw, uint64_t number, uint32_t steps, uint32_t *left) {
    if (sw == NULL || sw->net == NULL || left == NULL) {
        return TM_MISUSED;
    }
    uint32_t router = tm_routers_find(&sw->net->routers, number);
    *left = 0;
    if (router != ROUTER_NONE) {
        const uint32_t *counts = sw->net->routers.rows[router].filter_count;
        uint32_t before = counts[ROUTER_WANTS];
        tm_network_forget(&sw->net->network, router, steps);
        tm_network_forget(&sw->net->shared.network, router, steps - (before - counts[ROUTER_WANTS]));
        *left = counts[ROUTER_WANTS] + counts[ROUTER_SHARES];
        switch_release_router(sw->net, router);
    }
    return TM_OK;
}

/* ---- soundness ---- */

bool switch_net_is_sound(const tm_net *net) {
    for (uint32_t place = 0; place < net->neighbour_count; place++) {
        uint32_t router = net->neighbours[place].router;
        if (router == ROUTER_NONE ? net->neighbours[place].sessions > 0
                                  : net->routers.rows[router].neighbour != place) {
            return false;
        }
    }
    for (uint32_t router = 0; router < net->routers.count; router++) {
        const tm_router *at = &net->routers.rows[router];
        if (at->number == 0 && tm_routes_mention(&net->routes, router)) {
            return false;
        }
    }
    return net->found_capacity >= net->routers.count && tm_routers_are_sound(&net->routers) &&
           tm_network_is_sound(&net->network) && tm_network_is_sound(&net->shared.network) &&
           tm_routes_are_sound(&net->routes) && tm_windows_are_sound(&net->transit) &&
           tm_reached_is_sound(&net->reached) && tm_publishers_are_sound(&net->choosing.had);
}
