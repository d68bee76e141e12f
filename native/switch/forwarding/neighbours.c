/* neighbours.c - routers that links lead to, by their places. */
#include "switch/forwarding/neighbours.h"

#include "base/grow.h"
#include "switch/forwarding/net.h"

static int free_place(tm_switch *sw, uint32_t *place) {
    tm_net *net = sw->net;
    for (*place = 0; *place < net->neighbour_count; ++*place) {
        if (net->neighbours[*place].router == ROUTER_NONE) {
            return TM_OK;
        }
    }
    if (*place == TM_NEIGHBOURS_MAX) {
        return TM_TOO_MANY;
    }
    uint32_t words = *place / 64 + 1;
    if (!tm_grow(&sw->memory, TM_COLD, &net->departures, sizeof *net->departures, &net->departure_words, words) ||
        !tm_grow(&sw->memory, TM_COLD, &net->neighbours, sizeof *net->neighbours, &net->neighbour_capacity,
                 *place + 1)) {
        return TM_NO_MEMORY;
    }
    net->neighbour_count++;
    net->neighbours[*place] = (tm_neighbour){.router = ROUTER_NONE, .connection = CONNECTION_NONE};
    return TM_OK;
}

int switch_use_neighbour(tm_switch *sw, uint64_t number, uint32_t *place) {
    uint32_t router;
    int result = number == sw->options.number ? TM_MISUSED : switch_use_router(sw, number, &router);
    if (result != TM_OK) {
        return result;
    }
    tm_router *at = &sw->net->routers.rows[router];
    *place = at->neighbour;
    if (*place == NEIGHBOUR_NONE) {
        result = free_place(sw, place);
        if (result == TM_OK) {
            at->neighbour = *place;
            sw->net->neighbours[*place].router = router;
        }
    }
    return result;
}

int switch_join_neighbour(tm_switch *sw, uint32_t id, uint64_t number) {
    if (sw->net == NULL) {
        return TM_MISUSED;
    }
    uint32_t place;
    int result = switch_use_neighbour(sw, number, &place);
    if (result != TM_OK) {
        switch_sweep_routers(sw->net);
        return result;
    }
    switch_at(sw, id)->neighbour = place;
    sw->net->neighbours[place].connection = id;
    sw->net->neighbours[place].sessions++;
    return TM_OK;
}

void switch_leave_neighbour(tm_switch *sw, uint32_t id) {
    tm_neighbour *neighbour = &sw->net->neighbours[switch_at(sw, id)->neighbour];
    neighbour->sessions--;
    if (neighbour->connection == id) {
        neighbour->connection = CONNECTION_NONE;
    }
    switch_release_router(sw->net, neighbour->router);
}
