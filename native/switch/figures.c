/* figures.c - counters for operators, and every invariant of the switch. */
#include "switch/connections/connection.h"
#include "switch/connections/outbox.h"
#include "switch/forwarding/net.h"
#include "switch/observe/unmatched.h"
#include "switch/state.h"
#include "switch/subscribers/subscriber.h"
#include "switch/subscribers/subscriptions.h"

void tm_switch_figures(const tm_switch *sw, tm_switch_stats *out) {
    *out = sw->stats;
    out->memory_bytes = sw->memory.bytes;
    out->connections = sw->connection_live;
    out->subscriptions = sw->subscriptions.live;
    out->filters = sw->subscriptions.filters;
    out->publishers = sw->publishers.count;
    if (sw->net != NULL) {
        out->routers = sw->net->routers.live;
        out->remote_filters = sw->net->network.count + sw->net->shared.network.count;
        out->generations = sw->net->routes.in_force;
    }
    out->queued_bytes = 0;
    for (uint32_t id = 0; id < sw->connection_count; id++) {
        out->queued_bytes += tm_outbox_size(&sw->connections[id].outbox);
    }
    for (uint32_t id = 0; id < sw->subscriber_count; id++) {
        const tm_subscriber *subscriber = &sw->subscribers[id];
        out->queued_bytes += switch_is_stored(subscriber) ? tm_outbox_size(subscriber->waiting) : 0;
    }
}

int tm_switch_connection(const tm_switch *sw, uint32_t id, tm_connection_stats *out) {
    static const tm_subscriber NONE = {0};
    if (!switch_knows(sw, id) || out == NULL) {
        return TM_ABSENT;
    }
    const tm_connection *connection = &sw->connections[id];
    const tm_traffic *traffic = &connection->traffic;
    bool serves = connection->subscriber != SUBSCRIBER_NONE;
    const tm_subscriber *subscriber = serves ? &sw->subscribers[connection->subscriber] : &NONE;
    uint64_t silent_ms = sw->now_ms - connection->clocks.received_ms;
    *out = (tm_connection_stats){
        .number = connection->admission.number,
        .messages_in = traffic->messages_in,
        .bytes_in = traffic->bytes_in,
        .deliveries = traffic->deliveries,
        .bytes_out = traffic->bytes_out,
        .dropped = traffic->dropped,
        .queued_bytes = tm_outbox_size(&connection->outbox),
        .queued_peak = traffic->queued_peak,
        .subscriptions = subscriber->subscription_count,
        .table_bytes = subscriber->table_bytes,
        .filters = subscriber->filter_count,
        .silent_ms = silent_ms < UINT32_MAX ? (uint32_t)silent_ms : UINT32_MAX,
        .state = connection->state == CONNECTION_ENDED ? CONNECTION_CLOSING : connection->state,
        .is_blocked = switch_is_blocked(connection),
    };
    return TM_OK;
}

void tm_switch_clients(const tm_switch *sw, tm_connection_stats *out) {
    *out = (tm_connection_stats){0};
    for (uint32_t id = 0; id < sw->connection_count; id++) {
        const tm_connection *connection = &sw->connections[id];
        bool is_there = connection->state == CONNECTION_OPEN || connection->state == CONNECTION_CLOSING;
        if (!is_there || connection->subscriber == SUBSCRIBER_NONE) {
            continue;
        }
        const tm_subscriber *subscriber = &sw->subscribers[connection->subscriber];
        out->messages_in += connection->traffic.messages_in;
        out->bytes_in += connection->traffic.bytes_in;
        out->deliveries += connection->traffic.deliveries;
        out->bytes_out += connection->traffic.bytes_out;
        out->dropped += connection->traffic.dropped;
        out->queued_bytes += tm_outbox_size(&connection->outbox);
        out->table_bytes += subscriber->table_bytes;
        out->subscriptions += subscriber->subscription_count;
        out->filters += subscriber->filter_count;
    }
}

