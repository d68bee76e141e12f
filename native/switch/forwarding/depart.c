/* depart.c - see depart.h.
 *
 * Law: a message goes to each neighbour that leads to a router that matches or was chosen for a worker group (R16), in
 * any generation in force (R5b, R6), never back to the neighbour it came from. A message with a list of routers goes to
 * these alone; one that follows the tree of a root also goes towards the root. Every link after the first takes a hop.
 */
#include "switch/forwarding/depart.h"

#include "base/bits.h"
#include "switch/access/border.h"
#include "switch/connections/queue.h"
#include "switch/forwarding/route.h"
#include "switch/matching/local.h"
#include "switch/matching/small_plan.h"
#include "switch/observe/link_drops.h"
#include "switch/observe/trail.h"

/* Write the transit id and the remaining hops into a copy. */
static void stamp(const tm_message *message, uint8_t *copy) {
    copy[WIRE_HOPS] = message->hops_onward;
    wire_store64(copy + WIRE_TRANSIT, message->source);
    wire_store64(copy + WIRE_TRANSIT + 8, message->epoch);
    wire_store64(copy + WIRE_TRANSIT + 16, message->counter);
}

/* true if ROUTE is cut from the copy for a neighbour, which does not know it or whose frame limit it exceeds; that
 * neighbour matches the message */
static bool cuts_route(const tm_message *message, const tm_admission *terms) {
    if (message->route_bytes == 0) {
        return false;
    }
    unsigned mode = switch_route_mode(message);
    bool is_known = mode == WIRE_ROUTE_SET    ? terms->takes_set
                    : mode == WIRE_ROUTE_TREE ? terms->takes_tree
                    : mode == WIRE_ROUTE_KEYS ? terms->takes_keys
                                              : terms->takes_route;
    return !is_known || message->size > terms->frame_bytes_max;
}

static void write_unrouted(const tm_message *message, uint8_t *out) {
    uint32_t size = message->size - message->route_bytes;
    memcpy(out, message->frame, WIRE_HEADER_BYTES);
    memcpy(out + WIRE_HEADER_BYTES, message->frame + WIRE_HEADER_BYTES + message->route_bytes,
           size - WIRE_HEADER_BYTES);
    wire_store32(out, size);
    wire_store16(out + WIRE_EXTENSION_SIZE, (uint16_t)(message->extension_size - message->route_bytes));
}

/* Return room for a copy that the queue of a link has not taken at once: its border lets the copy leave, and there is
 * room. NULL: one of these is not so. */
static __attribute__((cold, noinline)) uint8_t *take_second(tm_switch *sw, const tm_message *message, uint32_t place,
                                                            uint32_t size) {
    uint32_t link = sw->net->neighbours[place].connection;
    uint8_t *out = NULL;
    if (switch_has_exit(sw, link)) {
        if (!switch_may_go(sw, message, link)) {
            return NULL;
        }
        out = switch_queue_allowed(sw, link, size);
    }
    if (out == NULL) {
        bool is_too_large = size > switch_at(sw, link)->admission.frame_bytes_max;
        switch_note_link_drops(sw, message, place, is_too_large ? WIRE_LOST_TOO_LARGE : WIRE_LOST_QUEUE_FULL);
    }
    return out;
}

static bool send_copy(tm_switch *sw, const tm_message *message, uint32_t place) {
    tm_neighbour *neighbour = &sw->net->neighbours[place];
    if (neighbour->connection == CONNECTION_NONE) {
        switch_count_drop(sw, TM_DROP_NO_LINK, 1, message->size);
        neighbour->unlinked++;
        return false;
    }
    const tm_admission *terms = &switch_at(sw, neighbour->connection)->admission;
    bool is_cut = cuts_route(message, terms);
    uint32_t size = message->size - (is_cut ? message->route_bytes : 0);
    uint8_t *out = switch_queue_onward(sw, neighbour->connection, size);
    if (out == NULL && (out = take_second(sw, message, place, size)) == NULL) {
        return false;
    }
    if (is_cut) {
        write_unrouted(message, out);
    } else {
        memcpy(out, message->frame, size);
    }
    stamp(message, out);
    sw->stats.forwarded++;
    switch_at(sw, neighbour->connection)->traffic.deliveries++;
    return true;
}

