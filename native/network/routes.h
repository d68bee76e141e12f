/* routes.h - routes of messages: the neighbour they are accepted from, and the next hop to each router.
 *
 * Law: routes depend on topology, not on filters. A generation holds the routes of one topology; it is built aside and
 * put in force whole. Earlier ones stay in force for their hold, at most ROUTES_GENERATIONS_MAX, the oldest leaving
 * first: a message is accepted from the parent of any of them and follows the next hops of all of them (R5b).
 *
 *     generation   [key] -> route: parent, block of next hops (next_hops.h)
 *
 * A route is that of a source, or of the tree of a root, along which messages of any source go (ROUTE, mode TREE).
 */
#ifndef TM_ROUTES_H
#define TM_ROUTES_H

#include "network/combined.h"

#define ROUTES_GENERATIONS_MAX COMBINED_NEXT_HOPS_MAX

/* Keys of routes: that of a source or of a tree, as one number. */
static inline uint32_t tm_key_of_source(uint32_t router) {
    return 2 * router;
}
static inline uint32_t tm_key_of_tree(uint32_t root) {
    return 2 * root + 1;
}
static inline bool tm_key_is_tree(uint32_t key) {
    return (key & 1) != 0;
}
static inline uint32_t tm_key_router(uint32_t key) {
    return key / 2;
}

/* The route of one key in one generation. Routers and neighbours are indices. */
typedef struct tm_route {
    uint32_t next_hops; /* id of a block, with a hold, of next hops to routers with filters; NEXT_HOPS_NONE: no route */
    uint32_t from; /* of a source: its parent neighbour, or NEXT_HOP_NONE; of a tree: id of a block, with a hold, of the
                      neighbour towards each router on the tree */
    /* in the newest generation alone: */
    uint32_t combined;    /* grouping with the earlier generations, or COMBINED_NONE */
    uint32_t combined_at; /* value of `changes` when `combined` was set; 0: never */
} tm_route;

typedef struct tm_generation {
    uint32_t id;
    uint8_t hop_limit;  /* of messages that enter here */
    uint64_t until_ms;  /* in the newest: UINT64_MAX */
    tm_route *routes;   /* owned; by key */
    uint32_t capacity;  /* of `routes` */
    uint64_t *mentions; /* owned; bitset of routers that the routes of this generation refer to */
    uint32_t mention_words;
} tm_generation;

typedef struct tm_routes {
    tm_memory *memory; /* borrowed */
    tm_next_hops_store next_hops;
    tm_combined_store combined;
    uint32_t changes; /* changes with routes and with the generations in force; never 0 */
    tm_generation generations[ROUTES_GENERATIONS_MAX + 1]; /* oldest first; behind those in force the one being made */
    uint32_t in_force;
    uint64_t waits_until_ms; /* until then messages by newer routes wait for those by older ones (R5c) */
    bool is_making;
    uint32_t last_id;
} tm_routes;

void tm_routes_init(tm_routes *routes, tm_memory *memory, tm_table *table);
void tm_routes_clear(tm_routes *routes);

/* Begin a new generation; an unfinished one is discarded. Returns its id. */
uint32_t tm_routes_begin(tm_routes *routes, uint8_t hop_limit);
/* Return a generation in force or being made; NULL: there is no such one. */
tm_generation *tm_routes_generation(tm_routes *routes, uint32_t id);
/* Set a route with these next hops (copied) and no parent, in place of an older one. NULL: no memory, and nothing has
 * changed. */
tm_route *tm_routes_set(tm_routes *routes, tm_generation *generation, uint32_t key, const uint32_t *next_hops,
                        uint32_t next_hop_count);
/* Note that the generation refers to a router; false: no memory. */
bool tm_generation_mention(tm_routes *routes, tm_generation *generation, uint32_t router);
/* Put the new generation in force; false: none was being made. */
bool tm_routes_commit(tm_routes *routes, uint64_t now_ms, uint64_t hold_ms);
/* Remove generations whose hold is over; true if there was one */
bool tm_routes_expire(tm_routes *routes, uint64_t now_ms);

/* Return the hop limit of messages that enter here, the largest of the generations in force, since they may follow the
 * routes of each; 0: none is in force. */
uint8_t tm_routes_hop_limit(const tm_routes *routes);

/* true if a generation refers to the router */
bool tm_routes_mention(const tm_routes *routes, uint32_t router);

static inline const tm_route *tm_generation_route(const tm_generation *generation, uint32_t key) {
    return key < generation->capacity && generation->routes[key].next_hops != NEXT_HOPS_NONE ? &generation->routes[key]
                                                                                             : NULL;
}
/* Return the id of a key's block of next hops in a generation; NEXT_HOPS_NONE: it has no route. */
static inline uint32_t tm_generation_next_hops(const tm_generation *generation, uint32_t key) {
    return key < generation->capacity ? generation->routes[key].next_hops : NEXT_HOPS_NONE;
}
/* Return the next hop to a router with filters, by the key's route in generation `i`, or NEXT_HOP_NONE. */
static inline uint32_t tm_routes_next_hop(const tm_routes *routes, uint32_t i, uint32_t key, uint32_t router) {
    return tm_next_hops_towards(
        tm_next_hops_at(&routes->next_hops, tm_generation_next_hops(&routes->generations[i], key)), router);
}
/* Return the next hop to a router; along a tree also to routers without filters. NEXT_HOP_NONE: there is none. */
static inline uint32_t tm_routes_towards(const tm_routes *routes, uint32_t i, uint32_t key, uint32_t router) {
    const tm_route *route = tm_key_is_tree(key) ? tm_generation_route(&routes->generations[i], key) : NULL;
    return route != NULL ? tm_next_hops_towards(tm_next_hops_at(&routes->next_hops, route->from), router)
                         : tm_routes_next_hop(routes, i, key, router);
}
/* Return the neighbour that messages of a source come from by this route, or NEXT_HOP_NONE. */
static inline uint32_t tm_routes_from(const tm_routes *routes, const tm_route *route, uint32_t key, uint32_t source) {
    return tm_key_is_tree(key) ? tm_next_hops_towards(tm_next_hops_at(&routes->next_hops, route->from), source)
                               : route->from;
}

/* true if all generations in force have equal next hops for the key; `*next_hops` is the block's id, or NEXT_HOPS_NONE
 */
static inline bool tm_routes_agree(const tm_routes *routes, uint32_t key, uint32_t *next_hops) {
    *next_hops = tm_generation_next_hops(&routes->generations[0], key);
    for (uint32_t i = 1; i < routes->in_force; i++) {
        if (tm_generation_next_hops(&routes->generations[i], key) != *next_hops) {
            return false;
        }
    }
    return true;
}
/* Return the grouping of all generations in force, where they differ; `me` is this router. It is valid until the next
 * call. NULL: it could not be made. */
const tm_combined *tm_routes_combined(tm_routes *routes, uint32_t key, uint32_t me);

/* true if a generation is in force and the key has a route in every one */
bool tm_routes_know(const tm_routes *routes, uint32_t key);
/* true if messages of the source come from the neighbour in a generation in force */
bool tm_routes_accept(const tm_routes *routes, uint32_t key, uint32_t source, uint32_t neighbour);
bool tm_routes_are_sound(const tm_routes *routes);

#endif
