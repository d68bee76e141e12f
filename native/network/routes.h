/* routes.h - which way messages go: from whom they are taken, and behind which neighbour each router lies.
 *
 * Law: topology is in here and filters are not. A generation is what one topology says; it is made on the side and put
 * in force whole. Those before it stay in force for their hold, ROUTES_GENERATIONS_MAX at most, the oldest going first:
 * a message is taken from the parent of any of them and goes the ways of all of them (R5b).
 *
 *     generation   [key] -> route: from whom, block of ways (next_hops.h)
 *
 * A route is that of a source, or of the tree of a root, along which messages of any source go (ROUTE, mode TREE).
 */
#ifndef TM_ROUTES_H
#define TM_ROUTES_H

#include "network/combined.h"

#define ROUTES_GENERATIONS_MAX COMBINED_NEXT_HOPS_MAX

/* What a route is of, as one number. */
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

/* Of one key in one generation. Routers and neighbours are indices. */
typedef struct tm_route {
    uint32_t next_hops; /* id of a block, held: who wants something, and where; NEXT_HOPS_NONE: no route was set */
    uint32_t from;      /* of a source: the neighbour that its messages come from, or NEXT_HOP_NONE; of a tree: id of a
                         * block, held, that says so of each source, and so where each router lies on the tree */
    /* of the newest generation */
    uint32_t combined;    /* with the generations before it: the id of the grouping, or COMBINED_NONE */
    uint32_t combined_at; /* the value of `changes` when that was found; 0: never */
} tm_route;

typedef struct tm_generation {
    uint32_t id;
    uint8_t hop_limit;  /* of messages that enter here */
    uint64_t until_ms;  /* of the newest: never */
    tm_route *routes;   /* owned; by key */
    uint32_t capacity;  /* of it */
    uint64_t *mentions; /* owned; bitset over routers: those that any route of this generation names */
    uint32_t mention_words;
} tm_generation;

typedef struct tm_routes {
    tm_memory *memory; /* borrowed */
    tm_next_hops_store next_hops;
    tm_combined_store combined;
    uint32_t changes;                                      /* of routes, or of what is in force; never 0 */
    tm_generation generations[ROUTES_GENERATIONS_MAX + 1]; /* oldest first; behind those in force the one being made */
    uint32_t in_force;
    uint64_t waits_until_ms; /* messages by the newest wait for those by the others (R5c) */
    bool is_making;
    uint32_t last_id;
} tm_routes;

void tm_routes_init(tm_routes *routes, tm_memory *memory, tm_table *table);
void tm_routes_clear(tm_routes *routes);

/* A new generation to be made; one that was not finished is thrown away. */
uint32_t tm_routes_begin(tm_routes *routes, uint8_t hop_limit);
/* NULL: no such generation is in force or being made. */
tm_generation *tm_routes_generation(tm_routes *routes, uint32_t id);
/* A route by the `next_hop_count` ways (copied), from nowhere yet; one that was there is replaced. NULL: no memory, and
 * nothing has changed. */
tm_route *tm_routes_set(tm_routes *routes, tm_generation *generation, uint32_t key, const uint32_t *next_hops,
                        uint32_t next_hop_count);
/* Note that the generation speaks of a router. false: no memory. */
bool tm_generation_mention(tm_routes *routes, tm_generation *generation, uint32_t router);
/* In force from now on; false: none was being made. */
bool tm_routes_commit(tm_routes *routes, uint64_t now_ms, uint64_t hold_ms);
/* Drop generations whose hold is over; was there one? */
bool tm_routes_expire(tm_routes *routes, uint64_t now_ms);

/* Of messages that enter here: the largest of those in force, as they may take the ways of each. 0: none is. */
uint8_t tm_routes_hop_limit(const tm_routes *routes);

/* Does a generation speak of the router? */
bool tm_routes_mention(const tm_routes *routes, uint32_t router);

static inline const tm_route *tm_generation_route(const tm_generation *generation, uint32_t key) {
    return key < generation->capacity && generation->routes[key].next_hops != NEXT_HOPS_NONE ? &generation->routes[key]
                                                                                             : NULL;
}
/* The id of a key's block of ways in a generation; NEXT_HOPS_NONE: it has no route. */
static inline uint32_t tm_generation_next_hops(const tm_generation *generation, uint32_t key) {
    return key < generation->capacity ? generation->routes[key].next_hops : NEXT_HOPS_NONE;
}
/* The neighbour behind which a router that wants something lies, by the key's route in generation `i`, or
 * NEXT_HOP_NONE. */
static inline uint32_t tm_routes_next_hop(const tm_routes *routes, uint32_t i, uint32_t key, uint32_t router) {
    return tm_next_hops_towards(
        tm_next_hops_at(&routes->next_hops, tm_generation_next_hops(&routes->generations[i], key)), router);
}
/* Along a tree also routers that want nothing have a way: the neighbour behind which one lies, or NEXT_HOP_NONE. */
static inline uint32_t tm_routes_towards(const tm_routes *routes, uint32_t i, uint32_t key, uint32_t router) {
    const tm_route *route = tm_key_is_tree(key) ? tm_generation_route(&routes->generations[i], key) : NULL;
    return route != NULL ? tm_next_hops_towards(tm_next_hops_at(&routes->next_hops, route->from), router)
                         : tm_routes_next_hop(routes, i, key, router);
}
/* The neighbour that messages of a source come from by a route of its own or of a tree, or NEXT_HOP_NONE. */
static inline uint32_t tm_routes_from(const tm_routes *routes, const tm_route *route, uint32_t key, uint32_t source) {
    return tm_key_is_tree(key) ? tm_next_hops_towards(tm_next_hops_at(&routes->next_hops, route->from), source)
                               : route->from;
}

/* Have all generations in force the same ways for the key? `*ways` is their block's id, or NEXT_HOPS_NONE. */
static inline bool tm_routes_agree(const tm_routes *routes, uint32_t key, uint32_t *next_hops) {
    *next_hops = tm_generation_next_hops(&routes->generations[0], key);
    for (uint32_t i = 1; i < routes->in_force; i++) {
        if (tm_generation_next_hops(&routes->generations[i], key) != *next_hops) {
            return false;
        }
    }
    return true;
}
/* Where they differ: the grouping of all of them; `me` is this router. NULL: none could be made. Good until the next
 * one is asked for. */
const tm_combined *tm_routes_combined(tm_routes *routes, uint32_t key, uint32_t me);

/* Has the key a route in every generation in force (and is one in force)? */
bool tm_routes_know(const tm_routes *routes, uint32_t key);
/* Do messages of the source come from the neighbour in one of them? */
bool tm_routes_accept(const tm_routes *routes, uint32_t key, uint32_t source, uint32_t neighbour);
bool tm_routes_are_sound(const tm_routes *routes);

#endif