/* Inline on the path of most messages. */
static inline __attribute__((always_inline)) void queue_copy(tm_switch *sw, const tm_message *message, uint32_t place) {
    bool sent = send_copy(sw, message, place);
    if (message->trail != NULL) {
        const tm_neighbour *neighbour = &sw->net->neighbours[place];
        uint64_t number = sw->net->routers.rows[neighbour->router].number;
        switch_trail_add(sw, sent ? TM_TRACE_LINKS : TRAIL_DROPPED, number, neighbour->connection);
    }
}

void switch_queue_copy(tm_switch *sw, const tm_message *message, uint32_t place) {
    queue_copy(sw, message, place);
}

static inline __attribute__((always_inline)) int ask_network(tm_switch *sw, const tm_message *message, tm_query *query,
                                                             tm_hits *hits) {
    uint64_t start = switch_trail_clock(message);
    query->memo = message->form->shape.memo[SHAPE_NETWORK];
    int result = switch_ask(sw, sw->net->network.table, message->attribute_count, query, hits);
    switch_trail_matched(message, start);
    if (result == TM_OK) {
        tm_shape_note_asked(&message->form->shape, SHAPE_NETWORK);
    } else if (result != TM_TOO_COSTLY) {
        switch_count_drop(sw, TM_DROP_MEMORY, 1, message->size);
        switch_note_link_drops(sw, message, NEIGHBOUR_NONE, WIRE_LOST_QUEUE_FULL);
    }
    return result;
}

int switch_ask_network(tm_switch *sw, const tm_message *message, tm_query *query, tm_hits *hits) {
    return ask_network(sw, message, query, hits);
}

int switch_unanswered(int result, uint32_t *behind) {
    if (result != TM_TOO_COSTLY) {
        *behind = 1;
        return TM_OK;
    }
    return result;
}

void switch_teach_shape(tm_switch *sw, const tm_message *message) {
    if (!message->form->shape.is_trimmed) {
        tm_query query = {.group_count = sw->net->routers.count, .mode = TM_MATCH_INTERFACES};
        tm_hits hits = {.groups = sw->net->found, .capacity = sw->net->found_capacity};
        switch_ask_network(sw, message, &query, &hits);
    }
}

/* Depart by next hops that all generations in force share: the table itself answers with links, and stops when all of
 * `candidates` have matched. Inline, because most messages take this path. */
static inline __attribute__((always_inline)) int depart_by(tm_switch *sw, const tm_message *message,
                                                           const tm_next_hops *next_hops, const uint64_t *candidates,
                                                           uint32_t came_from, uint32_t *behind) {
    tm_net *net = sw->net;
    tm_query query = {.candidates = candidates,
                      .view = next_hops->view,
                      .group_count = next_hops->neighbour_count,
                      .mode = TM_MATCH_INTERFACES};
    tm_hits hits = {.groups = net->found, .capacity = net->found_capacity};
    int result = ask_network(sw, message, &query, &hits);
    if (result != TM_OK) {
        return switch_unanswered(result, behind);
    }
    for (size_t i = 0; i < hits.count; i++) {
        if (net->found[i] != came_from) {
            queue_copy(sw, message, net->found[i]);
            ++*behind;
        }
    }
    return TM_OK;
}

/* true if the newest trees bring a message to `router` by other routers, though this router has a route to it */
static bool is_others_business(const tm_net *net, uint32_t key, uint32_t router) {
    uint32_t newest = net->routes.in_force - 1;
    return tm_routes_next_hop(&net->routes, newest, key, router) == NEXT_HOP_NONE &&
           tm_routes_next_hop(&net->routes, newest, tm_key_of_source(net->me), router) != NEXT_HOP_NONE;
}

/* Mark a next hop, unless there is none, its link is down or the message came from it. */
static inline bool mark_next_hop(tm_net *net, uint32_t next_hop, uint32_t came_from, uint32_t *down) {
    if (next_hop == NEXT_HOP_NONE || next_hop == came_from) {
        return false;
    }
    if (net->neighbours[next_hop].connection == CONNECTION_NONE) {
        *down = next_hop;
        return false;
    }
    tm_bit_set(net->departures, next_hop);
    return true;
}

/* A link that is down is marked, so that the message is counted as lost on it, only if no other next hop leads to that
 * router. */
