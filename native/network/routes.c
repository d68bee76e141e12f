/* routes.c - see routes.h. */
#include "network/routes.h"

#include <string.h>

#include "base/bits.h"
#include "base/grow.h"

void tm_routes_init(tm_routes *routes, tm_memory *memory, tm_table *table) {
    *routes = (tm_routes){.memory = memory, .table = table};
}

/* ---- a route ---- */

/* At least one word, so that a route which leads nowhere is one all the same. */
static uint32_t child_words(uint32_t neighbour_count) {
    return 1 + tm_bit_words(neighbour_count);
}

static void clear_route(tm_routes *routes, tm_route *route) {
    if (route->view != 0) {
        tm_table_drop_view(routes->table, route->view);
    }
    TM_DELETE(routes->memory, TM_COLD, route->children, uint64_t, child_words(route->neighbour_count));
    TM_DELETE(routes->memory, TM_COLD, route->asking, uint64_t, child_words(route->neighbour_count));
    *route = (tm_route){.parent = WAY_NONE};
}

static void note_children(tm_route *route) {
    for (uint32_t router = 0; router < route->way_count; router++) {
        uint32_t way = route->ways[router];
        if (way != WAY_NONE) {
            tm_bit_set(route->children, way);
        }
    }
}

tm_route *tm_routes_set(tm_routes *routes, tm_generation *generation, uint32_t source, const uint32_t *ways,
                        uint32_t way_count, uint32_t neighbour_count) {
    if (!tm_grow(routes->memory, TM_COLD, &generation->routes, sizeof *generation->routes, &generation->capacity,
                 source + 1)) {
        return NULL;
    }
    tm_route made = {.neighbour_count = neighbour_count, .parent = WAY_NONE};
    made.children = TM_NEW(routes->memory, TM_COLD, uint64_t, child_words(neighbour_count));
    if (made.children == NULL ||
        (way_count > 0 && tm_table_view(routes->table, ways, way_count, &made.view) != TM_OK)) {
        clear_route(routes, &made);
        return NULL;
    }
    made.ways = tm_table_view_groups(routes->table, made.view, &made.way_count);
    note_children(&made);
    tm_route *route = &generation->routes[source];
    clear_route(routes, route);
    *route = made;
    return route;
}

/* ---- generations ---- */

static void clear_generation(tm_routes *routes, tm_generation *generation) {
    for (uint32_t source = 0; source < generation->capacity; source++) {
        clear_route(routes, &generation->routes[source]);
    }
    TM_DELETE(routes->memory, TM_COLD, generation->routes, tm_route, generation->capacity);
    TM_DELETE(routes->memory, TM_COLD, generation->mentions, uint64_t, generation->mention_words);
    *generation = (tm_generation){0};
}

void tm_routes_clear(tm_routes *routes) {
    for (uint32_t i = 0; i <= ROUTES_GENERATIONS_MAX; i++) {
        clear_generation(routes, &routes->generations[i]);
    }
    tm_routes_init(routes, routes->memory, routes->table);
}

uint32_t tm_routes_begin(tm_routes *routes, uint8_t hop_limit) {
    tm_generation *made = &routes->generations[routes->in_force];
    clear_generation(routes, made);
    *made = (tm_generation){.id = ++routes->last_id, .hop_limit = hop_limit, .until_ms = UINT64_MAX};
    routes->is_making = true;
    return made->id;
}

tm_generation *tm_routes_generation(tm_routes *routes, uint32_t id) {
    for (uint32_t i = 0; i < routes->in_force + routes->is_making; i++) {
        if (routes->generations[i].id == id) {
            return &routes->generations[i];
        }
    }
    return NULL;
}

static void drop_oldest(tm_routes *routes) {
    clear_generation(routes, &routes->generations[0]);
    memmove(&routes->generations[0], &routes->generations[1], sizeof(tm_generation) * ROUTES_GENERATIONS_MAX);
    routes->generations[ROUTES_GENERATIONS_MAX] = (tm_generation){0};
    routes->in_force--;
}

bool tm_routes_commit(tm_routes *routes, uint64_t now_ms, uint64_t hold_ms) {
    if (!routes->is_making) {
        return false;
    }
    if (routes->in_force > 0) {
        routes->generations[routes->in_force - 1].until_ms = now_ms + hold_ms;
    }
    routes->is_making = false;
    routes->in_force++;
    if (routes->in_force > ROUTES_GENERATIONS_MAX) {
        drop_oldest(routes);
    }
    tm_routes_expire(routes, now_ms);
    return true;
}

