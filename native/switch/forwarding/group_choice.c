/* group_choice.c - see group_choice.h.
 *
 * Law: for each group one of the reachable routers with matching members is chosen, in proportion to their number, by a
 * keyed hash of the message and the group; this router counts with its own members. The choices stand in the frame that
 * leaves, and no other router chooses again. A chosen router without a member sends the message on to one other router
 * with members, once. The pure twin is simulate/twin/group_choice.py.
 */
#include "switch/forwarding/group_choice.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/hash.h"
#include "switch/forwarding/forward.h"
#include "switch/matching/local.h"

/* ---- candidates ---- */

static bool add(tm_switch *sw, uint32_t *count, tm_candidate candidate) {
    tm_choosing *choosing = &sw->net->choosing;
    if (!tm_grow(&sw->memory, TM_COLD, &choosing->candidates, sizeof *choosing->candidates,
                 &choosing->candidate_capacity, *count + 1)) {
        return false;
    }
    choosing->candidates[(*count)++] = candidate;
    return true;
}

static bool reserve_rows(tm_switch *sw, size_t rows) {
    tm_choosing *choosing = &sw->net->choosing;
    return rows <= UINT32_MAX &&
           tm_grow(&sw->memory, TM_COLD, &choosing->routers, sizeof *choosing->routers, &choosing->router_capacity,
                   (uint32_t)rows) &&
           tm_grow(&sw->memory, TM_COLD, &choosing->handles, sizeof *choosing->handles, &choosing->handle_capacity,
                   (uint32_t)rows);
}

/* Match the filters of groups; returns TM_OK, TM_NO_MEMORY or TM_TOO_COSTLY. */
static int ask(tm_switch *sw, const tm_message *message, size_t *rows) {
    tm_net *net = sw->net;
    tm_shape *shape = &message->form->shape;
    int result = TM_TOO_MANY;
    for (*rows = SMALL_PLAN_FILTERS_MAX; result == TM_TOO_MANY;) {
        if (!reserve_rows(sw, *rows)) {
            return TM_NO_MEMORY;
        }
        tm_query query = {.group_count = net->routers.count, .mode = TM_MATCH_ALL, .memo = shape->memo[SHAPE_SHARED]};
        tm_hits hits = {.groups = net->choosing.routers, .handles = net->choosing.handles, .capacity = *rows};
        result = switch_ask(sw, net->shared.network.table, message->attribute_count, &query, &hits);
        *rows = hits.count;
    }
    if (result == TM_OK) {
        tm_shape_note_asked(shape, SHAPE_SHARED);
    }
    return result;
}

static int find_others(tm_switch *sw, const tm_message *message, uint32_t *count) {
    tm_net *net = sw->net;
    size_t rows = 0;
    int result = net->shared.network.count > 0 ? ask(sw, message, &rows) : TM_OK;
    for (size_t i = 0; i < rows && result == TM_OK; i++) {
        const tm_group_filter *row = &net->shared.rows[net->choosing.handles[i]];
        tm_candidate candidate = {.group = row->group, .router = net->choosing.routers[i], .members = row->members};
        result = add(sw, count, candidate) ? TM_OK : TM_NO_MEMORY;
    }
    return result;
}

void switch_learn_names(tm_switch *sw, const tm_message *message) {
    size_t rows;
    ask(sw, message, &rows);
}

/* Add the members of this router among the `rows` local filters that match; each filter counts. */
static int find_own(tm_switch *sw, const tm_message *message, size_t rows, uint32_t *count) {
    const tm_subscriptions *subscriptions = &sw->subscriptions;
    uint32_t publisher = switch_at(sw, message->from)->subscriber;
    for (size_t i = 0; i < rows; i++) {
        const tm_subscription *row = &subscriptions->rows[subscriptions->kept[sw->rows.handles[i]].subscription];
        uint32_t number = row->group == WORKER_GROUP_NONE ? 0 : subscriptions->groups.rows[row->group].number;
        bool is_asking = row->subscriber != publisher || row->own_messages;
        if (number != 0 && is_asking && switch_subscriber(sw, row->subscriber)->state == SUBSCRIBER_LIVE &&
            !add(sw, count, (tm_candidate){.group = number, .router = sw->net->me, .members = 1})) {
            return TM_NO_MEMORY;
        }
    }
    return TM_OK;
}