bool switch_mark_next_hops(tm_net *net, uint32_t key, uint32_t router, uint32_t came_from) {
    bool is_linked = false;
    uint32_t down = NEXT_HOP_NONE;
    for (uint32_t i = 0; i < net->routes.in_force; i++) {
        is_linked |= mark_next_hop(net, tm_routes_next_hop(&net->routes, i, key, router), came_from, &down);
    }
    if (down != NEXT_HOP_NONE && !is_linked && !is_others_business(net, key, router)) {
        tm_bit_set(net->departures, down);
    }
    return is_linked || down != NEXT_HOP_NONE;
}

/* Mark the next hops to a router that is addressed by number, whatever its filters. */
static bool mark_towards(tm_net *net, uint32_t key, uint32_t router, uint32_t came_from) {
    if (!tm_key_is_tree(key)) {
        return switch_mark_next_hops(net, key, router, came_from);
    }
    bool is_linked = false;
    uint32_t down = NEXT_HOP_NONE;
    for (uint32_t i = 0; i < net->routes.in_force; i++) {
        is_linked |= mark_next_hop(net, tm_routes_towards(&net->routes, i, key, router), came_from, &down);
    }
    if (down != NEXT_HOP_NONE && !is_linked) {
        tm_bit_set(net->departures, down);
    }
    return is_linked || down != NEXT_HOP_NONE;
}

/* Mark the next hops to the routers of a group. */
static bool mark_group(tm_net *net, const tm_next_hop_group *group, uint32_t came_from) {
    bool is_linked = false;
    uint32_t down = NEXT_HOP_NONE;
    for (uint32_t i = 0; i < net->routes.in_force; i++) {
        is_linked |= mark_next_hop(net, group->next_hops[i], came_from, &down);
    }
    if (down != NEXT_HOP_NONE && !is_linked && !group->is_reached) {
        tm_bit_set(net->departures, down);
    }
    return is_linked || down != NEXT_HOP_NONE;
}

static void note_matched(tm_switch *sw, const tm_message *message, uint32_t router, uint32_t handle) {
    const tm_net *net = sw->net;
    const tm_remote_filter *filter = &net->network.filters[handle];
    if (switch_is_traced(message) &&
        filter->router == router) { /* otherwise the filter is gone, until the table settles */
        switch_trail_add(sw, TM_TRACE_MATCHED, net->routers.rows[router].number, filter->id);
    }
}

void switch_queue_marked(tm_switch *sw, const tm_message *message) {
    tm_net *net = sw->net;
    for (uint32_t word = 0; word < net->departure_words; word++) {
        for (uint64_t bits = net->departures[word]; bits != 0; bits &= bits - 1) {
            switch_queue_copy(sw, message, word * 64 + (uint32_t)__builtin_ctzll(bits));
        }
        net->departures[word] = 0;
    }
}

/* Depart by a small plan, which tests the filters one by one. */
static int depart_by_plan(tm_switch *sw, const tm_message *message, const tm_small_plan *plan, uint32_t key,
                          uint32_t came_from, uint32_t *behind) {
    tm_net *net = sw->net;
    uint64_t start = switch_trail_clock(message);
    size_t count = tm_small_plan_match(plan, sw->attributes, net->found, net->handles, &sw->work);
    switch_trail_matched(message, start);
    if (tm_work_is_over(&sw->work)) {
        return TM_TOO_COSTLY;
    }
    for (size_t i = 0; i < count; i++) {
        *behind += switch_mark_next_hops(net, key, net->found[i], came_from);
    }
    switch_queue_marked(sw, message);
    return TM_OK;
}

/* true if all neighbours of a grouping are linked, so that a group whose neighbours get a copy anyway needs no match */
static bool is_all_linked(const tm_net *net, const tm_combined *combined) {
    for (uint64_t bits = combined->reached; bits != 0; bits &= bits - 1) {
        if (net->neighbours[__builtin_ctzll(bits)].connection == CONNECTION_NONE) {
            return false;
        }
    }
    return true;
}

