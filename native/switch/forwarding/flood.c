/* flood.c - see flood.h.
 *
 * Law: the answer equals that of depart.c. As long as every filter of the network table matches everything, a router
 * wants a message if it has a filter, and no table is matched: where all generations in force agree, their next hops
 * hold the links that lead to such routers, until a filter is added or removed. Otherwise, and for messages that are
 * traced, have choices for groups or whose shape the table has not seen, depart.c decides.
 */
#include "switch/forwarding/flood.h"

#include "switch/forwarding/depart.h"
#include "switch/observe/trail.h"

static void flood_by(tm_switch *sw, const tm_message *message, const uint64_t *links, uint32_t words,
                     uint32_t came_from, uint32_t *behind) {
    for (uint32_t word = 0; word < words; word++) {
        for (uint64_t bits = links[word]; bits != 0; bits &= bits - 1) {
            uint32_t place = word * 64 + (uint32_t)__builtin_ctzll(bits);
            if (place != came_from) {
                switch_queue_copy(sw, message, place);
                ++*behind;
            }
        }
    }
}

static void flood_by_all(tm_switch *sw, const tm_message *message, uint32_t key, uint32_t came_from, uint32_t *behind) {
    tm_net *net = sw->net;
    for (uint32_t router = 0; router < net->routers.count; router++) {
        if (tm_network_is_asking(&net->network, router)) {
            *behind += switch_mark_next_hops(net, key, router, came_from);
        }
    }
    switch_queue_marked(sw, message);
}

int switch_flood(tm_switch *sw, const tm_message *message, uint32_t key, uint32_t came_from, uint32_t *behind) {
    tm_net *net = sw->net;
    if (!tm_network_wants_all(&net->network) || net->routes.in_force == 0 || switch_is_traced(message) ||
        message->route_bytes > 0 || message->choice_count > 0 || !message->form->shape.is_trimmed) {
        return switch_depart(sw, message, key, came_from, behind);
    }
    *behind = 0;
    uint32_t block;
    if (!tm_routes_agree(&net->routes, key, &block)) {
        flood_by_all(sw, message, key, came_from, behind);
        return TM_OK;
    }
    if (block == NEXT_HOPS_NONE) {
        return TM_OK;
    }
    uint32_t words;
    const uint64_t *links = tm_next_hops_asking(&net->routes.next_hops, block, &net->network, &words);
    if (links == NULL) { /* no memory for the links */
        return switch_depart(sw, message, key, came_from, behind);
    }
    flood_by(sw, message, links, words, came_from, behind);
    return TM_OK;
}
