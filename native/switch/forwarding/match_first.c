/* match_first.c - see match_first.h.
 *
 * Law: routers on the path send a message with a list towards the listed routers, and match no network table. The list
 * is identical in each copy: a router finds in it those that lie behind it. A message for more than `destinations_max`
 * routers has no list, nor has one that would exceed the frame limit; each router on its path matches it.
 */
#include "switch/forwarding/match_first.h"

#include <stdlib.h>

#include "base/grow.h"
#include "switch/forwarding/depart.h"

_Static_assert(TM_ROUTE_ROUTERS_MAX == WIRE_ROUTE_ROUTERS_MAX, "the limit of a ROUTE");

static int by_number(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

tm_message switch_with_route(tm_switch *sw, const tm_message *message, const uint8_t *route, uint32_t size) {
    tm_net *net = sw->net;
    uint32_t added = 4 + size;
    if (message->extension_size + added > WIRE_EXTENSIONS_MAX || message->size + added > DELIVERABLE_BYTES_MAX ||
        !tm_grow(&sw->memory, TM_COLD, &net->routed_frame, 1, &net->routed_capacity, message->size + added)) {
        return *message;
    }
    uint8_t *area = net->routed_frame + WIRE_HEADER_BYTES;
    memcpy(net->routed_frame, message->frame, WIRE_HEADER_BYTES);
    wire_store32(net->routed_frame, message->size + added);
    wire_store16(net->routed_frame + WIRE_EXTENSION_SIZE, (uint16_t)(message->extension_size + added));
    wire_store16(area, WIRE_ROUTE);
    wire_store16(area + 2, (uint16_t)size);
    memcpy(area + 4, route, size);
    memcpy(area + added, message->frame + WIRE_HEADER_BYTES, message->size - WIRE_HEADER_BYTES);
    tm_message routed = *message;
    routed.frame = net->routed_frame;
    routed.size = message->size + added;
    routed.extension_size = message->extension_size + added;
    routed.route_bytes = added;
    return routed;
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
