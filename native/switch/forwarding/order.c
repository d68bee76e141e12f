/* order.c - see order.h.
 *
 * Law (R5c): for a while after new routes, a message from one parent of its source waits as long as an earlier parent
 * is linked and has not brought it, or a later one of that source by that tree: it could otherwise overtake messages on
 * the old route. Messages by the trees of different roots are not ordered against each other. All input behind it on
 * its link waits, too, and the socket is not read meanwhile: order is kept, and at most one read of each link is
 * buffered. Nothing waits if an old route has broken (tm_switch_commit).
 */
#include "switch/forwarding/order.h"

#include "switch/connections/connection.h"
#include "switch/connections/step.h"

static bool is_message_of_link(tm_switch *sw, uint32_t id, const uint8_t *frame, size_t size) {
    const tm_connection *connection = switch_at(sw, id);
    return size >= WIRE_HEADER_BYTES && frame[WIRE_KIND] <= WIRE_DRY_RUN && connection->state == CONNECTION_OPEN &&
           switch_is_link(connection);
}

static uint32_t parent_in(const tm_net *net, uint32_t generation, uint32_t key, uint32_t source) {
    return tm_routes_from(&net->routes, tm_generation_route(&net->routes.generations[generation], key), key, source);
}

/* true if messages by an earlier route than that of `neighbour` may still arrive. A route is as old as the oldest
 * generation that has it, among those in force for as long as messages wait: of two routes at most one is the earlier,
 * so no two links wait for each other */
static bool is_earlier_way_open(const tm_net *net, uint32_t key, uint32_t source, uint32_t neighbour) {
    const tm_routes *routes = &net->routes;
    bool is_open = false;
    for (uint32_t i = 0; i < routes->in_force; i++) {
        uint32_t parent =
            routes->generations[i].until_ms < routes->waits_until_ms ? NEXT_HOP_NONE : parent_in(net, i, key, source);
        if (parent == neighbour) {
            return is_open;
        }
        is_open = is_open || (parent != NEXT_HOP_NONE && net->neighbours[parent].connection != CONNECTION_NONE);
    }
    return false;
}

/* true if the message came by a new route and none as late by an older one. Not inline: most messages do not wait */
static __attribute__((noinline)) bool is_ahead(tm_switch *sw, uint32_t id, const uint8_t *frame, size_t size) {
    const tm_net *net = sw->net;
    uint64_t number = tm_load64(frame + WIRE_TRANSIT);
    uint64_t root = switch_root_of(frame, size);
    uint32_t source = tm_routers_find(&net->routers, number);
    uint32_t router = root == 0 ? source : tm_routers_find(&net->routers, root);
    uint32_t key = root == 0 ? tm_key_of_source(router) : tm_key_of_tree(router);
    if (source == ROUTER_NONE || router == ROUTER_NONE || !tm_routes_know(&net->routes, key)) {
        return false; /* it is handed to Python, and comes back */
    }
    tm_reached_row message = {number, root, tm_load64(frame + WIRE_TRANSIT + 8), tm_load64(frame + WIRE_TRANSIT + 16)};
    return is_earlier_way_open(net, key, source, switch_at(sw, id)->neighbour) &&
           !tm_reached_has(&net->reached, &message) &&
           !tm_windows_has_seen(&net->transit, number, message.epoch, message.counter);
}

bool switch_must_follow(tm_switch *sw, uint32_t id, const uint8_t *frame, size_t size) {
    const tm_net *net = sw->net;
    return net != NULL && sw->now_ms < net->routes.waits_until_ms && is_message_of_link(sw, id, frame, size) &&
           is_ahead(sw, id, frame, size);
}

void switch_note_reached(tm_switch *sw, const tm_message *message) {
    uint64_t root = switch_root_of(message->frame, message->size);
    tm_reached_row row = {message->source, root, message->epoch, message->counter};
    tm_reached_note(&sw->net->reached, &row);
}

void switch_follow(tm_switch *sw, uint32_t id) {
    if (!switch_at(sw, id)->waits_for_way) {
        switch_at(sw, id)->waits_for_way = true;
        sw->ordered_count++;
        switch_stop_reading(sw, id);
    }
}

void switch_follow_no_more(tm_switch *sw, uint32_t id) {
    if (switch_at(sw, id)->waits_for_way) {
        switch_at(sw, id)->waits_for_way = false;
        sw->ordered_count--;
        switch_go_on_reading(sw, id);
    }
}
