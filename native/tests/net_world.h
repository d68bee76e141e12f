/* net_world.h - several switches, joined by links whose bytes are carried by hand, and how they change.
 *
 * Law: nothing happens by itself: each step of a switch is one call here, and a test can have any of them fail for want
 * of memory.
 */
#ifndef TM_TEST_NET_WORLD_H
#define TM_TEST_NET_WORLD_H

#include "frames.h"
#include "net_graph.h"
#include "network/routes.h"
#include "records/records.h"

#define FILTERS_MAX 16 /* of the one client of each router: with those of all others, mostly more than a plan has */
#define ROUTER(i) (100 + (uint64_t)(i))
#define CLIENT(i) (1 + (uint64_t)(i))
#define TRACE_ID 77U

typedef struct held {
    bool live;
    uint32_t id;
    uint8_t *bytes; /* owned */
    uint32_t size;
} held;

typedef struct end {
    bool open;
    uint32_t connection;
    uint32_t subscriber; /* of a client */
} end;

typedef struct router {
    tm_switch *sw;
    tm_table *local;
    tm_table *network;
    tm_table *classes; /* NULL: messages go by the trees of their sources */
    end client;
    end links[ROUTERS];
    held held[FILTERS_MAX];
    uint32_t generations[ROUTES_GENERATIONS_MAX]; /* newest first */
    uint64_t counter;
    uint64_t got; /* messages, and their counters mixed, since the last look */
    uint64_t expected;
    uint64_t traces;
    tm_records *records; /* NULL: there are none */
    uint64_t recorded_clients;
    uint64_t recorded_links;
} router;

typedef struct net_world {
    dice dice;
    router routers[ROUTERS];
    net_graph graph;
    uint32_t next_id;
    uint64_t failing;
    uint32_t everything; /* of 16 filters, how many match everything */
    bool lazily;         /* routes are set when a message needs them */
    bool by_root;        /* messages go along the trees of roots */
    bool by_set;         /* messages carry the set of the routers that want them */
    bool weighs;         /* or not, as a switch finds worth its cost */
    uint8_t changes;     /* of filters: part of what a digest is over */
    bool by_keys;        /* copies carry keys of matching filters */
    uint64_t sets[2];    /* written, and believed, in all lives */
    uint64_t keys[2];    /* likewise */
} net_world;

extern net_world w;
/* What is being written, where one step needs it only. */
extern wire scratch;
extern frame out;

/* One frame or several from a connection; what the router says of it is looked after. */
void feed(router *at, uint32_t connection, const uint8_t *bytes, size_t size);
void handle(router *at, const tm_event *events, size_t count);
/* Take all that a connection has to send. */
size_t fetch(router *at, const end *from, uint8_t *to, size_t room);
/* Until nothing waits on any link. */
void carry_all(void);

/* false: for want of memory. */
bool admit(router *at, end *to, uint64_t number, bool is_link);
void shut(router *at, end *from);
void cut(unsigned a, unsigned b);
void join(unsigned a, unsigned b);
void reroute(router *at, uint32_t hold_ms);
void change_topology(void);
void change_filter(void);

#endif
