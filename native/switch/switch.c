/* switch.c - see switch.h. */
#define _GNU_SOURCE
#include "switch/message.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/grow.h"

#define EVENTS_MIN 64U

/* ---- life ---- */

static int fill(tm_switch *sw) {
    sw->receive = TM_NEW(&sw->memory, TM_COLD, uint8_t, SWITCH_RECEIVE_BYTES + TM_SHAPE_SLACK);
    sw->attributes = TM_NEW(&sw->memory, TM_COLD, tm_attribute, TM_ATTRIBUTES_MAX);
    if (sw->receive == NULL || sw->attributes == NULL ||
        !tm_grow(&sw->memory, TM_COLD, &sw->events, sizeof *sw->events, &sw->event_capacity, EVENTS_MIN)) {
        return TM_NO_MEMORY;
    }
    sw->epoll = epoll_create1(EPOLL_CLOEXEC);
    return sw->epoll >= 0 ? TM_OK : TM_NO_MEMORY;
}

int tm_switch_new(const tm_switch_options *options, tm_table *table, tm_switch **made) {
    if (options == NULL || table == NULL || made == NULL || options->connections_max == 0 ||
        options->connections_max > TM_CONNECTIONS_MAX || options->frame_bytes_max < WIRE_CONTROL_BYTES_MAX) {
        return TM_MISUSED;
    }
    tm_memory memory = {.bytes_max = options->memory_bytes_max, .key = tm_hash_key_of(options->hash_seed)};
    tm_switch *sw = TM_NEW(&memory, TM_COLD, tm_switch, 1);
    if (sw == NULL) {
        return TM_NO_MEMORY;
    }
    sw->memory = memory;
    sw->table = table;
    sw->options = *options;
    sw->work.steps_max = options->match_steps != 0 ? options->match_steps : TM_MATCH_STEPS;
    sw->epoll = -1;
    sw->connection_free = CONNECTION_NONE;
    tm_subscriptions_init(&sw->subscriptions, &sw->memory, table);
    tm_publishers_init(&sw->publishers, &sw->memory, options->publishers_max);
    int result = fill(sw);
    if (result != TM_OK) {
        tm_switch_free(sw);
        return result;
    }
    *made = sw;
    return TM_OK;
}

static void clear_connection(tm_switch *sw, tm_connection *connection) {
    if (connection->fd >= 0 && switch_is_alive(connection)) {
        close(connection->fd);
    }
    connection->fd = -1;
    TM_DELETE(&sw->memory, TM_COLD, connection->partial, uint8_t, connection->partial_capacity);
    connection->partial = NULL;
    connection->partial_capacity = 0;
    connection->partial_size = 0;
    tm_outbox_clear(&connection->outbox, &sw->memory);
}

void tm_switch_free(tm_switch *sw) {
    if (sw == NULL) {
        return;
    }
    for (uint32_t id = 0; id < sw->connection_count; id++) {
        clear_connection(sw, switch_at(sw, id));
    }
    TM_DELETE(&sw->memory, TM_COLD, sw->connections, tm_connection, sw->connection_capacity);
    TM_DELETE(&sw->memory, TM_COLD, sw->touched, uint32_t, sw->connection_capacity);
    TM_DELETE(&sw->memory, TM_COLD, sw->dirty, uint32_t, sw->connection_capacity);
    TM_DELETE(&sw->memory, TM_COLD, sw->receive, uint8_t, SWITCH_RECEIVE_BYTES + TM_SHAPE_SLACK);
    TM_DELETE(&sw->memory, TM_COLD, sw->attributes, tm_attribute, TM_ATTRIBUTES_MAX);
    switch_trail_free(sw->trail, &sw->memory);
    TM_DELETE(&sw->memory, TM_COLD, sw->rows.links, uint32_t, sw->rows.capacity);
    TM_DELETE(&sw->memory, TM_COLD, sw->rows.handles, uint32_t, sw->rows.capacity);
    TM_DELETE(&sw->memory, TM_COLD, sw->rows.next, uint32_t, sw->rows.capacity);
    TM_DELETE(&sw->memory, TM_COLD, sw->events, tm_event, sw->event_capacity);
    TM_DELETE(&sw->memory, TM_COLD, sw->event_bytes, uint8_t, sw->event_bytes_capacity);
    tm_subscriptions_clear(&sw->subscriptions);
    tm_publishers_clear(&sw->publishers);
    switch_net_free(sw->net, &sw->memory);
    if (sw->epoll >= 0) {
        close(sw->epoll);
    }
    tm_memory memory = sw->memory;
    TM_DELETE(&memory, TM_COLD, sw, tm_switch, 1);
}

