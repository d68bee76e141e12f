/* match_first.c - see match_first.h.
 *
 * Law: routers on the path send a message with a list towards the listed routers, and match no network table. The list
 * is identical in each copy: a router finds in it those that lie behind it. A message for more than `destinations_max`
 * routers has no list, nor has one that would exceed the frame limit; each router on its path matches it.
 */
#include "switch/forwarding/match_first.h"

#include <stdlib.h>

#include "switch/forwarding/depart.h"
#include "switch/forwarding/route.h"

_Static_assert(TM_ROUTE_ROUTERS_MAX == WIRE_ROUTE_ROUTERS_MAX, "the limit of a ROUTE");

static int by_number(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Return the message with a list of these routers; unchanged if they are too many. */
static tm_message with_list(tm_switch *sw, const tm_message *message, const uint32_t *routers, uint32_t count) {
    tm_net *net = sw->net;
    uint64_t numbers[TM_ROUTE_ROUTERS_MAX];
    uint8_t route[1 + 8 * TM_ROUTE_ROUTERS_MAX];
    if (count == 0 || count > net->destinations_max) {
        return *message;
    }
    for (uint32_t i = 0; i < count; i++) {
        numbers[i] = net->routers.rows[routers[i]].number;
    }
    qsort(numbers, count, sizeof *numbers, by_number);
    route[0] = WIRE_ROUTE_LIST;
    for (uint32_t i = 0; i < count; i++) {
        wire_store64(route + 1 + i * 8U, numbers[i]);
    }
    return switch_with_route(sw, message, route, 1 + 8 * count);
}

int switch_match_first(tm_switch *sw, const tm_message *message, uint32_t key, uint32_t came_from, uint32_t *behind) {
    tm_net *net = sw->net;
    if (came_from != NEIGHBOUR_NONE || message->members_only || net->network.count == 0 || net->routes.in_force == 0) {
        return switch_depart(sw, message, key, came_from, behind);
    }
    uint32_t count;
    *behind = 0;
    int result = switch_mark_wanting(sw, message, key, came_from, &count, behind);
    if (result == TM_OK) {
        tm_message routed = with_list(sw, message, net->found, count);
        switch_mark_chosen(net, message, key, came_from, behind);
        switch_queue_marked(sw, &routed);
    }
    return result;
}
