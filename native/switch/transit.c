/* transit.c - see transit.h.
 *
 * Law: a message is accepted from the neighbour on the side of its source in the tree that it follows (that of its
 * source, or of the root that it names by ROUTE, mode TREE), once, with a hop left, tested in this order (R5, R11). Its
 * end-to-end identity is tested before local delivery alone: a copy that local clients have had is still new to routers
 * behind.
 */
#include "switch/transit.h"

#include "switch/access/border.h"
#include "switch/connections/events.h"
#include "switch/deliver.h"
#include "switch/durable.h"
#include "switch/forwarding/forward.h"
#include "switch/forwarding/group_choice.h"
#include "switch/forwarding/order.h"
#include "switch/matching/check.h"
#include "switch/matching/local.h"
#include "switch/message.h"
#include "switch/observe/link_drops.h"
#include "switch/observe/trail.h"

static __attribute__((cold)) void drop(tm_switch *sw, const tm_message *message, unsigned reason) {
    switch_turn_away(sw, message, reason);
    if (reason == TM_DROP_MEMORY) {
        switch_note_link_drops(sw, message, NEIGHBOUR_NONE, WIRE_LOST_QUEUE_FULL);
    } else if (reason == TM_DROP_COSTLY) {
        switch_note_link_drops(sw, message, NEIGHBOUR_NONE, WIRE_LOST_TOO_COSTLY);
    }
    if (message->trail != NULL) {
        switch_trail_end(sw, message, reason);
    }
}

/* Return whether messages of a source are accepted from a neighbour, by its number. */
static bool accepts_from(const tm_net *net, const tm_message *message, uint32_t source, uint64_t neighbour) {
    uint32_t index = tm_routers_find(&net->routers, neighbour);
    uint32_t place = index != ROUTER_NONE ? net->routers.rows[index].neighbour : NEIGHBOUR_NONE;
    return place != NEIGHBOUR_NONE && tm_routes_accept(&net->routes, message->key, source, place);
}

/* Return whether a message far from the window of its source moves it, or begins a new one. A window that a neighbour
 * moved far ahead holds while messages of the source come from that neighbour. Afterwards a message far behind it, from
 * another accepted neighbour, begins a new window, so that the leap suppresses no messages. */
static __attribute__((cold)) bool leaps(tm_net *net, const tm_message *message, uint32_t source, uint64_t from) {
    int place = tm_windows_place(&net->transit, message->source, message->epoch, message->counter,
                                 net->routers.rows[source].window);
    if (place == WINDOW_BEHIND) {
        uint64_t leaper = tm_windows_leaper(&net->transit, message->source);
        if (leaper != 0 && leaper != from && !accepts_from(net, message, source, leaper)) {
            tm_windows_forget(&net->transit, message->source);
            return true;
        }
    }
    return place == WINDOW_AHEAD;
}

static inline unsigned fate_of(const tm_message *message, bool is_fresh) {
    if (!is_fresh) {
        return TM_DROP_TRANSIT;
    }
    return message->hops == 0 ? TM_DROP_HOPS : TM_TRACE_NOT_DROPPED;
}

/* Note a message while others wait for it, and ask the guard of its link about one that would go on. */
static __attribute__((cold, noinline)) unsigned look(tm_switch *sw, const tm_message *message, bool is_fresh) {
    if (sw->now_ms < sw->net->routes.waits_until_ms) {
        switch_note_reached(sw, message);
    }
    unsigned fate = fate_of(message, is_fresh);
    return fate == TM_TRACE_NOT_DROPPED && !switch_may_come(sw, message) ? TM_DROP_NOT_ALLOWED : fate;
}

/* Return why the message is not accepted (TM_DROP_*), or TM_TRACE_NOT_DROPPED if it is. */
static unsigned judge(tm_switch *sw, const tm_message *message, uint32_t source) {
    tm_net *net = sw->net;
    uint32_t came_from = switch_at(sw, message->from)->neighbour;
    uint64_t leaper = 0;
    bool is_fresh;
    if (!tm_routes_accept(&net->routes, message->key, source, came_from)) {
        return switch_is_barred(sw, message) ? TM_DROP_NOT_ALLOWED : TM_DROP_PARENT;
    }
    if (!tm_windows_is_near(&net->transit, message->source, message->epoch, message->counter,
                            net->routers.rows[source].window)) {
        uint64_t own = net->routers.rows[source].epoch_max;
        if (message->epoch > (own != UINT64_MAX ? own : net->epoch_max)) {
            return TM_DROP_EPOCH; /* a message near the window has an epoch that was accepted before */
        }
        uint64_t from = net->routers.rows[net->neighbours[came_from].router].number;
        leaper = leaps(net, message, source, from) ? from : 0;
    }
    if (!tm_windows_note(&net->transit, message->source, message->epoch, message->counter,
                         &net->routers.rows[source].window, &is_fresh)) {
        return TM_DROP_MEMORY;
    }
    if (leaper != 0) {
        tm_windows_set_leaper(&net->transit, net->routers.rows[source].window, leaper);
    }
    return sw->now_ms < sw->looks_until_ms ? look(sw, message, is_fresh) : fate_of(message, is_fresh);
}

/* Deliver to worker group members alone, because the other clients have had the message. */
static __attribute__((cold)) uint32_t deliver_shares(tm_switch *sw, const tm_message *message, size_t count) {
    tm_message rest = *message;
    rest.was_here = true;
    return switch_deliver(sw, &rest, count);
}