/* Holds may differ: one that is over waits for those before it, which is no longer than they were promised. */
bool tm_routes_expire(tm_routes *routes, uint64_t now_ms) {
    bool any = false;
    while (routes->in_force > 1 && routes->generations[0].until_ms <= now_ms) {
        drop_oldest(routes);
        any = true;
    }
    return any;
}

uint8_t tm_routes_hop_limit(const tm_routes *routes) {
    uint8_t most = 0;
    for (uint32_t i = 0; i < routes->in_force; i++) {
        uint8_t limit = routes->generations[i].hop_limit;
        most = limit > most ? limit : most;
    }
    return most;
}

/* ---- who is in there ---- */

bool tm_generation_mention(tm_routes *routes, tm_generation *generation, uint32_t router) {
    if (!tm_grow(routes->memory, TM_COLD, &generation->mentions, sizeof *generation->mentions,
                 &generation->mention_words, router / 64 + 1)) {
        return false;
    }
    tm_bit_set(generation->mentions, router);
    return true;
}

static bool mentions(const tm_generation *generation, uint32_t router) {
    return router / 64 < generation->mention_words && tm_bit_at(generation->mentions, router);
}

bool tm_routes_mention(const tm_routes *routes, uint32_t router) {
    for (uint32_t i = 0; i < routes->in_force + routes->is_making; i++) {
        if (mentions(&routes->generations[i], router)) {
            return true;
        }
    }
    return false;
}

/* ---- asking ---- */

bool tm_routes_know(const tm_routes *routes, uint32_t source) {
    for (uint32_t i = 0; i < routes->in_force; i++) {
        if (tm_generation_route(&routes->generations[i], source) == NULL) {
            return false;
        }
    }
    return routes->in_force > 0;
}

bool tm_routes_accept(const tm_routes *routes, uint32_t source, uint32_t neighbour) {
    for (uint32_t i = 0; i < routes->in_force; i++) {
        const tm_route *route = tm_generation_route(&routes->generations[i], source);
        if (route != NULL && route->parent == neighbour) {
            return true;
        }
    }
    return false;
}

static void note_asking(tm_route *route, const tm_network *network) {
    memset(route->asking, 0, sizeof *route->asking * child_words(route->neighbour_count));
    for (uint32_t router = 0; router < route->way_count; router++) {
        if (route->ways[router] != WAY_NONE && tm_network_is_asking(network, router)) {
            tm_bit_set(route->asking, route->ways[router]);
        }
    }
    route->asking_version = network->version;
}

const uint64_t *tm_routes_asking(tm_routes *routes, uint32_t source, const tm_network *network, uint32_t *words) {
    static const uint64_t NOBODY = 0;
    tm_generation *generation = &routes->generations[0];
    *words = 1;
    if (tm_generation_route(generation, source) == NULL) {
        return &NOBODY;
    }
    tm_route *route = &generation->routes[source];
    *words = child_words(route->neighbour_count);
    if (route->asking == NULL) {
        route->asking = TM_NEW(routes->memory, TM_COLD, uint64_t, *words);
    } else if (route->asking_version == network->version) {
        return route->asking;
    }
    if (route->asking != NULL) {
        note_asking(route, network);
    }
    return route->asking;
}

static bool route_is_sound(const tm_generation *generation, const tm_route *route) {
    for (uint32_t router = 0; router < route->way_count; router++) {
        uint32_t way = route->ways[router];
        if (way != WAY_NONE &&
            (way >= route->neighbour_count || !tm_bit_at(route->children, way) || !mentions(generation, router))) {
            return false;
        }
    }
    return true;
}

bool tm_routes_are_sound(const tm_routes *routes) {
    bool sound = routes->in_force <= ROUTES_GENERATIONS_MAX;
    for (uint32_t i = 0; i < routes->in_force + routes->is_making && sound; i++) {
        const tm_generation *generation = &routes->generations[i];
        sound = i + 1 != routes->in_force || generation->until_ms == UINT64_MAX;
        for (uint32_t source = 0; source < generation->capacity && sound; source++) {
            const tm_route *route = tm_generation_route(generation, source);
            sound = route == NULL || (mentions(generation, source) && route_is_sound(generation, route));
        }
    }
    return sound;
}