/* Depart by all generations in force: the table answers with groups of routers that share their next hops. */
static int depart_by_combined(tm_switch *sw, const tm_message *message, const tm_combined *combined, uint32_t came_from,
                              uint32_t *behind) {
    tm_net *net = sw->net;
    tm_query query = {.view = combined->view, .group_count = combined->group_count, .mode = TM_MATCH_INTERFACES};
    if (is_all_linked(net, combined)) {
        query.reaches = combined->reaches;
        query.reached = came_from < 64 ? UINT64_C(1) << came_from : 0;
    }
    tm_hits hits = {.groups = net->found, .capacity = net->found_capacity};
    int result = switch_ask_network(sw, message, &query, &hits);
    if (result != TM_OK) {
        return switch_unanswered(result, behind);
    }
    for (size_t i = 0; i < hits.count; i++) {
        *behind += mark_group(net, &combined->groups[net->found[i]], came_from);
    }
    switch_queue_marked(sw, message);
    return TM_OK;
}

void switch_mark_chosen(tm_net *net, const tm_message *message, uint32_t key, uint32_t came_from, uint32_t *behind) {
    for (uint32_t i = 0; i < message->choice_count; i++) {
        uint64_t number = tm_load64(message->choices + i * WIRE_CHOICE_BYTES + 4);
        uint32_t router = tm_routers_find(&net->routers, number);
        if (router != ROUTER_NONE && router != net->me) {
            *behind += mark_towards(net, key, router, came_from);
        }
    }
}

int switch_mark_wanting(tm_switch *sw, const tm_message *message, uint32_t key, uint32_t came_from, uint32_t *count,
                        uint32_t *behind) {
    tm_net *net = sw->net;
    tm_query query = {.group_count = net->routers.count, .mode = TM_MATCH_WHICH};
    tm_hits hits = {.groups = net->found, .handles = net->handles, .capacity = net->found_capacity};
    int result = switch_ask_network(sw, message, &query, &hits);
    *count = 0;
    if (result != TM_OK) {
        return switch_unanswered(result, behind);
    }
    for (size_t i = 0; i < hits.count; i++) {
        if (switch_mark_next_hops(net, key, net->found[i], came_from)) {
            ++*behind;
            note_matched(sw, message, net->found[i], net->handles[i]);
            net->found[(*count)++] = net->found[i];
        }
    }
    return TM_OK;
}

/* Depart router by router, where matching filters are to be noted or there was no memory for a grouping. */
static int depart_by_all(tm_switch *sw, const tm_message *message, uint32_t key, uint32_t came_from, uint32_t *behind) {
    uint32_t count;
    int result = switch_mark_wanting(sw, message, key, came_from, &count, behind);
    if (result == TM_OK) {
        switch_mark_chosen(sw->net, message, key, came_from, behind);
        switch_queue_marked(sw, message);
    }
    return result;
}

/* Depart to the routers that the message lists, and to those chosen for worker groups. */
static int depart_routed(tm_switch *sw, const tm_message *message, uint32_t key, uint32_t came_from, uint32_t *behind) {
    tm_net *net = sw->net;
    if (net->routes.in_force == 0) {
        return TM_OK;
    }
    if (net->network.count > 0) {
        switch_teach_shape(sw, message); /* its shape must still learn the names */
    }
    if (switch_route_mode(message) == WIRE_ROUTE_ALL) {
        for (uint32_t router = 0; router < net->routers.count; router++) {
            *behind += switch_mark_next_hops(net, key, router, came_from);
        }
    }
    for (uint32_t i = 0; i < switch_route_count(message); i++) {
        uint32_t router = tm_routers_find(&net->routers, switch_route_router(message, i));
        if (router != ROUTER_NONE && router != net->me) {
            *behind += switch_mark_next_hops(net, key, router, came_from);
        }
    }
    switch_mark_chosen(net, message, key, came_from, behind);
    switch_queue_marked(sw, message);
    return TM_OK;
}

/* Depart to the routers chosen for worker groups, and to those that match. */
static int depart_chosen(tm_switch *sw, const tm_message *message, uint32_t key, uint32_t came_from, uint32_t *behind) {
    tm_net *net = sw->net;
    if (net->routes.in_force == 0) {
        return TM_OK;
    }
    if (net->network.count > 0 && !message->members_only) {
        return depart_by_all(sw, message, key, came_from, behind);
    }
    switch_mark_chosen(net, message, key, came_from, behind);
    switch_queue_marked(sw, message);
    return TM_OK;
}

#define CHILD_WORDS_MAX (1 + TM_NEIGHBOURS_MAX / 64)