/* Deliver to local clients; returns the number of receivers. `count` rows match, if `is_known` (false: no memory for
 * them). A message that is dropped here returns 1, so that it is not also counted as unmatched. */
static uint32_t deliver_here(tm_switch *sw, const tm_message *message, bool is_known, size_t count) {
    bool is_fresh = true;
    if (message->members_only) {
        return deliver_shares(sw, message, is_known ? count : 0);
    }
    if (is_known && count > 0 && !message->is_dry) {
        is_known = tm_publishers_deliver(&sw->publishers, tm_load64(message->frame + WIRE_ORIGIN),
                                         tm_load64(message->frame + WIRE_COUNTER), &is_fresh);
    }
    if (!is_known || !is_fresh) {
        unsigned reason = is_known ? TM_DROP_DUPLICATE : TM_DROP_MEMORY;
        switch_turn_away(sw, message, reason);
        if (!is_known) {
            switch_note_link_drops(sw, message, NEIGHBOUR_NONE, WIRE_LOST_QUEUE_FULL);
        }
        if (message->trail != NULL) {
            message->trail->here = (uint8_t)reason;
        }
        return 1 + (message->choice_count > 0 ? deliver_shares(sw, message, is_known ? count : 0) : 0);
    }
    uint32_t wanted_by = 0;
    if (sw->durable != NULL && count > 0) {
        wanted_by = switch_durable(sw, message, count);
    }
    return wanted_by + switch_deliver(sw, message, count);
}

static void forward(tm_switch *sw, const tm_message *message) {
    size_t count;
    uint32_t behind = 0;
    int here = switch_match(sw, message, &count);
    int onward = here;
    if (here != TM_TOO_COSTLY) {
        uint32_t came_from = switch_at(sw, message->from)->neighbour;
        onward = sw->net->forwarding->targets(sw, message, message->key, came_from, &behind);
    }
    sw->stats.steps += sw->work.steps;
    if (onward == TM_TOO_COSTLY) {
        drop(sw, message, TM_DROP_COSTLY);
        return;
    }
    if (sw->net->shared.network.count > 0 && !message->form->shape.is_trimmed) {
        switch_learn_names(sw, message);
    }
    uint32_t receivers = deliver_here(sw, message, here == TM_OK, count);
    if (receivers + behind == 0) {
        sw->stats.in_vain++;
        switch_turn_away(sw, message, TM_DROP_UNMATCHED);
    }
    switch_trim_shape(sw, message);
    if (message->trail != NULL) {
        switch_trail_end(sw, message, TM_TRACE_NOT_DROPPED);
    }
}

static void take(tm_switch *sw, tm_message *message, const extensions *found, uint32_t source) {
    message->trail = switch_trail_begin(sw, message, found);
    unsigned reason = judge(sw, message, source);
    if (reason == TM_TRACE_NOT_DROPPED && found->is_strange) {
        reason = TM_DROP_EXTENSION;
    } else if (reason == TM_TRACE_NOT_DROPPED && switch_is_expired(found)) {
        reason = TM_DROP_EXPIRED;
    }
    if (reason == TM_TRACE_NOT_DROPPED) {
        forward(sw, message);
    } else {
        drop(sw, message, reason);
    }
}

/* Set the key of the route that the message follows, that of its root or of its source; false: there is no route. */
static bool find_route(const tm_net *net, tm_message *message, uint32_t source) {
    uint64_t root = switch_root_of(message->frame, message->size);
    uint32_t router = root == 0 ? source : tm_routers_find(&net->routers, root);
    message->key = root == 0 ? tm_key_of_source(router) : tm_key_of_tree(router);
    return router != ROUTER_NONE && tm_routes_know(&net->routes, message->key);
}

/* Hand a message whose source or root has no route to Python; drop it if that was done before (`again`) or without
 * memory. */
static __attribute__((cold)) void hand_up(tm_switch *sw, const tm_message *message, bool again) {
    if (switch_is_barred(sw, message)) {
        switch_turn_away(sw, message, TM_DROP_NOT_ALLOWED);
        switch_record_refusal(sw, message, TM_DROP_NOT_ALLOWED);
    } else if (again || !switch_tell_frame(sw, message->from, TM_EVENT_UNROUTED, message->frame, message->size)) {
        switch_turn_away(sw, message, TM_DROP_NO_ROUTE);
        switch_note_link_drops(sw, message, NEIGHBOUR_NONE, WIRE_LOST_QUEUE_FULL);
        switch_record_refusal(sw, message, TM_DROP_NO_ROUTE);
    }
}

void switch_transit(tm_switch *sw, uint32_t id, const uint8_t *frame, uint32_t size, bool again) {
    tm_message message = switch_message(frame, size, id);
    extensions found = {0};
    if (!switch_check_header(sw, &message)) {
        return;
    }
    message.source = tm_load64(frame + WIRE_TRANSIT);
    message.epoch = tm_load64(frame + WIRE_TRANSIT + 8);
    message.counter = tm_load64(frame + WIRE_TRANSIT + 16);
    message.hops = frame[WIRE_HOPS];
    message.hops_onward = (uint8_t)(message.hops - 1); /* with no hop left it wraps, but the message is dropped */
    uint32_t source = tm_routers_find(&sw->net->routers, message.source);
    if (!find_route(sw->net, &message, source)) {
        hand_up(sw, &message, again);
        return;
    }
    if (!switch_check_body(sw, &message, &found)) {
        return;
    }
    switch_at(sw, id)->traffic.messages_in++;
    sw->stats.messages_in++;
    take(sw, &message, &found, source);
}
