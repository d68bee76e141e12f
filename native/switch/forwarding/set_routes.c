/* set_routes.c - the routes to other routers, as tm_switch_api.h passes them in, a generation at a time. */
#include "switch/forwarding/set_routes.h"

#include <string.h>

#include "switch/connections/events.h"
#include "switch/forwarding/neighbours.h"
#include "switch/forwarding/net.h"

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
        int result = switch_use_router(sw, issuers[i], &router);
        result = result == TM_OK ? switch_use_neighbour(sw, children[i], &place) : result;
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

/* Write the next hops to routers, all of which have indices, into `net->found` by index; returns their number. */
static uint32_t spread(tm_net *net, const uint64_t *issuers, const uint64_t *children, size_t count) {
    uint32_t next_hops = count > 0 ? net->routers.count : 0;
    memset(net->found, 0xff, sizeof *net->found * next_hops); /* NEXT_HOP_NONE; it has room for every router */
    for (size_t i = 0; i < count; i++) {
        uint32_t child = net->routers.rows[tm_routers_find(&net->routers, children[i])].neighbour;
        net->found[tm_routers_find(&net->routers, issuers[i])] = child;
    }
    return next_hops;
}

static int set_route(tm_switch *sw, tm_generation *generation, uint64_t source, uint64_t parent,
                     const uint64_t *issuers, const uint64_t *children, size_t count) {
    tm_net *net = sw->net;
    uint32_t router;
    uint32_t from = NEXT_HOP_NONE;
    int result = switch_use_router(sw, source, &router);
    result = result == TM_OK && parent != 0 ? switch_use_neighbour(sw, parent, &from) : result;
    result = result == TM_OK ? mention_all(sw, generation, issuers, children, count) : result;
    if (result != TM_OK) {
        return result;
    }
    if (!tm_generation_mention(&net->routes, generation, router) ||
        (from != NEXT_HOP_NONE && !tm_generation_mention(&net->routes, generation, net->neighbours[from].router))) {
        return TM_NO_MEMORY;
    }
    uint32_t next_hops = spread(net, issuers, children, count);
    tm_route *route = tm_routes_set(&net->routes, generation, tm_key_of_source(router), net->found, next_hops);
    if (route == NULL) {
        return TM_NO_MEMORY;
    }
    route->from = from;
    return TM_OK;
}

/* `count` pairs of router number and neighbour number. */
typedef struct next_hops_by_number {
    const uint64_t *routers;
    const uint64_t *next_hops;
    size_t count;
} next_hops_by_number;

static int set_tree(tm_switch *sw, tm_generation *generation, uint64_t root, const next_hops_by_number *towards,
                    const next_hops_by_number *wanting) {
    tm_net *net = sw->net;
    uint32_t router;
    int result = switch_use_router(sw, root, &router);
    result =
        result == TM_OK ? mention_all(sw, generation, towards->routers, towards->next_hops, towards->count) : result;
    result =
        result == TM_OK ? mention_all(sw, generation, wanting->routers, wanting->next_hops, wanting->count) : result;
    if (result != TM_OK) {
        return result;
    }
    if (!tm_generation_mention(&net->routes, generation, router)) {
        return TM_NO_MEMORY;
    }
    uint32_t count = spread(net, towards->routers, towards->next_hops, towards->count);
    uint32_t from = tm_next_hops_take(&net->routes.next_hops, net->found, count);
    if (from == NEXT_HOPS_NONE) {
        return TM_NO_MEMORY;
    }
    count = spread(net, wanting->routers, wanting->next_hops, wanting->count);
    tm_route *route = tm_routes_set(&net->routes, generation, tm_key_of_tree(router), net->found, count);
    if (route == NULL) {
        tm_next_hops_release(&net->routes.next_hops, from);
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

/* Update what depends on the generations in force. */
static void note_generations(tm_switch *sw) {
    sw->options.hop_limit = tm_routes_hop_limit(&sw->net->routes);
    switch_sweep_routers(sw->net);
}

int tm_switch_route_tree(tm_switch *sw, uint32_t generation, uint64_t root, const uint64_t *routers,
                         const uint64_t *next_hops, size_t next_hop_count, const uint64_t *issuers,
                         const uint64_t *children, size_t count) {
    if (sw == NULL || sw->net == NULL || root == 0 || (count > 0 && (issuers == NULL || children == NULL)) ||
        (next_hop_count > 0 && (routers == NULL || next_hops == NULL))) {
        return TM_MISUSED;
    }
    tm_generation *at = tm_routes_generation(&sw->net->routes, generation);
    if (at == NULL) {
        return TM_ABSENT;
    }
    const next_hops_by_number towards = {routers, next_hops, next_hop_count};
    const next_hops_by_number wanting = {issuers, children, count};
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
    if (sw->looks_until_ms != UINT64_MAX) {
        sw->looks_until_ms = sw->net->routes.waits_until_ms;
    }
    note_generations(sw);
    return TM_OK;
}

void switch_expire_routes(tm_switch *sw) {
    if (tm_routes_expire(&sw->net->routes, sw->now_ms)) {
        note_generations(sw);
    }
}
