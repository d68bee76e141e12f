/* routes.c - see routes.h. */
#include "network/routes.h"

#include <string.h>

#include "base/bits.h"
#include "base/grow.h"

void tm_routes_init(tm_routes *routes, tm_memory *memory, tm_table *table) {
    *routes = (tm_routes){.memory = memory, .changes = 1};
    tm_next_hops_init(&routes->next_hops, memory, table);
    tm_combined_init(&routes->combined, &routes->next_hops);
}

/* Invalidate what was cached about routes. */
static void note_change(tm_routes *routes) {
    routes->changes += 1 + (routes->changes == UINT32_MAX);
}

/* ---- a route ---- */

/* Release the blocks of a route. */
static void release(tm_routes *routes, uint32_t key, const tm_route *route) {
    if (tm_key_is_tree(key) && route->next_hops != NEXT_HOPS_NONE) {
        tm_next_hops_release(&routes->next_hops, route->from);
    }
    tm_next_hops_release(&routes->next_hops, route->next_hops);
}

tm_route *tm_routes_set(tm_routes *routes, tm_generation *generation, uint32_t key, const uint32_t *next_hops,
                        uint32_t next_hop_count) {
    if (!tm_grow(routes->memory, TM_COLD, &generation->routes, sizeof *generation->routes, &generation->capacity,
                 key + 1)) {
        return NULL;
    }
    uint32_t taken = tm_next_hops_take(&routes->next_hops, next_hops, next_hop_count);
    if (taken == NEXT_HOPS_NONE) {
        return NULL;
    }
    tm_route *route = &generation->routes[key];
    release(routes, key, route);
    *route = (tm_route){.next_hops = taken, .from = tm_key_is_tree(key) ? NEXT_HOPS_NONE : NEXT_HOP_NONE};
    note_change(routes);
    return route;
}

/* ---- generations ---- */

static void clear_generation(tm_routes *routes, tm_generation *generation) {
    for (uint32_t key = 0; key < generation->capacity; key++) {
        release(routes, key, &generation->routes[key]);
    }
    TM_DELETE(routes->memory, TM_COLD, generation->routes, tm_route, generation->capacity);
    TM_DELETE(routes->memory, TM_COLD, generation->mentions, uint64_t, generation->mention_words);
    *generation = (tm_generation){0};
}

void tm_routes_clear(tm_routes *routes) {
    tm_combined_clear(&routes->combined);
    for (uint32_t i = 0; i <= ROUTES_GENERATIONS_MAX; i++) {
        clear_generation(routes, &routes->generations[i]);
    }
    tm_next_hops_free(&routes->next_hops);
    tm_routes_init(routes, routes->memory, routes->next_hops.table);
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

static void forget_combined(tm_routes *routes) {
    tm_combined_clear(&routes->combined);
    note_change(routes);
}

static void drop_oldest(tm_routes *routes) {
    clear_generation(routes, &routes->generations[0]);
    memmove(&routes->generations[0], &routes->generations[1], sizeof(tm_generation) * ROUTES_GENERATIONS_MAX);
    routes->generations[ROUTES_GENERATIONS_MAX] = (tm_generation){0};
    routes->in_force--;
    forget_combined(routes);
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
    forget_combined(routes);
    if (routes->in_force > ROUTES_GENERATIONS_MAX) {
        drop_oldest(routes);
    }
    tm_routes_expire(routes, now_ms);
    return true;
}

/* Holds may differ: a generation whose hold is over waits until the older ones expire; it is not held longer than they
 * are. */
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

/* ---- routers in use ---- */

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

/* ---- queries ---- */

bool tm_routes_know(const tm_routes *routes, uint32_t key) {
    for (uint32_t i = 0; i < routes->in_force; i++) {
        if (tm_generation_route(&routes->generations[i], key) == NULL) {
            return false;
        }
    }
    return routes->in_force > 0;
}

bool tm_routes_accept(const tm_routes *routes, uint32_t key, uint32_t source, uint32_t neighbour) {
    for (uint32_t i = 0; i < routes->in_force; i++) {
        const tm_route *route = tm_generation_route(&routes->generations[i], key);
        if (route != NULL && tm_routes_from(routes, route, key, source) == neighbour) {
            return true;
        }
    }
    return false;
}

/* ---- several generations ---- */

const tm_combined *tm_routes_combined(tm_routes *routes, uint32_t key, uint32_t me) {
    const tm_generation *newest = &routes->generations[routes->in_force - 1];
    tm_route *noted = key < newest->capacity ? &newest->routes[key] : NULL;
    if (noted == NULL) {
        return NULL;
    }
    if (noted->combined_at != routes->changes) {
        tm_next_hop_blocks blocks = {.count = routes->in_force,
                                     .own = tm_generation_next_hops(newest, tm_key_of_source(me))};
        for (uint32_t i = 0; i < routes->in_force; i++) {
            blocks.ids[i] = tm_generation_next_hops(&routes->generations[i], key);
        }
        noted->combined = tm_combined_take(&routes->combined, &blocks);
        noted->combined_at = routes->changes;
    }
    return noted->combined != COMBINED_NONE ? tm_combined_at(&routes->combined, noted->combined) : NULL;
}

/* ---- soundness ---- */

static bool is_mentioned(const tm_generation *generation, const tm_next_hops *next_hops) {
    for (uint32_t router = 0; next_hops != NULL && router < next_hops->count; router++) {
        if (next_hops->by_router[router] != NEXT_HOP_NONE && !mentions(generation, router)) {
            return false;
        }
    }
    return true;
}

static bool route_is_sound(const tm_routes *routes, const tm_generation *generation, uint32_t key) {
    const tm_route *route = tm_generation_route(generation, key);
    return route == NULL ||
           (mentions(generation, tm_key_router(key)) &&
            is_mentioned(generation, tm_next_hops_at(&routes->next_hops, route->next_hops)) &&
            (!tm_key_is_tree(key) || is_mentioned(generation, tm_next_hops_at(&routes->next_hops, route->from))));
}

bool tm_routes_are_sound(const tm_routes *routes) {
    bool sound = routes->in_force <= ROUTES_GENERATIONS_MAX && tm_next_hops_are_sound(&routes->next_hops);
    for (uint32_t i = 0; i < routes->in_force + routes->is_making && sound; i++) {
        const tm_generation *generation = &routes->generations[i];
        sound = i + 1 != routes->in_force || generation->until_ms == UINT64_MAX;
        for (uint32_t key = 0; key < generation->capacity && sound; key++) {
            sound = route_is_sound(routes, generation, key);
        }
    }
    return sound;
}