static int by_group(const void *left, const void *right) {
    const tm_candidate *a = left;
    const tm_candidate *b = right;
    uint32_t first = a->group != b->group ? a->group : a->router;
    uint32_t second = a->group != b->group ? b->group : b->router;
    return (first > second) - (first < second);
}

/* ---- choosing ---- */

static bool is_in_reach(const tm_net *net, uint32_t generation, uint32_t router) {
    return router == net->me ||
           tm_routes_next_hop(&net->routes, generation, tm_key_of_source(net->me), router) != NEXT_HOP_NONE;
}

/* Return one of the candidates of a group that are reachable in a generation; ROUTER_NONE: none is. */
static uint32_t pick_by(const tm_net *net, uint32_t generation, const tm_candidate *candidates, uint32_t count,
                        uint64_t turn) {
    uint64_t members = 0;
    for (uint32_t i = 0; i < count; i++) {
        members += is_in_reach(net, generation, candidates[i].router) ? candidates[i].members : 0;
    }
    uint64_t left = (uint64_t)((unsigned __int128)turn * members >> 64);
    for (uint32_t i = 0; i < count; i++) {
        if (is_in_reach(net, generation, candidates[i].router)) {
            if (left < candidates[i].members) {
                return candidates[i].router;
            }
            left -= candidates[i].members;
        }
    }
    return ROUTER_NONE;
}

/* Choose by the newest trees, and where they reach no member by older ones (R5b). */
static uint32_t pick(tm_switch *sw, const tm_message *message, const tm_candidate *candidates, uint32_t count) {
    const tm_net *net = sw->net;
    uint64_t turn = tm_hash_words(message->counter, message->epoch, candidates->group, &sw->memory.key);
    uint32_t router = net->routes.in_force == 0 ? net->me : ROUTER_NONE;
    for (uint32_t generation = net->routes.in_force; generation > 0 && router == ROUTER_NONE; generation--) {
        router = pick_by(net, generation - 1, candidates, count, turn);
    }
    return router;
}

/* Write the choices of all groups one after the other; returns their number, at most WIRE_CHOICES_MAX. */
static uint32_t write_choices(tm_switch *sw, const tm_message *message, uint32_t count, uint8_t *out) {
    const tm_candidate *candidates = sw->net->choosing.candidates;
    uint32_t written = 0;
    for (uint32_t first = 0, behind; first < count && written < WIRE_CHOICES_MAX; first = behind) {
        for (behind = first + 1; behind < count && candidates[behind].group == candidates[first].group; behind++) {
        }
        uint32_t router = pick(sw, message, &candidates[first], behind - first);
        if (router != ROUTER_NONE) {
            wire_store32(out + written * WIRE_CHOICE_BYTES, candidates[first].group);
            wire_store64(out + written * WIRE_CHOICE_BYTES + 4, sw->net->routers.rows[router].number);
            written++;
        }
    }
    return written;
}

/* ---- the frame that leaves ---- */

/* Put the choices in front of the message's other extensions; without any, `onward` stays a copy of the message. */
static bool lengthen(tm_switch *sw, tm_message *message, uint32_t count, tm_message *onward) {
    tm_choosing *choosing = &sw->net->choosing;
    uint32_t most = 4 + WIRE_CHOICES_MAX * WIRE_CHOICE_BYTES;
    if (!tm_grow(&sw->memory, TM_COLD, &choosing->frame, 1, &choosing->frame_capacity, message->size + most)) {
        return false;
    }
    uint8_t *area = choosing->frame + WIRE_HEADER_BYTES;
    uint32_t choices = write_choices(sw, message, count, area + 4);
    uint32_t added = choices > 0 ? 4 + choices * WIRE_CHOICE_BYTES : 0;
    if (message->extension_size + added > WIRE_EXTENSIONS_MAX || message->size + added > DELIVERABLE_BYTES_MAX) {
        return false;
    }
    if (choices == 0) {
        return true;
    }
    memcpy(choosing->frame, message->frame, WIRE_HEADER_BYTES);
    wire_store32(choosing->frame, message->size + added);
    wire_store16(choosing->frame + WIRE_EXTENSION_SIZE, (uint16_t)(message->extension_size + added));
    wire_store16(area, WIRE_GROUP_CHOICE);
    wire_store16(area + 2, (uint16_t)(added - 4));
    memcpy(area + added, message->frame + WIRE_HEADER_BYTES, message->size - WIRE_HEADER_BYTES);
    message->choices = area + 4;
    message->choice_count = choices;
    *onward = *message;
    onward->frame = choosing->frame;
    onward->size = message->size + added;
    onward->extension_size = message->extension_size + added;
    return true;
}

