/* net.c - other routers, as tm_switch_api.h hands them in: what they want, the ways to them, who is a neighbour. */
#include "switch/forwarding/net.h"

#include <string.h>

#include "base/bits.h"
#include "base/grow.h"
#include "model/filter.h"
#include "switch/connections/events.h"
#include "switch/forwarding/forward.h"
#include "switch/forwarding/worth.h"
#include "switch/message.h"

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
    TM_DELETE(memory, TM_COLD, net->departures, uint64_t, net->departure_words);
    TM_DELETE(memory, TM_COLD, net->routed_frame, uint8_t, net->routed_capacity);
    TM_DELETE(memory, TM_COLD, net->plans, tm_small_plan, SWITCH_FORMS);
    TM_DELETE(memory, TM_COLD, net, tm_net, 1);
}

/* Index of a router; a match that answers with every router, or a plan with every filter, has room afterwards. */
static int use_router(tm_switch *sw, uint64_t number, uint32_t *index) {
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
        switch_forwarding(forwarding) == NULL) {
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
    net->forwarding = switch_forwarding(forwarding);
    net->destinations_max = TM_ROUTE_ROUTERS;
    net->epoch_max = UINT64_MAX;
    net->plans = TM_NEW(&sw->memory, TM_COLD, tm_small_plan, SWITCH_FORMS);
    sw->net = net;
    int result = net->plans != NULL ? use_router(sw, sw->options.number, &net->me) : TM_NO_MEMORY;
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
    int result = use_router(sw, router, &index);
    if (result == TM_OK) {
        sw->net->routers.rows[index].epoch_max = epoch_max;
        tm_windows_forget_above(&sw->net->transit, router, epoch_max);
        switch_release_router(sw->net, index);
    }
    return result;
}

/* ---- who is spoken of ---- */

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

/* ---- what they want ---- */

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

