/* connection.c - watching, pausing and shutting a connection.
 *
 * Law: an id is in use from tm_switch_open until tm_switch_forget leaves nothing. What a connection owns (its socket,
 * a partial frame, its output queue) is released at the end of the call in which it was shut.
 */
#define _GNU_SOURCE
#include "switch/connections/connection.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/grow.h"
#include "switch/connections/outbox.h"
#include "switch/state.h"

void switch_clear_connection(tm_switch *sw, tm_connection *connection) {
    if (connection->fd >= 0) {
        close(connection->fd);
    }
    connection->fd = -1;
    TM_DELETE(&sw->memory, TM_COLD, connection->partial.bytes, uint8_t, connection->partial.capacity);
    connection->partial = (tm_partial){0};
    tm_outbox_clear(&connection->outbox, &sw->memory);
}

/* Add the socket to the epoll set in which it belongs, or change its events there. */
static int watch(tm_switch *sw, uint32_t id, int operation) {
    const tm_connection *connection = switch_at(sw, id);
    bool reads = !connection->is_deaf && !connection->is_paused && !switch_waits(connection);
    struct epoll_event event = {.events = (reads ? EPOLLIN : 0U) | (connection->waits_to_write ? EPOLLOUT : 0U),
                                .data.u32 = id};
    return epoll_ctl(connection->is_admitted ? sw->epoll : sw->strangers, operation, connection->fd, &event);
}

void switch_watch(tm_switch *sw, uint32_t id) {
    if (switch_at(sw, id)->fd >= 0 && switch_is_alive(switch_at(sw, id))) {
        watch(sw, id, EPOLL_CTL_MOD);
    }
}

void switch_watch_admitted(tm_switch *sw, uint32_t id) {
    tm_connection *connection = switch_at(sw, id);
    if (connection->fd >= 0) {
        epoll_ctl(sw->strangers, EPOLL_CTL_DEL, connection->fd, NULL);
        connection->is_admitted = true;
        if (watch(sw, id, EPOLL_CTL_ADD) != 0) {
            switch_lose(sw, id, errno);
        }
    }
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