int switch_choose(tm_switch *sw, tm_message *message, size_t rows, tm_message *onward) {
    *onward = *message;
    if (message->was_here) { /* an earlier attempt carries its choices */
        return TM_OK;
    }
    uint32_t count = 0;
    int result = find_others(sw, message, &count);
    result = result == TM_OK ? find_own(sw, message, rows, &count) : result;
    if (result == TM_TOO_COSTLY) {
        return result;
    }
    if (result == TM_OK && count > 0) {
        qsort(sw->net->choosing.candidates, count, sizeof *sw->net->choosing.candidates, by_group);
        result = lengthen(sw, message, count, onward) ? TM_OK : TM_NO_MEMORY;
    }
    if (result != TM_OK) {
        switch_count_drop(sw, TM_DROP_MEMORY, 1, message->size);
    }
    return TM_OK;
}

/* ---- at the chosen router ---- */

static bool is_mine(const tm_switch *sw, const uint8_t *choice) {
    return tm_load64(choice + 4) == sw->options.number;
}

void switch_begin_sharing(tm_switch *sw, const tm_message *message) {
    memset(sw->net->choosing.shares, 0, message->choice_count * sizeof *sw->net->choosing.shares); /* SHARE_OPEN */
}

/* Record that a member gets the message, by its publisher's counter and the group. */
static tm_share take_share(tm_switch *sw, const tm_message *message, uint32_t group) {
    bool is_fresh = true;
    uint64_t of_group = tm_hash_words(tm_load64(message->frame + WIRE_ORIGIN), group, 0, &sw->memory.key);
    bool is_known = message->is_dry || tm_publishers_deliver(&sw->net->choosing.had, of_group,
                                                             tm_load64(message->frame + WIRE_COUNTER), &is_fresh);
    return !is_known ? SHARE_LOST : is_fresh ? SHARE_TAKEN : SHARE_SEEN;
}

bool switch_shares(tm_switch *sw, const tm_message *message, uint32_t group) {
    if (sw->net == NULL) {
        return true;
    }
    for (uint32_t i = 0; i < message->choice_count; i++) {
        const uint8_t *choice = message->choices + i * WIRE_CHOICE_BYTES;
        if (tm_load32(choice) == group) {
            tm_share *share = &sw->net->choosing.shares[i];
            if (*share == SHARE_OPEN && is_mine(sw, choice)) {
                *share = take_share(sw, message, group);
            }
            return *share == SHARE_TAKEN;
        }
    }
    return false;
}

/* Return the first member of a group among the sorted candidates, and their number in `*members`. */
static const tm_candidate *members_of(const tm_net *net, uint32_t count, uint32_t group, uint32_t *members) {
    uint32_t first = 0;
    for (*members = 0; first < count && net->choosing.candidates[first].group < group; first++) {
    }
    while (first + *members < count && net->choosing.candidates[first + *members].group == group) {
        ++*members;
    }
    return *members > 0 ? &net->choosing.candidates[first] : NULL;
}

/* Write the message for another router's members alone: one choice in place of its choices. Returns its size; 0: it
 * does not fit. */
