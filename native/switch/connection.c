/* connection.c - a connection from its opening to its end, as those above ask for it.
 *
 * Law: an id is in use from tm_switch_open until tm_switch_forget leaves nothing. What a connection owns (its socket,
 * the frame that is half there, what waits for it) is given back when it is shut.
 */
#define _GNU_SOURCE
#include "switch/switch.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/grow.h"

void switch_clear_connection(tm_switch *sw, tm_connection *connection) {
    if (connection->fd >= 0 && switch_is_alive(connection)) {
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
        sw->connection_free = switch_at(sw, id)->next_free;
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

static bool is_admissible(const tm_switch *sw, uint32_t id, const tm_admission *admission) {
    if (!switch_knows(sw, id) || admission == NULL || sw->connections[id].state != CONNECTION_GREETING) {
        return false;
    }
    bool may_be_link = admission->policy == TM_SLOW_DROP_NEWEST && admission->credit_bytes == 0;
    return admission->policy <= TM_SLOW_BLOCK && admission->number != 0 && (!admission->is_link || may_be_link);
}

static int admit(tm_switch *sw, uint32_t id, const tm_admission *admission) {
    tm_connection *connection = switch_at(sw, id);
    connection->admission = *admission;
    connection->state = CONNECTION_OPEN;
    switch_begin(sw);
    switch_grant(sw, id);
    switch_flush_dirty(sw);
    return TM_OK;
}

int tm_switch_admit(tm_switch *sw, uint32_t id, const tm_admission *admission) {
    if (!is_admissible(sw, id, admission)) {
        return TM_MISUSED;
    }
    uint32_t subscriber = SUBSCRIBER_NONE;
    int result = admission->is_link ? switch_join_neighbour(sw, id, admission->number)
                                    : switch_new_subscriber(sw, admission, &subscriber);
    if (result != TM_OK) {
        return result;
    }
    if (subscriber != SUBSCRIBER_NONE) {
        switch_subscriber(sw, subscriber)->connection = id;
        switch_at(sw, id)->subscriber = subscriber;
    }
    return admit(sw, id, admission);
}

int tm_switch_attach(tm_switch *sw, uint32_t id, const tm_admission *admission, uint32_t subscriber) {
    if (!is_admissible(sw, id, admission) || admission->is_link || !switch_knows_subscriber(sw, subscriber)) {
        return TM_MISUSED;
    }
    int result = switch_attach_subscriber(sw, subscriber, id, admission);
    return result == TM_OK ? admit(sw, id, admission) : result;
}

int tm_switch_send(tm_switch *sw, uint32_t id, const uint8_t *frames, size_t size, int lane) {
    if (!switch_knows(sw, id) || !switch_is_alive(switch_at(sw, id)) || size > UINT32_MAX / 4) {
        return TM_MISUSED;
    }
    tm_connection *connection = switch_at(sw, id);
    uint64_t data_max = connection->admission.queue_bytes_max;
    if (connection->admission.policy == TM_SLOW_BLOCK && connection->traffic.queued_peak > data_max) {
        data_max = connection->traffic.queued_peak; /* it had to hold what publishers had credit for */
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
    if (connection->subscriber != SUBSCRIBER_NONE) {
        switch_detach_subscriber(sw, connection->subscriber);
    }
    if (connection->attachments != 0) {
        switch_leave_keeps(sw, id);
    }
    uint64_t bytes;
    uint32_t messages = tm_outbox_messages(&connection->outbox, &bytes);
    switch_count_drop(sw, TM_DROP_CLOSED, messages, bytes);
    connection->traffic.told.dropped[TM_DROP_CLOSED] += messages;
    switch_clear_connection(sw, connection);
    connection->state = CONNECTION_CLOSED;
    connection->is_deaf = true;
    switch_wait_no_more(sw, id);
    switch_follow_no_more(sw, id);
    switch_hold_no_more(sw, id);
    if (switch_is_blocked(connection)) {
        connection->credit.blocker_count = 0;
        sw->blocked_count--;
    }
    if (switch_is_link(connection)) {
        switch_leave_neighbour(sw, id);
    }
    switch_unblock(sw);
    switch_tell(sw, (tm_event){.type = TM_EVENT_CLOSED, .connection = id, .code = (uint32_t)error});
}

/* Is the peer gone, while this end was not closing? */
static void blame(tm_switch *sw, uint32_t id) {
    if (switch_at(sw, id)->state == CONNECTION_OPEN && switch_at(sw, id)->attachments != 0) {
        switch_blame_keeps(sw, id);
    }
}

void switch_lose(tm_switch *sw, uint32_t id, int error) {
    blame(sw, id);
    switch_shut(sw, id, error);
}

int tm_switch_lose(tm_switch *sw, uint32_t id) {
    if (!switch_knows(sw, id)) {
        return TM_MISUSED;
    }
    switch_begin(sw);
    switch_lose(sw, id, 0);
    switch_flush_dirty(sw);
    return TM_OK;
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
    if (connection->told.silent) {
        blame(sw, id);
    }
    connection->is_deaf = true;
    connection->state = CONNECTION_CLOSING;
    if (connection->subscriber != SUBSCRIBER_NONE) {
        switch_end_subscriber(sw, connection->subscriber);
    }
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
    bool serves = connection->subscriber != SUBSCRIBER_NONE;
    *left = serves ? switch_forget_subscriber(sw, connection->subscriber, steps) : 0;
    tm_memory_give_back(&sw->memory);
    if (*left == 0) {
        *connection = (tm_connection){.fd = -1, .subscriber = SUBSCRIBER_NONE, .next_free = sw->connection_free};
        sw->connection_free = id;
        sw->connection_live--;
    }
    return TM_OK;
}
