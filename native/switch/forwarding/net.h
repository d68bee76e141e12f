/* net.h - what a switch has that is one of several: neighbours, routes, and what other routers want.
 *
 * Law: everything about routers is kept by their index (routers.h), everything about neighbours by their place among
 * these, so that routes know nothing of connections: a new session of a neighbour changes no route. A router or a place
 * that nothing speaks of any more is free again.
 */
#ifndef TM_SWITCH_NET_H
#define TM_SWITCH_NET_H

#include "model/wire.h"
#include "network/group_filters.h"
#include "network/publishers.h"
#include "network/reached.h"
#include "network/routes.h"
#include "network/windows.h"
#include "switch/forwarding/reuse.h"
#include "switch/matching/small_plan.h"

#define NEIGHBOUR_NONE UINT32_MAX

typedef struct tm_neighbour {
    uint32_t router;     /* ROUTER_NONE: a free place */
    uint32_t connection; /* where its messages go: the latest session, or CONNECTION_NONE */
    uint32_t sessions;   /* connections that are admitted as it, an older one that still lives included */
    uint32_t unlinked;   /* messages for it that found no connection, since somebody asked */
} tm_neighbour;

typedef struct tm_forwarding tm_forwarding; /* forward.h */

/* A router, by its index, with members of a group for the message at hand. */
typedef struct tm_candidate {
    uint32_t group;
    uint32_t router;
    uint32_t members;
} tm_candidate;

/* A choice of a message, at this router. */
typedef enum {
    SHARE_OPEN,  /* no member has been found yet */
    SHARE_TAKEN, /* a member gets it */
    SHARE_SEEN,  /* a member here had an earlier try */
    SHARE_LOST,  /* no memory to remember it */
} tm_share;

/* What a choice for worker groups needs (group_choice.c). */
typedef struct tm_choosing {
    uint32_t *routers; /* owned; of a match */
    uint32_t *handles; /* owned */
    uint32_t router_capacity;
    uint32_t handle_capacity;
    tm_candidate *candidates; /* owned */
    uint32_t candidate_capacity;
    uint8_t *frame; /* owned: the message with its choices */
    uint32_t frame_capacity;
    tm_share shares[WIRE_CHOICES_MAX]; /* by choice: what became of the message at hand */
    tm_publishers had;                 /* by publisher and group: which messages a member here got */
} tm_choosing;

/* By which roots messages go that enter here (by_root.c). */
typedef struct tm_classes {
    tm_table *table;                    /* borrowed; NULL: there are no classes */
    uint64_t roots[TM_CLASSES_MAX + 1]; /* numbers, by class; the last one is that of what is in no class */
    uint32_t count;                     /* of classes */
    bool is_known;                      /* there are roots */
} tm_classes;

typedef struct tm_net {
    tm_routers routers;
    tm_network network;
    tm_group_filters shared;
    tm_routes routes;
    tm_windows transit;
    tm_reached reached;              /* since the last commit of routes, while messages wait for older ways (R5c) */
    const tm_forwarding *forwarding; /* borrowed: it lives as long as the program */
    uint32_t me;                     /* index of this router */
    uint64_t epoch_max;              /* later ones of a source are not believed */

    tm_neighbour *neighbours;
    uint32_t neighbour_count; /* high-water mark */
    uint32_t neighbour_capacity;

    /* of a match; room for all routers, of which neighbours are some */
    uint32_t *found;
    uint32_t *handles;
    uint32_t found_capacity;
    uint32_t handle_capacity;
    uint64_t *departures; /* bitset over neighbours */
    uint32_t departure_words;
    tm_small_plan *plans; /* owned; for each form of the switch */

    tm_choosing choosing;
    tm_reuse reuse;
    tm_classes classes;

    uint8_t *routed_frame; /* owned: a message that entered here, with the routers that it goes to */
    uint32_t routed_capacity;
    uint32_t destinations_max; /* routers that a message lists */

    tm_link_drops link_drops[TM_LINK_DROP_ROWS]; /* since somebody asked */
    uint32_t link_drop_count;
} tm_net;

/* Index of a router; a match that answers with every router, or a plan with every filter, has room afterwards. */
int switch_use_router(tm_switch *sw, uint64_t number, uint32_t *index);
/* Give an index back if nothing speaks of the router. */
void switch_release_router(tm_net *net, uint32_t router);
/* Give back the index of every router that nothing speaks of, after generations have gone. */
void switch_sweep_routers(tm_net *net);
void switch_net_free(tm_net *net, tm_memory *memory);
bool switch_net_is_sound(const tm_net *net);

#endif
