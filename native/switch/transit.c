/* transit.c - messages between routers: whether one from a link is taken, and to which links one goes on.
 *
 * Law: a message is taken from a parent in the tree of its source, once, with a hop left, in this order (R5, R11). It
 * goes to each neighbour behind which somebody wants it in any generation in force (R5b, R6), never back to where it
 * came from. Every link after the first takes a hop. Its identity from end to end is looked at before local delivery
 * alone: a copy that somebody here has had is still news to those behind.
 */
#include "switch/message.h"

/* ---- departures -------------------------------------------------------------------------------------------------- */

static bool send_copy(tm_switch *sw, const parts *message, uint32_t place) {
    tm_neighbour *neighbour = &sw->net->neighbours[place];
    if (neighbour->connection == CONNECTION_NONE) {
        switch_count_drop(sw, TM_DROP_NO_LINK, 1, message->size);
        neighbour->unlinked++;
        return false;
    }
    uint8_t *out = switch_queue_data(sw, neighbour->connection, message->size, message->from);
    if (out == NULL) {
        bool is_too_large = message->size > switch_at(sw, neighbour->connection)->admission.frame_bytes_max;
        switch_note_shed(sw, message, place, is_too_large ? WIRE_LOST_TOO_LARGE : WIRE_LOST_QUEUE_FULL);
        return false;
    }
    memcpy(out, message->frame, message->size);
    out[WIRE_HOPS] = message->hops_onward;
    wire_store64(out + WIRE_TRANSIT, message->source);
    wire_store64(out + WIRE_TRANSIT + 8, message->epoch);
    wire_store64(out + WIRE_TRANSIT + 16, message->counter);
    sw->stats.forwarded++;
    switch_at(sw, neighbour->connection)->deliveries++;
    return true;
}

static void queue_copy(tm_switch *sw, const parts *message, uint32_t place) {
    bool sent = send_copy(sw, message, place);
    if (message->trail != NULL) {
        const tm_neighbour *neighbour = &sw->net->neighbours[place];
        uint64_t number = sw->net->routers.rows[neighbour->router].number;
        switch_trail_add(sw, sent ? TM_TRACE_LINKS : TRAIL_DROPPED, number, neighbour->connection);
    }
}

/* The network table. What there is no memory for is a drop; what is too costly is one for all. */
static int ask(tm_switch *sw, const parts *message, tm_query *query, tm_hits *hits) {
    uint64_t start = switch_trail_clock(message);
    query->memo = message->form->shape.memo[SHAPE_NETWORK];
    int result = switch_ask(sw, sw->net->network.table, message, query, hits);
    switch_trail_matched(message, start);
    if (result == TM_OK) {
        tm_shape_note_asked(&message->form->shape, SHAPE_NETWORK);
    } else if (result != TM_TOO_COSTLY) {
        switch_count_drop(sw, TM_DROP_MEMORY, 1, message->size);
        switch_note_shed(sw, message, NEIGHBOUR_NONE, WIRE_LOST_QUEUE_FULL);
    }
    return result;
}

/* The table gave no answer. Without memory for it the message is dropped and counted, so that it is not counted as
 * unmatched, too. */
static int unanswered(int result, uint32_t *behind) {
    if (result != TM_TOO_COSTLY) {
        *behind = 1;
        return TM_OK;
    }
    return result;
}

/* Nobody lies behind this router; but until all tables were asked which names they know, no name is left out. */
static void depart_to_nobody(tm_switch *sw, const parts *message) {
    if (!message->form->shape.is_trimmed) {
        tm_query query = {.link_count = sw->net->routers.count, .mode = TM_MATCH_INTERFACES};
        tm_hits hits = {.links = sw->net->found, .capacity = sw->net->found_capacity};
        ask(sw, message, &query, &hits);
    }
}

/* One topology is in force: the table itself answers with links, and stops when all have matched. */
static int depart_by(tm_switch *sw, const parts *message, const tm_route *route, uint32_t came_from, uint32_t *behind) {
    tm_net *net = sw->net;
    tm_query query = {.candidates = route->children,
                      .view = route->view,
                      .link_count = route->neighbour_count,
                      .mode = TM_MATCH_INTERFACES};
    tm_hits hits = {.links = net->found, .capacity = net->found_capacity};
    int result = ask(sw, message, &query, &hits);
    if (result != TM_OK) {
        return unanswered(result, behind);
    }
    for (size_t i = 0; i < hits.count; i++) {
        if (net->found[i] != came_from) {
            queue_copy(sw, message, net->found[i]);
            ++*behind;
        }
    }
    return TM_OK;
}

