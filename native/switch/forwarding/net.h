/* net.h - the network state of a switch: neighbours, routes and the filters of other routers.
 *
 * Law: data about routers is kept by their index (routers.h), data about neighbours by their place, so that routes do
 * not depend on connections: a new session of a neighbour changes no route. A router or a place that nothing refers to
 * is free again.
 */
#ifndef TM_SWITCH_NET_H
#define TM_SWITCH_NET_H

#include "model/wire.h"
#include "network/group_filters.h"
#include "network/publishers.h"
#include "network/reached.h"
#include "network/routes.h"
#include "network/windows.h"
#include "switch/forwarding/keys.h"
#include "switch/forwarding/reuse.h"
#include "switch/matching/small_plan.h"

#define NEIGHBOUR_NONE UINT32_MAX

typedef struct tm_neighbour {
    uint32_t router;     /* ROUTER_NONE: a free place */
    uint32_t connection; /* latest session, which its messages go to, or CONNECTION_NONE */
    uint32_t sessions;   /* connections admitted as this neighbour, including older ones that still live */
    uint32_t unlinked;   /* messages for it that found no connection, since the last query */
} tm_neighbour;

typedef struct tm_forwarding tm_forwarding; /* forward.h */

/* A router, by its index, with its number of members of a group for the current message. */
typedef struct tm_candidate {
    uint32_t group;
    uint32_t router;
    uint32_t members;
} tm_candidate;

/* State of one choice of a message at this router. */
typedef enum {
    SHARE_OPEN,  /* no member found yet */
    SHARE_TAKEN, /* a member gets it */
    SHARE_SEEN,  /* a member here got an earlier attempt */
    SHARE_LOST,  /* no memory to record it */
} tm_share;

/* Buffers for the choices of worker groups (group_choice.c). */
typedef struct tm_choosing {
    uint32_t *routers; /* owned; rows of a match */
    uint32_t *handles; /* owned */
    uint32_t router_capacity;
    uint32_t handle_capacity;
    tm_candidate *candidates; /* owned */
    uint32_t candidate_capacity;
    uint8_t *frame; /* owned: the message with its choices */
    uint32_t frame_capacity;
    tm_share shares[WIRE_CHOICES_MAX]; /* by choice of the current message */
    tm_publishers had;                 /* by publisher and group: the messages that a member here got */
} tm_choosing;

/* Roots of the trees that messages which enter here follow (by_root.c). */
typedef struct tm_classes {
    tm_table *table;                    /* borrowed; NULL: there are no classes */
    uint64_t roots[TM_CLASSES_MAX + 1]; /* router numbers by class; the last is for messages in no class */
    uint32_t count;                     /* number of classes */
    bool is_known;                      /* false: there are no roots */
} tm_classes;

typedef struct tm_net {
    tm_routers routers;
    tm_network network;
    tm_group_filters shared;
    tm_routes routes;
    tm_windows transit;
    tm_reached reached; /* arrivals since the last commit of routes, while messages wait for older routes (R5c) */
    const tm_forwarding *forwarding; /* borrowed, with static lifetime */
    uint32_t me;                     /* index of this router */
    uint64_t epoch_max;              /* higher epochs of a source are rejected */

    tm_neighbour *neighbours;
    uint32_t neighbour_count; /* high-water mark */
    uint32_t neighbour_capacity;

    /* rows of a match; has room for all routers, and thereby for all neighbours */
    uint32_t *found;
    uint32_t *handles;
    uint32_t found_capacity;
    uint32_t handle_capacity;
    uint64_t *departures; /* bitset of marked neighbours */
    uint32_t departure_words;
    tm_small_plan *plans; /* owned; one for each form of the switch */

    tm_choosing choosing;
    tm_reuse reuse;
    tm_link_keys keys;
    tm_classes classes;

    uint8_t *routed_frame; /* owned: a message with the ROUTE that it gets here (route.c) */
    uint32_t routed_capacity;
    uint32_t destinations_max; /* most routers that a message lists */

    tm_link_drops link_drops[TM_LINK_DROP_ROWS]; /* since the last query */
    uint32_t link_drop_count;
} tm_net;

/* Return the index of a router; `found` and the plans then have room for every router. */
int switch_use_router(tm_switch *sw, uint64_t number, uint32_t *index);
/* Free an index if nothing refers to the router. */
void switch_release_router(tm_net *net, uint32_t router);
/* Free the index of every router that nothing refers to, after generations were removed. */
void switch_sweep_routers(tm_net *net);
void switch_net_free(tm_net *net, tm_memory *memory);
bool switch_net_is_sound(const tm_net *net);

#endif
