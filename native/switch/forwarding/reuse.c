/* reuse.c - messages are matched where they enter, and carry the set of the routers that want them (R13).
 *
 * Law: routers on the path whose tables equal those that the set was made from match no network table: the routers in
 * the set want the message. Any other router matches it (depart.c) and passes the set on unchanged. Messages that are
 * traced or for members alone are always matched. No set is written while several generations of routes are in force,
 * since the older ones may lead to routers that the digest does not cover; nor where a plan of few filters costs less
 * than a set, or the set saves the routers together less than it costs (worth.h).
 */
#include "switch/forwarding/reuse.h"

#include "base/bits.h"
#include "base/clock.h"
#include "switch/forwarding/depart.h"
#include "switch/forwarding/route.h"
#include "switch/forwarding/worth.h"
#include "switch/message.h"
#include "switch/observe/trail.h"

_Static_assert(TM_ROUTE_SET_ROUTERS_MAX == WIRE_SET_BYTES_MAX * 8, "one bit for each");
_Static_assert(TM_DIGEST_BYTES == WIRE_DIGEST_BYTES, "the digest of the wire");

int tm_switch_tables(tm_switch *sw, const uint8_t *digest, const uint64_t *routers, size_t count) {
    if (sw == NULL || sw->net == NULL) {
        return TM_MISUSED;
    }
    tm_reuse *reuse = &sw->net->reuse;
    reuse->is_whole = false;
    if (routers != NULL) {
        int result =
            count <= TM_ROUTE_SET_ROUTERS_MAX ? tm_places_set(&reuse->places, routers, (uint32_t)count) : TM_MISUSED;
        if (result != TM_OK) {
            return result;
        }
    }
    if (digest != NULL) {
        memcpy(reuse->digest, digest, sizeof reuse->digest);
        reuse->is_whole = true;
    }
    return TM_OK;
}

int tm_switch_tree(tm_switch *sw, const uint64_t *routers, const uint64_t *before, size_t count) {
    return sw != NULL && sw->net != NULL ? tm_worth_set(&sw->net->reuse.worth, routers, before, count) : TM_MISUSED;
}

static uint32_t set_bytes(const tm_reuse *reuse) {
    return reuse->places.count / 8 + (reuse->places.count % 8 != 0);
}

/* true if the set of a message was made from tables equal to this router's; the set is then in `reuse->members` */
static bool is_believed(tm_reuse *reuse, const tm_message *message) {
    const uint8_t *route = message->frame + WIRE_HEADER_BYTES + 5;
    uint32_t bytes = set_bytes(reuse);
    if (message->route_bytes != 5 + WIRE_DIGEST_BYTES + bytes || memcmp(route, reuse->digest, WIRE_DIGEST_BYTES) != 0) {
        return false;
    }
    if (bytes % 8 != 0) {
        reuse->members[bytes / 8] = 0; /* clear the rest of the last word; a bit without a router is ignored */
    }
    memcpy(reuse->members, route + WIRE_DIGEST_BYTES, bytes);
    return true;
}

/* Mark the next hops to each member of the set, in every generation in force. */
static void mark_members(tm_net *net, uint32_t key, uint32_t came_from, uint32_t *behind) {
    const tm_places *places = &net->reuse.places;
    for (uint32_t place = 0; place < places->count; place++) {
        uint32_t router =
            tm_bit_at(net->reuse.members, place) ? tm_routers_find(&net->routers, places->numbers[place]) : ROUTER_NONE;
        if (router != ROUTER_NONE && router != net->me) {
            *behind += switch_mark_next_hops(net, key, router, came_from);
        }
    }
}

static bool meet(const uint64_t *one, const uint64_t *other, uint32_t words) {
    for (uint32_t i = 0; i < words; i++) {
        if ((one[i] & other[i]) != 0) {
            return true;
        }
    }
    return false;
}

/* Queue a copy for each link that leads to a member of the set. */
static void depart_by_set(tm_switch *sw, const tm_message *message, uint32_t key, uint32_t came_from,
                          uint32_t *behind) {
    tm_net *net = sw->net;
    uint32_t block;
    const uint64_t *reach = NULL;
    if (message->choice_count == 0 && tm_routes_agree(&net->routes, key, &block)) {
        if (block == NEXT_HOPS_NONE || tm_next_hops_at(&net->routes.next_hops, block)->count == 0) {
            return;
        }
        reach = tm_next_hops_reach(&net->routes.next_hops, block, &net->routers, &net->reuse.places);
    }
    if (reach == NULL) { /* generations differ, there are choices, or no memory for it */
        mark_members(net, key, came_from, behind);
        switch_mark_chosen(net, message, key, came_from, behind);
        switch_queue_marked(sw, message);
        return;
    }
    const tm_next_hops *next_hops = tm_next_hops_at(&net->routes.next_hops, block);
    uint32_t words = tm_bit_words(net->reuse.places.count);
    for (uint32_t word = 0; word * 64 < next_hops->neighbour_count; word++) {
        for (uint64_t bits = next_hops->children[word]; bits != 0; bits &= bits - 1, reach += words) {
            uint32_t place = word * 64 + (uint32_t)__builtin_ctzll(bits);
            if (place != came_from && meet(reach, net->reuse.members, words)) {
                switch_queue_copy(sw, message, place);
                ++*behind;
            }
        }
    }
}