static uint32_t write_onward(tm_switch *sw, const tm_message *message, uint32_t group, uint64_t router) {
    tm_choosing *choosing = &sw->net->choosing;
    uint32_t added = 4 + WIRE_CHOICE_BYTES + 4;
    if (!tm_grow(&sw->memory, TM_COLD, &choosing->frame, 1, &choosing->frame_capacity, message->size + added)) {
        return 0;
    }
    const uint8_t *area = message->frame + WIRE_HEADER_BYTES;
    uint8_t *out = choosing->frame + WIRE_HEADER_BYTES;
    wire_store16(out, WIRE_GROUP_CHOICE);
    wire_store16(out + 2, WIRE_CHOICE_BYTES);
    wire_store32(out + 4, group);
    wire_store64(out + 8, router);
    wire_store16(out + 4 + WIRE_CHOICE_BYTES, WIRE_MEMBERS_ONLY);
    wire_store16(out + 4 + WIRE_CHOICE_BYTES + 2, 0);
    out += added;
    for (uint32_t at = 0, size; at < message->extension_size; at += size) {
        size = 4U + tm_load16(area + at + 2);
        if (tm_load16(area + at) != WIRE_GROUP_CHOICE && tm_load16(area + at) != WIRE_ROUTE) {
            memcpy(out, area + at, size);
            out += size;
        }
    }
    uint32_t extensions = (uint32_t)(out - choosing->frame) - WIRE_HEADER_BYTES;
    uint32_t rest = message->size - WIRE_HEADER_BYTES - message->extension_size;
    uint32_t size = WIRE_HEADER_BYTES + extensions + rest;
    if (extensions > WIRE_EXTENSIONS_MAX || size > DELIVERABLE_BYTES_MAX) {
        return 0;
    }
    memcpy(out, area + message->extension_size, rest);
    memcpy(choosing->frame, message->frame, WIRE_HEADER_BYTES);
    wire_store32(choosing->frame, size);
    wire_store16(choosing->frame + WIRE_EXTENSION_SIZE, (uint16_t)extensions);
    return size;
}

/* Send the message to members at another router, as a message that enters the network here. false: no copy was sent. */
static bool pass_on(tm_switch *sw, const tm_message *message, uint32_t group, const tm_candidate *candidates,
                    uint32_t count) {
    tm_net *net = sw->net;
    uint32_t router = count > 0 ? pick(sw, message, candidates, count) : ROUTER_NONE;
    uint32_t size = router == ROUTER_NONE ? 0 : write_onward(sw, message, group, net->routers.rows[router].number);
    if (size == 0) {
        return false;
    }
    tm_message copy = *message;
    copy.frame = net->choosing.frame;
    copy.size = size;
    copy.extension_size = tm_load16(copy.frame + WIRE_EXTENSION_SIZE);
    copy.choices = copy.frame + WIRE_HEADER_BYTES + 4;
    copy.choice_count = 1;
    copy.members_only = true;
    copy.route_bytes = 0;
    copy.trail = NULL;
    switch_stamp_entry(sw, &copy);
    uint32_t behind = 0;
    return net->forwarding->targets(sw, &copy, copy.key, NEIGHBOUR_NONE, &behind) == TM_OK && behind > 0;
}

uint32_t switch_end_sharing(tm_switch *sw, const tm_message *message) {
    static const unsigned REASONS[] = {
        [SHARE_OPEN] = TM_DROP_NO_MEMBER, [SHARE_SEEN] = TM_DROP_DUPLICATE, [SHARE_LOST] = TM_DROP_MEMORY};
    uint32_t count = 0;
    uint32_t ended = 0;
    bool is_asked = message->members_only; /* it was passed on before */
    for (uint32_t i = 0; i < message->choice_count; i++) {
        const uint8_t *choice = message->choices + i * WIRE_CHOICE_BYTES;
        tm_share share = sw->net->choosing.shares[i];
        if (!is_mine(sw, choice) || share == SHARE_TAKEN) {
            continue;
        }
        ended++;
        if (share == SHARE_OPEN && !is_asked && !message->is_dry) {
            is_asked = true;
            if (find_others(sw, message, &count) != TM_OK) {
                count = 0;
            }
            if (count > 0) {
                qsort(sw->net->choosing.candidates, count, sizeof *sw->net->choosing.candidates, by_group);
            }
        }
        uint32_t members;
        const tm_candidate *candidates = members_of(sw->net, count, tm_load32(choice), &members);
        if (share != SHARE_OPEN || !pass_on(sw, message, tm_load32(choice), candidates, members)) {
            switch_count_drop(sw, REASONS[share], 1, message->size);
        }
    }
    return ended;
}
