/* directed.c - see directed.h.
 *
 * Law: no table is matched and no window is asked: the home knows by the numbers of the chain what came before. A copy
 * that is dropped is counted and not reported as lost, because its entry router sends it again. Such copies fill
 * at most half of a link's queue, so that live messages always have the other half.
 */
#include "switch/forwarding/directed.h"

#include "switch/access/border.h"
#include "switch/connections/events.h"
#include "switch/connections/queue.h"
#include "switch/durable.h"
#include "switch/matching/check.h"

/* true if CUSTODY is the first extension, and names a home and a number behind the one before */
static bool has_place(const uint8_t *frame, uint32_t size) {
    const uint8_t *area = frame + WIRE_HEADER_BYTES;
    return tm_load16(frame + WIRE_EXTENSION_SIZE) >= WIRE_CUSTODY_BYTES &&
           size >= WIRE_HEADER_BYTES + WIRE_CUSTODY_BYTES && tm_load16(area) == WIRE_CUSTODY &&
           tm_load16(area + 2) == WIRE_CUSTODY_BYTES - 4 && tm_load64(frame + WIRE_CUSTODY_HOME) != 0 &&
           tm_load64(frame + WIRE_CUSTODY_NUMBER) > tm_load64(frame + WIRE_CUSTODY_PREVIOUS);
}

/* Return the neighbour towards a router, or NEIGHBOUR_NONE. */
static uint32_t towards(const tm_net *net, uint64_t number) {
    uint32_t router = tm_routers_find(&net->routers, number);
    if (router == ROUTER_NONE || net->routes.in_force == 0) {
        return NEIGHBOUR_NONE;
    }
    return tm_routes_next_hop(&net->routes, net->routes.in_force - 1, tm_key_of_source(net->me), router);
}

/* true if a link takes a copy of `size` bytes now. */
static bool has_room(tm_switch *sw, uint32_t size, uint32_t link) {
    if (link == CONNECTION_NONE || switch_at(sw, link)->admission.version < WIRE_VERSION_CUSTODY) {
        return false;
    }
    const tm_admission *terms = &switch_at(sw, link)->admission;
    uint64_t waiting = tm_lane_size(&switch_at(sw, link)->outbox.ordered);
    return size <= terms->frame_bytes_max && (waiting == 0 || waiting + size <= terms->queue_bytes_max / 2);
}

/* Return why no copy may be queued for a link (TM_DROP_*), or TM_TRACE_NOT_DROPPED. */
static unsigned judge_link(tm_switch *sw, const tm_message *message, uint32_t link) {
    if (!has_room(sw, message->size, link)) {
        return TM_DROP_DIRECTED;
    }
    return switch_has_exit(sw, link) && !switch_may_go(sw, message, link) ? TM_DROP_NOT_ALLOWED : TM_TRACE_NOT_DROPPED;
}

/* Queue the copy for a link; without memory it is dropped and counted. */
static void queue(tm_switch *sw, const tm_message *message, uint32_t link) {
    uint8_t *out = switch_queue_allowed(sw, link, message->size);
    if (out != NULL) {
        memcpy(out, message->frame, message->size);
        out[WIRE_HOPS] = message->hops_onward;
        sw->stats.forwarded++;
        switch_at(sw, link)->traffic.deliveries++;
    }
}

/* Return why the message neither goes on nor arrives (TM_DROP_*), or TM_TRACE_NOT_DROPPED and the link by which it goes
 * on; CONNECTION_NONE: it has arrived. */
static unsigned judge(tm_switch *sw, const tm_message *message, const extensions *found, uint32_t *link) {
    const tm_net *net = sw->net;
    uint64_t home = tm_load64(message->frame + WIRE_CUSTODY_HOME);
    *link = CONNECTION_NONE;
    if (switch_is_barred(sw, message) || !switch_may_come(sw, message)) {
        return TM_DROP_NOT_ALLOWED;
    }
    if (home == sw->options.number) {
        return sw->durable != NULL ? TM_TRACE_NOT_DROPPED : TM_DROP_DIRECTED;
    }
    if (found->is_strange) {
        return TM_DROP_EXTENSION;
    }
    if (message->hops == 0) {
        return TM_DROP_DIRECTED;
    }
    uint32_t place = towards(net, home);
    if (place == NEIGHBOUR_NONE || place == switch_at(sw, message->from)->neighbour) {
        return TM_DROP_DIRECTED;
    }
    *link = net->neighbours[place].connection;
    return judge_link(sw, message, *link);
}