static uint32_t way_to(const tm_net *net, uint32_t generation, uint32_t source, uint32_t router) {
    const tm_route *route = tm_generation_route(&net->routes.generations[generation], source);
    return route == NULL ? WAY_NONE : tm_route_way(route, router);
}

static void mark(tm_net *net, uint32_t way) {
    net->departures[way / 64] |= UINT64_C(1) << (way % 64);
}

/* By the newest trees the way to a router leads by others, not by this one. */
static bool is_others_business(const tm_net *net, uint32_t source, uint32_t router) {
    uint32_t newest = net->routes.in_force - 1;
    return way_to(net, newest, source, router) == WAY_NONE && way_to(net, newest, net->me, router) != WAY_NONE;
}

/* Mark the links behind which a router lies; is there one? A link that is down is marked, and the message lost on it,
 * only where the message has no other way to that router. */
static bool mark_ways(tm_net *net, uint32_t source, uint32_t router, uint32_t came_from) {
    bool is_linked = false;
    uint32_t down = WAY_NONE;
    for (uint32_t i = 0; i < net->routes.in_force; i++) {
        uint32_t way = way_to(net, i, source, router);
        if (way == WAY_NONE || way == came_from) {
            continue;
        }
        if (net->neighbours[way].connection == CONNECTION_NONE) {
            down = way;
        } else {
            mark(net, way);
            is_linked = true;
        }
    }
    if (down != WAY_NONE && !is_linked && !is_others_business(net, source, router)) {
        mark(net, down);
    }
    return is_linked || down != WAY_NONE;
}

static void note_matched(tm_switch *sw, const parts *message, uint32_t router, uint32_t handle) {
    const tm_net *net = sw->net;
    const tm_remote_filter *filter = &net->network.filters[handle];
    if (switch_is_traced(message) && filter->router == router) { /* else it is gone, until the table settles */
        switch_trail_add(sw, TM_TRACE_MATCHED, net->routers.rows[router].number, filter->id);
    }
}

/* One copy for each link that was marked. */
static void queue_marked(tm_switch *sw, const parts *message) {
    tm_net *net = sw->net;
    for (uint32_t word = 0; word < net->departure_words; word++) {
        for (uint64_t bits = net->departures[word]; bits != 0; bits &= bits - 1) {
            queue_copy(sw, message, word * 64 + (uint32_t)__builtin_ctzll(bits));
        }
        net->departures[word] = 0;
    }
}

/* Few filters are in the table: they are asked one after the other. */
static int depart_by_plan(tm_switch *sw, const parts *message, const tm_few *plan, uint32_t source, uint32_t came_from,
                          uint32_t *behind) {
    tm_net *net = sw->net;
    uint64_t start = switch_trail_clock(message);
    size_t count = tm_few_match(plan, sw->attributes, net->found, net->handles, &sw->work);
    switch_trail_matched(message, start);
    if (tm_work_is_over(&sw->work)) {
        return TM_TOO_COSTLY;
    }
    for (size_t i = 0; i < count; i++) {
        *behind += mark_ways(net, source, net->found[i], came_from);
    }
    queue_marked(sw, message);
    return TM_OK;
}

/* Several are in force, or the filters are asked for: the table answers with routers. */
static int depart_by_all(tm_switch *sw, const parts *message, uint32_t source, uint32_t came_from, uint32_t *behind) {
    tm_net *net = sw->net;
    tm_query query = {.link_count = net->routers.count, .mode = TM_MATCH_WHICH};
    tm_hits hits = {.links = net->found, .handles = net->handles, .capacity = net->found_capacity};
    int result = ask(sw, message, &query, &hits);
    if (result != TM_OK) {
        return unanswered(result, behind);
    }
    for (size_t i = 0; i < hits.count; i++) {
        if (mark_ways(net, source, net->found[i], came_from)) {
            ++*behind;
            note_matched(sw, message, net->found[i], net->handles[i]);
        }
    }
    queue_marked(sw, message);
    return TM_OK;
}

