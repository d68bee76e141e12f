/* net_graph.c - see net_graph.h. */
#include "net_graph.h"

#define FAR ((__uint128_t)1 << 120)

static __uint128_t weight(const net_graph *graph, unsigned a, unsigned b) {
    uint64_t low = a < b ? a : b;
    uint64_t high = a < b ? b : a;
    uint64_t bits = (low * ROUTERS + high + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return (__uint128_t)graph->cost[a][b] << 64 | bits >> 8;
}

void graph_measure(net_graph *graph) {
    for (unsigned a = 0; a < ROUTERS; a++) {
        for (unsigned b = 0; b < ROUTERS; b++) {
            graph->length[a][b] = a == b ? 0 : graph->cost[a][b] > 0 ? weight(graph, a, b) : FAR;
        }
    }
    for (unsigned via = 0; via < ROUTERS; via++) {
        for (unsigned a = 0; a < ROUTERS; a++) {
            for (unsigned b = 0; b < ROUTERS; b++) {
                __uint128_t length = graph->length[a][via] + graph->length[via][b];
                graph->length[a][b] = length < graph->length[a][b] ? length : graph->length[a][b];
            }
        }
    }
}

bool graph_is_near(const net_graph *graph, unsigned a, unsigned b) {
    return graph->length[a][b] < FAR;
}

unsigned graph_next_hop(const net_graph *graph, unsigned from, unsigned to) {
    unsigned hop = 0;
    while (graph->cost[from][hop] == 0 ||
           weight(graph, from, hop) + graph->length[hop][to] != graph->length[from][to]) {
        hop++;
    }
    return hop;
}