void switch_take_directed(tm_switch *sw, uint32_t id, const uint8_t *frame, uint32_t size) {
    tm_message message = switch_message(frame, size, id);
    extensions found = {0};
    if (!switch_check_header(sw, &message)) {
        return;
    }
    if (!has_place(frame, size)) {
        switch_fault(sw, id, WIRE_BAD_EXTENSION, frame, "DIRECTED begins with a sound CUSTODY");
        return;
    }
    if (!switch_check_body(sw, &message, &found)) {
        return;
    }
    message.source = tm_load64(frame + WIRE_TRANSIT);
    message.epoch = tm_load64(frame + WIRE_TRANSIT + 8);
    message.counter = tm_load64(frame + WIRE_TRANSIT + 16);
    message.hops = frame[WIRE_HOPS];
    message.hops_onward = (uint8_t)(message.hops - 1);
    switch_at(sw, id)->traffic.messages_in++;
    sw->stats.messages_in++;
    uint32_t link = CONNECTION_NONE;
    unsigned reason = judge(sw, &message, &found, &link);
    if (reason != TM_TRACE_NOT_DROPPED) {
        switch_turn_away(sw, &message, reason);
    } else if (link != CONNECTION_NONE) {
        queue(sw, &message, link);
    } else {
        message.route_bytes = WIRE_CUSTODY_BYTES;
        sw->durable->arrive(sw, &message, &found);
    }
}

/* ---- of this router ---- */

bool switch_may_direct(const uint8_t *frame, uint32_t size) {
    return size + WIRE_CUSTODY_BYTES <= TM_FRAME_BYTES_MAX &&
           tm_load16(frame + WIRE_EXTENSION_SIZE) + WIRE_CUSTODY_BYTES <= WIRE_EXTENSIONS_MAX;
}

static void write_place(uint8_t *area, const tm_custody_place *place) {
    wire_store16(area, WIRE_CUSTODY);
    wire_store16(area + 2, WIRE_CUSTODY_BYTES - 4);
    uint8_t *frame = area - WIRE_HEADER_BYTES;
    wire_store64(frame + WIRE_CUSTODY_HOME, place->home);
    wire_store64(frame + WIRE_CUSTODY_HOME_LOG, place->home_log);
    wire_store64(frame + WIRE_CUSTODY_LOG, place->log);
    wire_store32(frame + WIRE_CUSTODY_LIFE, place->life);
    wire_store32(frame + WIRE_CUSTODY_BEFORE, place->before);
    wire_store64(frame + WIRE_CUSTODY_NUMBER, place->n);
    wire_store64(frame + WIRE_CUSTODY_PREVIOUS, place->previous);
}

/* true if the border of a link lets a stored frame leave. Its attributes are decoded again, as messages of that link
 * are. */
static bool may_leave(tm_switch *sw, const uint8_t *frame, uint32_t size, uint32_t link) {
    if (!switch_has_exit(sw, link)) {
        return true;
    }
    tm_message message = switch_message(frame, size, link);
    message.extension_size = tm_load16(frame + WIRE_EXTENSION_SIZE);
    return switch_decode(sw, &message) && switch_may_go(sw, &message, link);
}

bool switch_direct(tm_switch *sw, const uint8_t *frame, uint32_t size, const tm_custody_place *place) {
    uint32_t neighbour = sw->net != NULL ? towards(sw->net, place->home) : NEIGHBOUR_NONE;
    uint32_t link = neighbour != NEIGHBOUR_NONE ? sw->net->neighbours[neighbour].connection : CONNECTION_NONE;
    uint32_t whole = size + WIRE_CUSTODY_BYTES;
    if (!has_room(sw, whole, link)) {
        switch_count_drop(sw, TM_DROP_DIRECTED, 1, whole);
        return false;
    }
    uint8_t *out = may_leave(sw, frame, size, link) ? switch_queue_allowed(sw, link, whole) : NULL;
    if (out == NULL) {
        return false;
    }
    memcpy(out, frame, WIRE_HEADER_BYTES);
    wire_store32(out, whole);
    out[WIRE_KIND] = WIRE_DIRECTED;
    out[WIRE_HOPS] = sw->options.hop_limit;
    wire_store16(out + WIRE_EXTENSION_SIZE, (uint16_t)(tm_load16(frame + WIRE_EXTENSION_SIZE) + WIRE_CUSTODY_BYTES));
    write_place(out + WIRE_HEADER_BYTES, place);
    memcpy(out + WIRE_HEADER_BYTES + WIRE_CUSTODY_BYTES, frame + WIRE_HEADER_BYTES, size - WIRE_HEADER_BYTES);
    sw->stats.forwarded++;
    switch_at(sw, link)->traffic.deliveries++;
    return true;
}
