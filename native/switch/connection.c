/* connection.c - a connection is opened, paused and shut.
 *
 * Law: an id is in use from tm_switch_open until tm_switch_forget leaves nothing. What a connection owns (its socket,
 * the frame that is half there, what waits for it) is given back where the call ends in which it was shut.
 */
#define _GNU_SOURCE
#include "switch/switch.h"

#include <sys/epoll.h>
#include <unistd.h>

#include "base/grow.h"

void switch_clear_connection(tm_switch *sw, tm_connection *connection) {
    if (connection->fd >= 0) {
        close(connection->fd);
    }
    connection->fd = -1;
    TM_DELETE(&sw->memory, TM_COLD, connection->partial.bytes, uint8_t, connection->partial.capacity);
    connection->partial = (tm_partial){0};
    tm_outbox_clear(&connection->outbox, &sw->memory);
}

/* Every list that may hold all connections grows with them, so that none can fail later. */
static bool reserve_connection(tm_switch *sw) {
    if (sw->connection_free != CONNECTION_NONE || sw->connection_count < sw->connection_capacity) {
        return true;
    }
    uint32_t old = sw->connection_capacity;
    uint32_t capacity = tm_next_capacity(old, sizeof *sw->connections);
    capacity = capacity < sw->options.connections_max ? capacity : sw->options.connections_max;
    if (!tm_grow(&sw->memory, TM_COLD, &sw->events, sizeof *sw->events, &sw->event_capacity,
                 capacity + SWITCH_EVENTS_MIN)) {
        return false;
    }
    uint32_t *dirty = TM_RESIZE(&sw->memory, TM_COLD, sw->dirty, uint32_t, old, capacity);
    if (dirty == NULL) {
        return false;
    }
    sw->dirty = dirty;
    tm_connection *connections = TM_RESIZE(&sw->memory, TM_COLD, sw->connections, tm_connection, old, capacity);
    if (connections == NULL) { /* the list is as it was, to the system at least as long */
        sw->dirty = TM_RESIZE(&sw->memory, TM_COLD, sw->dirty, uint32_t, capacity, old);
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
    int result = watch_new(sw, id, fd);
    if (result != TM_OK) {
        return result;
    }
    if (is_reused) {
        sw->connection_free = switch_at(sw, id)->next;
    } else {
        sw->connection_count++;
    }
    switch_begin(sw);
    *switch_at(sw, id) =
        (tm_connection){.fd = fd,
                        .is_fed = fd < 0,
                        .state = CONNECTION_GREETING,
                        .greeting_left = sw->options.greeting_bytes_max,
                        .publisher_row = PUBLISHER_NONE,
                        .neighbour = NEIGHBOUR_NONE,
                        .subscriber = SUBSCRIBER_NONE,
                        .serial = ++sw->connection_serial,
                        .clocks = {.received_ms = sw->now_ms, .sent_ms = sw->now_ms, .round_trip_us = UINT64_MAX}};
    sw->connection_live++;
    *out = id;
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
    if (switch_is_alive(connection)) {
        connection->state = CONNECTION_ENDED;
        connection->is_deaf = true;
        connection->error = (uint16_t)error;
        connection->next = sw->ended;
        sw->ended = id;
    }
}

void switch_lose(tm_switch *sw, uint32_t id, int error) {
    tm_connection *connection = switch_at(sw, id);
    connection->is_lost |= connection->state == CONNECTION_OPEN;
    switch_shut(sw, id, error);
}