/* Return the children whose links are not marked yet. */
static const uint64_t *unmarked(const tm_net *net, const tm_next_hops *next_hops, uint64_t room[CHILD_WORDS_MAX]) {
    for (uint32_t word = 0; word < tm_bit_words(next_hops->neighbour_count); word++) {
        room[word] = next_hops->children[word] & ~net->departures[word];
    }
    return room;
}

/* Depart to matching routers, and by marked links. Inline: a further call is measurable for every message, and
 * `has_marks` is constant. */
static inline __attribute__((always_inline)) int depart_wanted(tm_switch *sw, const tm_message *message, uint32_t key,
                                                               uint32_t came_from, bool has_marks, uint32_t *behind) {
    tm_net *net = sw->net;
    if (net->network.count == 0 || net->routes.in_force == 0) {
        return TM_OK;
    }
    uint32_t block;
    bool is_agreed = tm_routes_agree(&net->routes, key, &block);
    const tm_next_hops *next_hops = tm_next_hops_at(&net->routes.next_hops, block);
    if (is_agreed && (next_hops == NULL || next_hops->count == 0)) {
        switch_teach_shape(sw, message);
        return TM_OK;
    }
    tm_small_plan *plan = &net->plans[message->form->number];
    if (!switch_is_traced(message) && tm_small_plan_is_ready_for_network(plan, &net->network, &message->form->shape)) {
        return depart_by_plan(sw, message, plan, key, came_from, behind);
    }
    if (is_agreed && !switch_is_traced(message)) {
        uint64_t room[CHILD_WORDS_MAX];
        const uint64_t *candidates = has_marks ? unmarked(net, next_hops, room) : next_hops->children;
        return depart_by(sw, message, next_hops, candidates, came_from, behind);
    }
    const tm_combined *combined = switch_is_traced(message) ? NULL : tm_routes_combined(&net->routes, key, net->me);
    return combined != NULL ? depart_by_combined(sw, message, combined, came_from, behind)
                            : depart_by_all(sw, message, key, came_from, behind);
}

/* Depart along the tree of a root: towards the root, to matching routers and to those chosen. */
static int depart_along(tm_switch *sw, const tm_message *message, uint32_t key, uint32_t came_from, uint32_t *behind) {
    tm_net *net = sw->net;
    if (net->routes.in_force == 0) {
        return TM_OK;
    }
    switch_mark_chosen(net, message, key, came_from, behind);
    int result = TM_OK;
    if (!message->members_only) {
        uint32_t wanting = 0;
        *behind += mark_towards(net, key, tm_key_router(key), came_from);
        result = depart_wanted(sw, message, key, came_from, true, &wanting);
        *behind += wanting;
    }
    if (result == TM_OK) {
        switch_queue_marked(sw, message); /* links that are still marked */
    } else {
        memset(net->departures, 0, sizeof *net->departures * net->departure_words);
    }
    return result;
}

/* Depart without the keys of the message, which are those of one link: other links than that may lead on from here. */
static int depart_without_keys(tm_switch *sw, const tm_message *message, uint32_t key, uint32_t came_from,
                               uint32_t *behind) {
    tm_message plain;
    if (!switch_set_route(sw, message, NULL, 0, &plain)) {
        switch_count_drop(sw, TM_DROP_MEMORY, 1, message->size);
        switch_note_link_drops(sw, message, NEIGHBOUR_NONE, WIRE_LOST_QUEUE_FULL);
        *behind = 1;
        return TM_OK;
    }
    return switch_depart(sw, &plain, key, came_from, behind);
}

int switch_depart(tm_switch *sw, const tm_message *message, uint32_t key, uint32_t came_from, uint32_t *behind) {
    *behind = 0;
    if (tm_key_is_tree(key)) {
        return depart_along(sw, message, key, came_from, behind);
    }
    if (message->route_bytes > 0 && switch_route_mode(message) != WIRE_ROUTE_SET) {
        return switch_route_mode(message) == WIRE_ROUTE_KEYS ? depart_without_keys(sw, message, key, came_from, behind)
                                                             : depart_routed(sw, message, key, came_from, behind);
    }
    if (message->choice_count > 0) {
        return depart_chosen(sw, message, key, came_from, behind);
    }
    return depart_wanted(sw, message, key, came_from, false, behind);
}