/* Install filters; those of groups where `rows` says of each which one, and NULL where they are of none. */
static int install_all(tm_switch *sw, uint64_t number, const uint8_t *bytes, const uint64_t *offsets,
                       const uint64_t *ids, const tm_shared_filter *rows, size_t count, uint8_t *results) {
    uint32_t router;
    if (sw == NULL || sw->net == NULL || number == sw->options.number) {
        return TM_MISUSED;
    }
    int result = use_router(sw, number, &router);
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

/* Of either table: ids of a router differ in both. */
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

/* ---- neighbours ---- */

static int free_place(tm_switch *sw, uint32_t *place) {
    tm_net *net = sw->net;
    for (*place = 0; *place < net->neighbour_count; ++*place) {
        if (net->neighbours[*place].router == ROUTER_NONE) {
            return TM_OK;
        }
    }
    if (*place == TM_NEIGHBOURS_MAX) {
        return TM_TOO_MANY;
    }
    uint32_t words = *place / 64 + 1;
    if (!tm_grow(&sw->memory, TM_COLD, &net->departures, sizeof *net->departures, &net->departure_words, words) ||
        !tm_grow(&sw->memory, TM_COLD, &net->neighbours, sizeof *net->neighbours, &net->neighbour_capacity,
                 *place + 1)) {
        return TM_NO_MEMORY;
    }
    net->neighbour_count++;
    net->neighbours[*place] = (tm_neighbour){.router = ROUTER_NONE, .connection = CONNECTION_NONE};
    return TM_OK;
}

/* The place of a neighbour, given out where it has none. */
static int use_neighbour(tm_switch *sw, uint64_t number, uint32_t *place) {
    uint32_t router;
    int result = number == sw->options.number ? TM_MISUSED : use_router(sw, number, &router);
    if (result != TM_OK) {
        return result;
    }
    tm_router *at = &sw->net->routers.rows[router];
    *place = at->neighbour;
    if (*place == NEIGHBOUR_NONE) {
        result = free_place(sw, place);
        if (result == TM_OK) {
            at->neighbour = *place;
            sw->net->neighbours[*place].router = router;
        }
    }
    return result;
}

int switch_join_neighbour(tm_switch *sw, uint32_t id, uint64_t number) {
    if (sw->net == NULL) {
        return TM_MISUSED;
    }
    uint32_t place;
    int result = use_neighbour(sw, number, &place);
    if (result != TM_OK) {
        switch_sweep_routers(sw->net);
        return result;
    }
    switch_at(sw, id)->neighbour = place;
    sw->net->neighbours[place].connection = id;
    sw->net->neighbours[place].sessions++;
    return TM_OK;
}

/* The link of a connection has ended. The connection keeps its place among the neighbours, so that it is still known to
 * be a link. */
void switch_leave_neighbour(tm_switch *sw, uint32_t id) {
    tm_neighbour *neighbour = &sw->net->neighbours[switch_at(sw, id)->neighbour];
    neighbour->sessions--;
    if (neighbour->connection == id) {
        neighbour->connection = CONNECTION_NONE;
    }
    switch_release_router(sw->net, neighbour->router);
}

/* ---- ways ---- */

int tm_switch_begin_routes(tm_switch *sw, uint8_t hop_limit, uint32_t *generation) {
    if (sw == NULL || sw->net == NULL || generation == NULL || hop_limit == 0) {
        return TM_MISUSED;
    }
    bool was_making = sw->net->routes.is_making;
    *generation = tm_routes_begin(&sw->net->routes, hop_limit);
    if (was_making) {
        switch_sweep_routers(sw->net);
    }
    return TM_OK;
}

/* Allocate the indices of all routers and neighbours of a route first: its arrays then have their final length, and
 * filling them cannot fail. */
static int mention_all(tm_switch *sw, tm_generation *generation, const uint64_t *issuers, const uint64_t *children,
                       size_t count) {
    tm_routes *routes = &sw->net->routes;
    for (size_t i = 0; i < count; i++) {
        uint32_t router;
        uint32_t place;
        int result = use_router(sw, issuers[i], &router);
        result = result == TM_OK ? use_neighbour(sw, children[i], &place) : result;
        if (result != TM_OK) {
            return result;
        }
        if (!tm_generation_mention(routes, generation, router) ||
            !tm_generation_mention(routes, generation, sw->net->neighbours[place].router)) {
            return TM_NO_MEMORY;
        }
    }
    return TM_OK;
}

/* Write the ways to routers, all of which are mentioned, by their indices into `net->found`; how many. */
static uint32_t spread(tm_net *net, const uint64_t *issuers, const uint64_t *children, size_t count) {
    uint32_t ways = count > 0 ? net->routers.count : 0;
    memset(net->found, 0xff, sizeof *net->found * ways); /* WAY_NONE; it has room for every router */
    for (size_t i = 0; i < count; i++) {
        uint32_t child = net->routers.rows[tm_routers_find(&net->routers, children[i])].neighbour;
        net->found[tm_routers_find(&net->routers, issuers[i])] = child;
    }
    return ways;
}

static int set_route(tm_switch *sw, tm_generation *generation, uint64_t source, uint64_t parent,
                     const uint64_t *issuers, const uint64_t *children, size_t count) {
    tm_net *net = sw->net;
    uint32_t router;
    uint32_t from = WAY_NONE;
    int result = use_router(sw, source, &router);
    result = result == TM_OK && parent != 0 ? use_neighbour(sw, parent, &from) : result;
    result = result == TM_OK ? mention_all(sw, generation, issuers, children, count) : result;
    if (result != TM_OK) {
        return result;
    }
    if (!tm_generation_mention(&net->routes, generation, router) ||
        (from != WAY_NONE && !tm_generation_mention(&net->routes, generation, net->neighbours[from].router))) {
        return TM_NO_MEMORY;
    }
    uint32_t ways = spread(net, issuers, children, count);
    tm_route *route = tm_routes_set(&net->routes, generation, tm_key_of_source(router), net->found, ways);
    if (route == NULL) {
        return TM_NO_MEMORY;
    }
    route->from = from;
    return TM_OK;
}

/* `towards` and `wanting` are (numbers, neighbours, count). */
typedef struct ways_by_number {
    const uint64_t *routers;
    const uint64_t *ways;
    size_t count;
} ways_by_number;

static int set_tree(tm_switch *sw, tm_generation *generation, uint64_t root, const ways_by_number *towards,
                    const ways_by_number *wanting) {
    tm_net *net = sw->net;
    uint32_t router;
    int result = use_router(sw, root, &router);
    result = result == TM_OK ? mention_all(sw, generation, towards->routers, towards->ways, towards->count) : result;
    result = result == TM_OK ? mention_all(sw, generation, wanting->routers, wanting->ways, wanting->count) : result;
    if (result != TM_OK) {
        return result;
    }
    if (!tm_generation_mention(&net->routes, generation, router)) {
        return TM_NO_MEMORY;
    }
    uint32_t count = spread(net, towards->routers, towards->ways, towards->count);
    uint32_t from = tm_ways_take(&net->routes.ways, net->found, count);
    if (from == WAYS_NONE) {
        return TM_NO_MEMORY;
    }
    count = spread(net, wanting->routers, wanting->ways, wanting->count);
    tm_route *route = tm_routes_set(&net->routes, generation, tm_key_of_tree(router), net->found, count);
    if (route == NULL) {
        tm_ways_release(&net->routes.ways, from);
        return TM_NO_MEMORY;
    }
    route->from = from;
    return TM_OK;
}

int tm_switch_route(tm_switch *sw, uint32_t generation, uint64_t source, uint64_t parent, const uint64_t *issuers,
                    const uint64_t *children, size_t count) {
    if (sw == NULL || sw->net == NULL || (count > 0 && (issuers == NULL || children == NULL))) {
        return TM_MISUSED;
    }
    tm_generation *at = tm_routes_generation(&sw->net->routes, generation);
    if (at == NULL) {
        return TM_ABSENT;
    }
    int result = set_route(sw, at, source, parent, issuers, children, count);
    if (result != TM_OK) {
        switch_sweep_routers(sw->net);
    }
    return result;
}

/* Others are in force. */
static void note_generations(tm_switch *sw) {
    sw->options.hop_limit = tm_routes_hop_limit(&sw->net->routes);
    switch_sweep_routers(sw->net);
}

int tm_switch_route_tree(tm_switch *sw, uint32_t generation, uint64_t root, const uint64_t *routers,
                         const uint64_t *ways, size_t way_count, const uint64_t *issuers, const uint64_t *children,
                         size_t count) {
    if (sw == NULL || sw->net == NULL || root == 0 || (count > 0 && (issuers == NULL || children == NULL)) ||
        (way_count > 0 && (routers == NULL || ways == NULL))) {
        return TM_MISUSED;
    }
    tm_generation *at = tm_routes_generation(&sw->net->routes, generation);
    if (at == NULL) {
        return TM_ABSENT;
    }
    const ways_by_number towards = {routers, ways, way_count};
    const ways_by_number wanting = {issuers, children, count};
    int result = set_tree(sw, at, root, &towards, &wanting);
    if (result != TM_OK) {
        switch_sweep_routers(sw->net);
    }
    return result;
}

int tm_switch_commit(tm_switch *sw, uint32_t hold_ms, uint32_t wait_ms) {
    if (sw == NULL || sw->net == NULL) {
        return TM_MISUSED;
    }
    switch_begin(sw);
    if (!tm_routes_commit(&sw->net->routes, sw->now_ms, hold_ms)) {
        return TM_MISUSED;
    }
    tm_reached_clear(&sw->net->reached);
    sw->net->routes.waits_until_ms = sw->now_ms + (wait_ms < hold_ms ? wait_ms : hold_ms);
    note_generations(sw);
    return TM_OK;
}

void switch_expire_routes(tm_switch *sw) {
    if (tm_routes_expire(&sw->net->routes, sw->now_ms)) {
        note_generations(sw);
    }
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