int tm_switch_descriptor(const tm_switch *sw) {
    return sw->epoll;
}

void tm_switch_drain(tm_switch *sw, bool draining) {
    sw->is_draining = draining;
}

void tm_switch_fail_allocation(tm_switch *sw, uint64_t n) {
    sw->memory.fail_in = n;
}

void tm_switch_advance(tm_switch *sw, uint64_t ms) {
    sw->ahead_ms += ms;
}

/* ---- events ---- */

void switch_begin(tm_switch *sw) {
    sw->now_ms = tm_clock_ns() / 1000000 + sw->ahead_ms;
    if (sw->events_are_out) { /* others wait: what happened in a call that returns none */
        sw->events_are_out = false;
        sw->event_count = 0;
        sw->event_size = 0;
    }
}

/* Bytes were noted by their place, as they may have moved since. */
int switch_end(tm_switch *sw, const tm_event **events, size_t *count) {
    for (uint32_t i = 0; i < sw->event_count; i++) {
        if (sw->events[i].size > 0) {
            sw->events[i].frame = sw->event_bytes + (uintptr_t)sw->events[i].frame;
        }
    }
    *events = sw->events;
    *count = sw->event_count;
    sw->events_are_out = true;
    return TM_OK;
}

/* Every connection that lives keeps room for its end. */
bool switch_tell(tm_switch *sw, tm_event event) {
    uint32_t kept = event.type == TM_EVENT_CLOSED ? 0 : sw->connection_live;
    uint32_t wanted = sw->event_count + 1 + kept;
    if (wanted > sw->event_capacity &&
        !tm_grow(&sw->memory, TM_COLD, &sw->events, sizeof event, &sw->event_capacity, wanted)) {
        return false;
    }
    sw->events[sw->event_count++] = event;
    return true;
}

/* Aligned, as what goes up may be a struct. */
uint8_t *switch_tell_bytes(tm_switch *sw, tm_event event, uint32_t size) {
    uint32_t at = (sw->event_size + 7) & ~7U;
    uint32_t wanted = at + size;
    if (wanted > sw->event_bytes_capacity &&
        !tm_grow(&sw->memory, TM_COLD, &sw->event_bytes, 1, &sw->event_bytes_capacity, wanted)) {
        return NULL;
    }
    event.frame = (const uint8_t *)(uintptr_t)at;
    event.size = size;
    if (!switch_tell(sw, event)) {
        return NULL;
    }
    sw->event_size = wanted;
    return sw->event_bytes + at;
}

bool switch_tell_frame(tm_switch *sw, uint32_t connection, unsigned type, const uint8_t *frame, uint32_t size) {
    tm_event event = {.type = (uint8_t)type, .connection = connection, .kind = frame[WIRE_KIND]};
    uint8_t *at = switch_tell_bytes(sw, event, size);
    if (at != NULL) {
        memcpy(at, frame, size);
    }
    return at != NULL;
}

void switch_fault(tm_switch *sw, uint32_t id, wire_error code, const uint8_t *frame, const char *text) {
    tm_connection *connection = switch_at(sw, id);
    if (code == WIRE_UNKNOWN_EXTENSION) {
        if (connection->told_extension) {
            return;
        }
        connection->told_extension = true;
    } else {
        connection->is_deaf = true;
        switch_watch(sw, id);
    }
    sw->stats.faults++;
    tm_event event = {.type = TM_EVENT_FAULT,
                      .connection = id,
                      .code = code,
                      .kind = frame == NULL ? 0 : frame[WIRE_KIND],
                      .text = text};
    if (!switch_tell(sw, event)) {
        switch_shut(sw, id, ENOMEM);
    }
}

/* ---- connections ---- */

static bool grow_list(tm_switch *sw, uint32_t **list, uint32_t old, uint32_t capacity) {
    uint32_t *grown = TM_RESIZE(&sw->memory, TM_COLD, *list, uint32_t, old, capacity);
    *list = grown != NULL ? grown : *list;
    return grown != NULL;
}