int switch_depart(tm_switch *sw, const parts *message, uint32_t source, uint32_t came_from, uint32_t *behind) {
    const tm_net *net = sw->net;
    *behind = 0;
    if (net->network.count == 0 || net->routes.in_force == 0) {
        return TM_OK;
    }
    const tm_route *route = tm_generation_route(&net->routes.generations[0], source);
    bool is_one = net->routes.in_force == 1;
    if (is_one && (route == NULL || route->way_count == 0)) {
        depart_to_nobody(sw, message);
        return TM_OK;
    }
    tm_few *plan = &net->plans[message->form - sw->forms];
    if (!switch_is_traced(message) && tm_few_is_ready_for_network(plan, &net->network, &message->form->shape)) {
        return depart_by_plan(sw, message, plan, source, came_from, behind);
    }
    return is_one && !switch_is_traced(message) ? depart_by(sw, message, route, came_from, behind)
                                                : depart_by_all(sw, message, source, came_from, behind);
}

/* ---- arrivals ---------------------------------------------------------------------------------------------------- */

static void drop(tm_switch *sw, const parts *message, unsigned reason) {
    switch_turn_away(sw, message, reason);
    if (reason == TM_DROP_MEMORY) {
        switch_note_shed(sw, message, NEIGHBOUR_NONE, WIRE_LOST_QUEUE_FULL);
    } else if (reason == TM_DROP_COSTLY) {
        switch_note_shed(sw, message, NEIGHBOUR_NONE, WIRE_LOST_TOO_COSTLY);
    }
    if (message->trail != NULL) {
        switch_trail_end(sw, message, reason);
    }
}

/* A window that a neighbour moved far ahead holds while that neighbour is a parent of the source. Later it mutes
 * nobody: what lies far behind comes from the source by another way, and begins a new window. */
static void judge_leap(tm_net *net, const parts *message, uint32_t source, uint32_t from) {
    tm_router *row = &net->routers.rows[source];
    int place = tm_windows_place(&net->transit, message->source, message->epoch, message->counter, row->window);
    if (place == WINDOW_AHEAD) {
        row->leaper = from;
    } else if (place == WINDOW_BEHIND && row->leaper != NEIGHBOUR_NONE && row->leaper != from &&
               !tm_routes_accept(&net->routes, source, row->leaper)) {
        tm_windows_forget(&net->transit, message->source);
        row->leaper = from;
    }
}

/* Is it taken? TM_TRACE_NOT_DROPPED, or why not. */
static unsigned judge(tm_switch *sw, const parts *message, uint32_t source) {
    tm_net *net = sw->net;
    bool is_fresh;
    if (!tm_routes_accept(&net->routes, source, switch_at(sw, message->from)->neighbour)) {
        return TM_DROP_PARENT;
    }
    if (message->epoch > net->epoch_max) {
        return TM_DROP_EPOCH;
    }
    if (!tm_windows_is_near(&net->transit, message->source, message->epoch, message->counter,
                            net->routers.rows[source].window)) {
        judge_leap(net, message, source, switch_at(sw, message->from)->neighbour);
    }
    if (!tm_windows_note(&net->transit, message->source, message->epoch, message->counter,
                         &net->routers.rows[source].window, &is_fresh)) {
        return TM_DROP_MEMORY;
    }
    if (!is_fresh) {
        return TM_DROP_TRANSIT;
    }
    return message->hops == 0 ? TM_DROP_HOPS : TM_TRACE_NOT_DROPPED;
}

/* Local clients, of whom `count` rows are found unless there was no memory: how many it is for; 1 where it is dropped,
 * which is counted under that reason alone. */
static uint32_t deliver_here(tm_switch *sw, const parts *message, bool is_known, size_t count) {
    bool is_fresh = true;
    if (is_known && count > 0 && !message->is_dry) {
        is_known = tm_publishers_deliver(&sw->publishers, tm_load64(message->frame + WIRE_ORIGIN),
                                         tm_load64(message->frame + WIRE_COUNTER), &is_fresh);
    }
    if (!is_known || !is_fresh) {
        unsigned reason = is_known ? TM_DROP_DUPLICATE : TM_DROP_MEMORY;
        switch_turn_away(sw, message, reason);
        if (!is_known) {
            switch_note_shed(sw, message, NEIGHBOUR_NONE, WIRE_LOST_QUEUE_FULL);
        }
        if (message->trail != NULL) {
            message->trail->here = (uint8_t)reason;
        }
        return 1;
    }
    return switch_deliver(sw, message, count);
}