int tm_switch_subscriber(const tm_switch *sw, uint32_t id, tm_subscriber_stats *out) {
    if (!switch_knows_subscriber(sw, id) || out == NULL) {
        return TM_ABSENT;
    }
    tm_subscriber *subscriber = &sw->subscribers[id];
    const tm_outbox *outbox = switch_outbox_of(sw, subscriber); /* NULL: it is a home */
    *out = (tm_subscriber_stats){.number = subscriber->number,
                                 .queued_bytes = outbox != NULL ? tm_outbox_size(outbox) : 0,
                                 .table_bytes = subscriber->table_bytes,
                                 .dropped = subscriber->dropped,
                                 .subscriptions = subscriber->subscription_count,
                                 .filters = subscriber->filter_count,
                                 .connection = subscriber->connection};
    return TM_OK;
}

uint32_t tm_switch_subscriber_of(const tm_switch *sw, uint32_t connection) {
    return switch_knows(sw, connection) ? sw->connections[connection].subscriber : SUBSCRIBER_NONE;
}

uint32_t tm_switch_durable_of(const tm_switch *sw, uint32_t subscriber) {
    return switch_knows_subscriber(sw, subscriber) ? switch_durable_of(&sw->subscribers[subscriber]) : 0;
}

/* ---- increments ---- */

static bool has_dropped(const tm_increment *told) {
    uint32_t any = 0;
    for (unsigned reason = 0; reason < TM_DROP_REASONS; reason++) {
        any |= told->dropped[reason] | told->refused[reason];
    }
    return any != 0;
}

/* Return the counters gained since the last report; false: none were. */
static bool take_increment(tm_connection *connection, uint32_t id, tm_increment *out) {
    tm_traffic *traffic = &connection->traffic;
    tm_increment *told = &traffic->told;
    tm_increment gained = *told;
    gained.connection = id;
    gained.messages_in = traffic->messages_in - told->messages_in;
    gained.messages_out = traffic->deliveries - told->messages_out;
    gained.bytes_in = traffic->bytes_in - told->bytes_in;
    gained.bytes_out = traffic->bytes_out - told->bytes_out;
    gained.queued_bytes = tm_outbox_size(&connection->outbox);
    if (gained.bytes_in == 0 && gained.bytes_out == 0 && gained.messages_in == 0 && gained.messages_out == 0 &&
        !has_dropped(told)) {
        return false;
    }
    *out = gained;
    *told = (tm_increment){.messages_in = traffic->messages_in,
                           .messages_out = traffic->deliveries,
                           .bytes_in = traffic->bytes_in,
                           .bytes_out = traffic->bytes_out};
    return true;
}

int tm_switch_increments(tm_switch *sw, uint32_t *first, uint32_t end, tm_increment *out, size_t capacity,
                         size_t *count) {
    if (sw == NULL || first == NULL || out == NULL || count == NULL || capacity == 0) {
        return TM_MISUSED;
    }
    end = end < sw->connection_count ? end : sw->connection_count;
    *count = 0;
    for (; *first < end && *count < capacity; (*first)++) {
        tm_connection *connection = switch_at(sw, *first);
        *count += connection->state != CONNECTION_FREE && take_increment(connection, *first, &out[*count]);
    }
    return TM_OK;
}

int tm_switch_unlinked(tm_switch *sw, tm_unlinked *out, size_t capacity, size_t *count) {
    if (sw == NULL || out == NULL || count == NULL) {
        return TM_MISUSED;
    }
    *count = 0;
    for (uint32_t place = 0; sw->net != NULL && place < sw->net->neighbour_count && *count < capacity; place++) {
        tm_neighbour *neighbour = &sw->net->neighbours[place];
        if (neighbour->router != ROUTER_NONE && neighbour->unlinked > 0) {
            out[(*count)++] = (tm_unlinked){sw->net->routers.rows[neighbour->router].number, neighbour->unlinked};
            neighbour->unlinked = 0;
        }
    }
    return TM_OK;
}

