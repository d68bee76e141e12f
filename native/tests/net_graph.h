/* net_graph.h - a small graph with costs, and the unique shortest paths in it, as plainly as they can be found.
 *
 * Law: shares nothing with the routers that it judges; ties of equal cost are decided by bits of the edge's ends.
 */
#ifndef TM_TEST_NET_GRAPH_H
#define TM_TEST_NET_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#define ROUTERS 6

typedef struct net_graph {
    uint32_t cost[ROUTERS][ROUTERS]; /* 0: no edge */
    __uint128_t length[ROUTERS][ROUTERS];
} net_graph;

/* Find all lengths again, after a change of costs. */
void graph_measure(net_graph *graph);
bool graph_is_near(const net_graph *graph, unsigned a, unsigned b);
/* The first step from `from` to `to`. */
unsigned graph_next_hop(const net_graph *graph, unsigned from, unsigned to);

#endif