static void forward(tm_switch *sw, const parts *message, uint32_t source) {
    size_t count;
    uint32_t behind = 0;
    int here = switch_match(sw, message, &count);
    int onward = here;
    if (here != TM_TOO_COSTLY) {
        onward = switch_depart(sw, message, source, switch_at(sw, message->from)->neighbour, &behind);
    }
    sw->stats.steps += sw->work.steps;
    if (onward == TM_TOO_COSTLY) {
        drop(sw, message, TM_DROP_COSTLY);
        return;
    }
    uint32_t receivers = deliver_here(sw, message, here == TM_OK, count);
    if (receivers + behind == 0) {
        switch_turn_away(sw, message, TM_DROP_UNMATCHED);
    }
    switch_trim_shape(message);
    if (message->trail != NULL) {
        switch_trail_end(sw, message, TM_TRACE_NOT_DROPPED);
    }
}

static void take(tm_switch *sw, parts *message, const extensions *found, uint32_t source) {
    message->trail = switch_trail_begin(sw, message, found);
    unsigned reason = judge(sw, message, source);
    if (reason == TM_TRACE_NOT_DROPPED && found->is_strange) {
        reason = TM_DROP_EXTENSION;
    } else if (reason == TM_TRACE_NOT_DROPPED && switch_is_expired(found)) {
        reason = TM_DROP_EXPIRED;
    }
    if (reason == TM_TRACE_NOT_DROPPED) {
        forward(sw, message, source);
    } else {
        drop(sw, message, reason);
    }
}

/* Nobody has said which way it goes. */
static void hand_up(tm_switch *sw, const parts *message, bool again) {
    if (again || !switch_tell_frame(sw, message->from, TM_EVENT_UNROUTED, message->frame, message->size)) {
        switch_turn_away(sw, message, TM_DROP_NO_ROUTE);
        switch_note_shed(sw, message, NEIGHBOUR_NONE, WIRE_LOST_QUEUE_FULL);
        switch_record_refusal(sw, message, TM_DROP_NO_ROUTE);
    }
}

void switch_transit(tm_switch *sw, uint32_t id, const uint8_t *frame, uint32_t size, bool again) {
    parts message = {.frame = frame, .size = size, .from = id};
    extensions found = {0};
    if (!switch_check_header(sw, &message)) {
        return;
    }
    message.source = tm_load64(frame + WIRE_TRANSIT);
    message.epoch = tm_load64(frame + WIRE_TRANSIT + 8);
    message.counter = tm_load64(frame + WIRE_TRANSIT + 16);
    message.hops = frame[WIRE_HOPS];
    message.hops_onward = (uint8_t)(message.hops - 1); /* with none left it goes nowhere */
    message.is_dry = frame[WIRE_KIND] == WIRE_DRY_RUN;
    uint32_t source = tm_routers_find(&sw->net->routers, message.source);
    if (source == ROUTER_NONE || !tm_routes_know(&sw->net->routes, source)) {
        hand_up(sw, &message, again);
        return;
    }
    if (!switch_check_body(sw, &message, &found)) {
        return;
    }
    switch_at(sw, id)->messages_in++;
    sw->stats.messages_in++;
    take(sw, &message, &found, source);
}

int tm_switch_retake(tm_switch *sw, uint32_t id, const uint8_t *frame, size_t size) {
    if (!switch_knows(sw, id) || frame == NULL || size < WIRE_HEADER_BYTES || size > TM_FRAME_BYTES_MAX ||
        switch_at(sw, id)->state != CONNECTION_OPEN || !switch_is_link(switch_at(sw, id))) {
        return TM_MISUSED;
    }
    uint32_t room = (uint32_t)size + TM_SHAPE_SLACK;
    uint8_t *copy = TM_NEW(&sw->memory, TM_COLD, uint8_t, room);
    if (copy == NULL) {
        return TM_NO_MEMORY;
    }
    memcpy(copy, frame, size);
    switch_begin(sw);
    switch_transit(sw, id, copy, (uint32_t)size, true);
    switch_flush_dirty(sw);
    TM_DELETE(&sw->memory, TM_COLD, copy, uint8_t, room);
    return TM_OK;
}