/* Write the set of the matching routers into `reuse->members`; true if it is not empty. Routers without a place are
 * unreachable */
static bool write_members(tm_net *net, size_t count) {
    tm_reuse *reuse = &net->reuse;
    bool is_any = false;
    memset(reuse->members, 0, sizeof(uint64_t) * tm_bit_words(reuse->places.count));
    for (size_t i = 0; i < count; i++) {
        uint32_t place = tm_places_of(&reuse->places, &net->routers, net->found[i]);
        if (place != PLACE_NONE) {
            tm_bit_set(reuse->members, place);
            is_any = true;
        }
    }
    return is_any;
}

/* Return the message with its set; unchanged if there is no room. */
static tm_message with_set(tm_switch *sw, const tm_message *message) {
    tm_reuse *reuse = &sw->net->reuse;
    uint32_t bytes = set_bytes(reuse);
    reuse->route[0] = WIRE_ROUTE_SET;
    memcpy(reuse->route + 1, reuse->digest, WIRE_DIGEST_BYTES);
    memcpy(reuse->route + 1 + WIRE_DIGEST_BYTES, reuse->members, bytes);
    return switch_with_route(sw, message, reuse->route, 1 + WIRE_DIGEST_BYTES + bytes);
}

/* Match a message that enters here for all routers at once, and depart by the set. */
static int depart_with_set(tm_switch *sw, const tm_message *message, uint32_t key, bool is_timed, uint32_t *behind) {
    tm_net *net = sw->net;
    uint64_t start = is_timed ? tm_clock_ns() : 0;
    tm_query query = {.group_count = net->routers.count, .mode = TM_MATCH_INTERFACES};
    tm_hits hits = {.groups = net->found, .capacity = net->found_capacity};
    int result = switch_ask_network(sw, message, &query, &hits);
    if (result != TM_OK) {
        return switch_unanswered(result, behind);
    }
    uint64_t matched = is_timed ? tm_clock_ns() : 0;
    bool is_any = write_members(net, hits.count);
    tm_message stated = is_any ? with_set(sw, message) : *message;
    sw->stats.sets_written += stated.route_bytes > 0;
    if (is_any) {
        depart_by_set(sw, &stated, key, NEIGHBOUR_NONE, behind);
    } else {
        switch_mark_chosen(net, message, key, NEIGHBOUR_NONE, behind);
        switch_queue_marked(sw, message);
    }
    if (is_timed) {
        uint64_t end = tm_clock_ns();
        tm_worth_note_set(&net->reuse.worth, end - start, end - matched, &net->reuse.places, net->reuse.members);
    }
    return TM_OK;
}

/* Forward a message that enters here and may get a set: it gets one if that is worth its cost, or is to be measured. */
static int enter(tm_switch *sw, const tm_message *message, uint32_t key, uint32_t *behind) {
    tm_worth *worth = &sw->net->reuse.worth;
    tm_trial trial = tm_worth_next(worth);
    if (trial.is_by_set) {
        return depart_with_set(sw, message, key, trial.is_timed, behind);
    }
    uint64_t start = trial.is_timed ? tm_clock_ns() : 0;
    int result = switch_depart(sw, message, key, NEIGHBOUR_NONE, behind);
    if (trial.is_timed) {
        tm_worth_note_links(worth, tm_clock_ns() - start);
    }
    return result;
}

/* true if a message that enters here may get a set: there are more filters than a plan holds, and a route leads on */
static bool may_have_a_set(tm_net *net, uint32_t key) {
    uint32_t block;
    return net->reuse.places.count > 0 && net->network.count > SMALL_PLAN_FILTERS_MAX && net->routes.in_force == 1 &&
           tm_routes_agree(&net->routes, key, &block) && block != NEXT_HOPS_NONE &&
           tm_next_hops_at(&net->routes.next_hops, block)->count > 0 &&
           tm_places_reserve(&net->reuse.places, net->routers.count);
}

void switch_teach_again(tm_switch *sw, const tm_message *message) {
    tm_form *form = message->form;
    bool is_again = form->by_set == form->shape.version;
    form->by_set = form->shape.version;
    if (is_again && sw->net->network.count > 0 && sw->net->routes.in_force > 0) {
        switch_teach_shape(sw, message);
    }
}

int switch_reuse(tm_switch *sw, const tm_message *message, uint32_t key, uint32_t came_from, uint32_t *behind) {
    tm_reuse *reuse = &sw->net->reuse;
    bool is_stated = message->route_bytes > 0 && switch_route_mode(message) == WIRE_ROUTE_SET;
    bool is_entry = came_from == NEIGHBOUR_NONE && message->route_bytes == 0;
    if (!reuse->is_whole || switch_is_traced(message) || message->members_only || !(is_stated || is_entry)) {
        sw->stats.sets_stale += is_stated;
        return switch_depart(sw, message, key, came_from, behind);
    }
    *behind = 0;
    if (is_entry) {
        return may_have_a_set(sw->net, key) ? enter(sw, message, key, behind)
                                            : switch_depart(sw, message, key, came_from, behind);
    }
    if (!is_believed(reuse, message)) {
        sw->stats.sets_stale++;
        return switch_depart(sw, message, key, came_from, behind);
    }
    sw->stats.sets_believed++;
    switch_teach_again(sw, message);
    depart_by_set(sw, message, key, came_from, behind);
    return TM_OK;
}