/* ---- soundness ---- */

static const char *fault_of(const tm_switch *sw, uint32_t id) {
    const tm_connection *connection = &sw->connections[id];
    if (!tm_outbox_is_sound(&connection->outbox)) {
        return "a connection's output is not whole frames";
    }
    if (connection->partial.size > connection->partial.capacity) {
        return "a partial frame is larger than its buffer";
    }
    if (connection->state == CONNECTION_CLOSED && (connection->fd >= 0 || connection->partial.bytes != NULL)) {
        return "a connection that has ended keeps a socket or bytes";
    }
    bool serves = connection->subscriber != SUBSCRIBER_NONE;
    if (serves && sw->subscribers[connection->subscriber].connection != id) {
        return "a connection and its subscriber do not agree";
    }
    return NULL;
}

static const char *fault_of_connections(const tm_switch *sw) {
    uint32_t live = 0;
    uint32_t blocked = 0;
    for (uint32_t id = 0; id < sw->connection_count; id++) {
        const tm_connection *connection = &sw->connections[id];
        bool in_use = connection->state != CONNECTION_FREE;
        live += in_use;
        blocked += in_use && switch_is_blocked(connection);
        const char *fault = in_use ? fault_of(sw, id) : NULL;
        if (fault != NULL) {
            return fault;
        }
    }
    bool is_right = live == sw->connection_live && blocked == sw->blocked_count;
    return is_right ? NULL : "the count of connections that live or wait is wrong";
}

static const char *fault_of_subscriber(const tm_switch *sw, uint32_t id) {
    const tm_subscriber *subscriber = &sw->subscribers[id];
    if (subscriber->connection == CONNECTION_NONE) {
        bool has_next_hop = subscriber->state != SUBSCRIBER_LIVE || switch_is_stored(subscriber);
        return has_next_hop ? NULL : "a live subscriber without a connection has no queue";
    }
    if (sw->connections[subscriber->connection].subscriber != id) {
        return "a subscriber and its connection do not agree";
    }
    bool waits = switch_is_stored(subscriber) && tm_outbox_size(subscriber->waiting) > 0;
    return waits ? "a subscriber with a connection has a queue of its own" : NULL;
}

static const char *fault_of_subscribers(const tm_switch *sw) {
    uint32_t live = 0;
    uint64_t filters = 0;
    for (uint32_t id = 0; id < sw->subscriber_count; id++) {
        const tm_subscriber *subscriber = &sw->subscribers[id];
        live += subscriber->state != SUBSCRIBER_FREE;
        filters += subscriber->filter_count;
        const char *fault = fault_of_subscriber(sw, id);
        if (fault != NULL) {
            return fault;
        }
        if (switch_is_stored(subscriber) && !tm_outbox_is_sound(subscriber->waiting)) {
            return "what waits for a subscriber is not whole frames";
        }
    }
    if (live != sw->subscriber_live) {
        return "the count of subscribers is wrong";
    }
    bool is_right = filters == sw->subscriptions.filters && tm_subscriptions_are_sound(&sw->subscriptions);
    return is_right ? NULL : "subscriptions and filters do not agree";
}

int tm_switch_validate(const tm_switch *sw, const char **reason) {
    *reason = fault_of_connections(sw);
    if (*reason == NULL) {
        *reason = fault_of_subscribers(sw);
    }
    if (*reason != NULL) {
        return TM_MISUSED;
    }
    if (sw->publishers.count > 0 && !tm_publishers_are_sound(&sw->publishers)) {
        *reason = "a publisher is not found under its number";
    } else if (sw->net != NULL && !switch_net_is_sound(sw->net)) {
        *reason = "routers, their filters and the routes to them do not agree";
    } else if (!switch_unmatched_is_sound(&sw->unmatched)) {
        *reason = "the entries of unmatched messages are not contiguous";
    }
    return *reason == NULL ? TM_OK : TM_MISUSED;
}