/* Every list that may hold all connections grows with them, so that none can fail later. */
static bool reserve_connection(tm_switch *sw) {
    if (sw->connection_free != CONNECTION_NONE || sw->connection_count < sw->connection_capacity) {
        return true;
    }
    uint32_t old = sw->connection_capacity;
    uint32_t capacity = tm_next_capacity(old, sizeof *sw->connections);
    capacity = capacity < sw->options.connections_max ? capacity : sw->options.connections_max;
    if (!tm_grow(&sw->memory, TM_COLD, &sw->events, sizeof *sw->events, &sw->event_capacity, capacity + EVENTS_MIN) ||
        !grow_list(sw, &sw->touched, old, capacity)) {
        return false;
    }
    bool grown = grow_list(sw, &sw->dirty, old, capacity);
    tm_connection *connections =
        grown ? TM_RESIZE(&sw->memory, TM_COLD, sw->connections, tm_connection, old, capacity) : NULL;
    if (connections == NULL) { /* the lists are as they were, to the system at least as long */
        sw->touched = TM_RESIZE(&sw->memory, TM_COLD, sw->touched, uint32_t, capacity, old);
        if (grown) {
            sw->dirty = TM_RESIZE(&sw->memory, TM_COLD, sw->dirty, uint32_t, capacity, old);
        }
        return false;
    }
    sw->connections = connections;
    sw->connection_capacity = capacity;
    return true;
}

static int watch_new(tm_switch *sw, uint32_t id, int fd) {
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = id};
    return fd < 0 || epoll_ctl(sw->epoll, EPOLL_CTL_ADD, fd, &event) == 0 ? TM_OK : TM_MISUSED;
}

int tm_switch_open(tm_switch *sw, int fd, uint32_t *out) {
    if (sw == NULL || out == NULL) {
        return TM_MISUSED;
    }
    if (sw->connection_live == sw->options.connections_max) {
        return TM_TOO_MANY;
    }
    if (!reserve_connection(sw)) {
        return TM_NO_MEMORY;
    }
    bool is_reused = sw->connection_free != CONNECTION_NONE;
    uint32_t id = is_reused ? sw->connection_free : sw->connection_count;
    int result = tm_table_set_interface(sw->table, id, TM_INTERFACE_CLIENT);
    result = result == TM_OK ? watch_new(sw, id, fd) : result;
    if (result != TM_OK) {
        return result;
    }
    if (is_reused) {
        sw->connection_free = switch_at(sw, id)->next_free;
    } else {
        sw->connection_count++;
    }
    switch_begin(sw);
    *switch_at(sw, id) = (tm_connection){.fd = fd,
                                         .is_fed = fd < 0,
                                         .state = CONNECTION_GREETING,
                                         .greeting_left = sw->options.greeting_bytes_max,
                                         .publisher_row = PUBLISHER_NONE,
                                         .neighbour = NEIGHBOUR_NONE,
                                         .subscriptions = SUBSCRIPTION_NONE,
                                         .clock_round_trip_us = UINT64_MAX,
                                         .received_ms = sw->now_ms,
                                         .sent_ms = sw->now_ms};
    sw->connection_live++;
    *out = id;
    return TM_OK;
}

int tm_switch_admit(tm_switch *sw, uint32_t id, const tm_admission *admission) {
    if (!switch_knows(sw, id) || admission == NULL || switch_at(sw, id)->state != CONNECTION_GREETING ||
        admission->policy > TM_SLOW_BLOCK || admission->number == 0 ||
        (admission->is_link && (admission->policy != TM_SLOW_DROP_NEWEST || admission->credit_bytes > 0))) {
        return TM_MISUSED;
    }
    int result = admission->is_link ? switch_join_neighbour(sw, id, admission->number) : TM_OK;
    if (result != TM_OK) {
        return result;
    }
    tm_connection *connection = switch_at(sw, id);
    connection->admission = *admission;
    connection->state = CONNECTION_OPEN;
    switch_begin(sw);
    switch_grant(sw, id);
    switch_flush_dirty(sw);
    return TM_OK;
}

int tm_switch_send(tm_switch *sw, uint32_t id, const uint8_t *frames, size_t size, int lane) {
    if (!switch_knows(sw, id) || !switch_is_alive(switch_at(sw, id)) || size > UINT32_MAX / 4) {
        return TM_MISUSED;
    }
    tm_connection *connection = switch_at(sw, id);
    uint64_t data_max = connection->admission.queue_bytes_max;
    if (connection->admission.policy == TM_SLOW_BLOCK && connection->queued_peak > data_max) {
        data_max = connection->queued_peak; /* it had to hold what publishers had credit for */
    }
    uint64_t bytes_max = OUTBOX_URGENT_MAX + data_max + sw->options.frame_bytes_max;
    if (lane == TM_LANE_ORDERED && tm_lane_size(&connection->outbox.ordered) + size > bytes_max) {
        return TM_TOO_MANY;
    }
    uint8_t *at = lane == TM_LANE_URGENT ? tm_outbox_urge(&connection->outbox, &sw->memory, (uint32_t)size)
                                         : tm_outbox_append(&connection->outbox, &sw->memory, (uint32_t)size);
    if (at == NULL) {
        return TM_TOO_MANY;
    }
    memcpy(at, frames, size);
    switch_begin(sw);
    switch_mark_dirty(sw, id);
    switch_flush_dirty(sw);
    return TM_OK;
}

int tm_switch_pause(tm_switch *sw, uint32_t id, bool paused) {
    if (!switch_knows(sw, id)) {
        return TM_MISUSED;
    }
    switch_at(sw, id)->is_paused = paused;
    switch_watch(sw, id);
    return TM_OK;
}

void switch_shut(tm_switch *sw, uint32_t id, int error) {
    tm_connection *connection = switch_at(sw, id);
    if (!switch_is_alive(connection)) {
        return;
    }
    uint64_t bytes;
    uint32_t messages = tm_outbox_messages(&connection->outbox, &bytes);
    switch_count_drop(sw, TM_DROP_CLOSED, messages, bytes);
    connection->told.dropped[TM_DROP_CLOSED] += messages;
    clear_connection(sw, connection);
    connection->state = CONNECTION_CLOSED;
    connection->is_deaf = true;
    switch_wait_no_more(sw, id);
    switch_follow_no_more(sw, id);
    if (switch_is_blocked(connection)) {
        connection->blocker_count = 0;
        sw->blocked_count--;
    }
    if (switch_is_link(connection)) {
        switch_leave_neighbour(sw, id);
    }
    switch_unblock(sw);
    switch_tell(sw, (tm_event){.type = TM_EVENT_CLOSED, .connection = id, .code = (uint32_t)error});
}

int tm_switch_close(tm_switch *sw, uint32_t id, bool now) {
    if (!switch_knows(sw, id)) {
        return TM_MISUSED;
    }
    tm_connection *connection = switch_at(sw, id);
    if (!switch_is_alive(connection)) {
        return TM_OK;
    }
    switch_begin(sw);
    connection->is_deaf = true;
    connection->state = CONNECTION_CLOSING;
    if (now) {
        switch_shut(sw, id, 0);
    } else {
        switch_watch(sw, id);
        switch_mark_dirty(sw, id);
    }
    switch_flush_dirty(sw);
    return TM_OK;
}

int tm_switch_forget(tm_switch *sw, uint32_t id, uint32_t steps, uint32_t *left) {
    if (!switch_knows(sw, id) || left == NULL || switch_at(sw, id)->state != CONNECTION_CLOSED) {
        return TM_MISUSED;
    }
    tm_connection *connection = switch_at(sw, id);
    uint64_t stop_ns = tm_clock_ns() + SWITCH_SLICE_NS;
    for (uint32_t done = 0; done < steps && connection->subscriptions != SUBSCRIPTION_NONE;) {
        if (done > 0 && tm_clock_ns() > stop_ns) {
            break;
        }
        connection->table_bytes -= sw->subscriptions.rows[connection->subscriptions].table_bytes;
        uint32_t filters =
            tm_subscriptions_end(&sw->subscriptions, connection->subscriptions, &connection->subscriptions);
        connection->filter_count -= filters;
        connection->subscription_count--;
        done += filters;
    }
    uint64_t unsettled;
    tm_table_settle(sw->table, 0, &unsettled); /* what a large client leaves goes back as it comes */
    if (connection->subscriptions == SUBSCRIPTION_NONE) {
        tm_subscriptions_shrink(&sw->subscriptions);
    }
    tm_memory_give_back(&sw->memory);
    *left = connection->filter_count;
    if (connection->subscriptions == SUBSCRIPTION_NONE) {
        *left = 0;
        *connection = (tm_connection){.fd = -1, .next_free = sw->connection_free};
        sw->connection_free = id;
        sw->connection_live--;
    }
    return TM_OK;
}
