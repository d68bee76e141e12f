/* lifecycle.c - see lifecycle.h.
 *
 * Law: switch_shut only marks a connection as ended. What it owned, waited for, withheld or served is released here,
 * where the call ends or before the next socket is served. Therefore no function that works on a connection finds it
 * freed, and no function that sends calls one that ends a connection.
 */
#define _GNU_SOURCE
#include "switch/lifecycle.h"

#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/grow.h"
#include "switch/access/border.h"
#include "switch/access/guard.h"
#include "switch/connections/connection.h"
#include "switch/connections/credit.h"
#include "switch/connections/events.h"
#include "switch/connections/outbox.h"
#include "switch/connections/rate.h"
#include "switch/connections/step.h"
#include "switch/connections/write.h"
#include "switch/durable.h"
#include "switch/forwarding/neighbours.h"
#include "switch/forwarding/net.h"
#include "switch/forwarding/order.h"
#include "switch/matching/local.h"
#include "switch/observe/trail.h"
#include "switch/remote.h"
#include "switch/subscribers/subscriber.h"
#include "switch/subscribers/subscriptions.h"

/* ---- a switch ---- */

static int fill(tm_switch *sw) {
    sw->receive = TM_NEW(&sw->memory, TM_COLD, uint8_t, SWITCH_RECEIVE_BYTES + TM_SHAPE_SLACK);
    sw->attributes = TM_NEW(&sw->memory, TM_COLD, tm_attribute, TM_ATTRIBUTES_MAX);
    if (sw->receive == NULL || sw->attributes == NULL ||
        !tm_grow(&sw->memory, TM_COLD, &sw->events, sizeof *sw->events, &sw->event_capacity, SWITCH_EVENTS_MIN)) {
        return TM_NO_MEMORY;
    }
    sw->epoll = epoll_create1(EPOLL_CLOEXEC);
    sw->strangers = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = STRANGERS_EPOLL_ID};
    bool is_watched = sw->epoll >= 0 && epoll_ctl(sw->epoll, EPOLL_CTL_ADD, sw->strangers, &event) == 0;
    return is_watched ? TM_OK : TM_NO_MEMORY;
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
    sw->match = switch_match_some;
    sw->work.steps_max = options->match_steps != 0 ? options->match_steps : TM_MATCH_STEPS;
    sw->epoll = sw->strangers = -1;
    for (uint32_t i = 0; i < SWITCH_FORMS; i++) {
        sw->forms[i].number = i;
    }
    sw->ticked_ms = tm_clock_ns() / 1000000;
    sw->connection_free = CONNECTION_NONE;
    sw->ended = CONNECTION_NONE;
    sw->subscriber_free = SUBSCRIBER_NONE;
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

void tm_switch_free(tm_switch *sw) {
    if (sw == NULL) {
        return;
    }
    if (sw->durable != NULL) {
        sw->durable->free(sw);
    }
    for (uint32_t id = 0; id < sw->connection_count; id++) {
        switch_free_border(sw, switch_at(sw, id));
        switch_clear_connection(sw, switch_at(sw, id));
    }
    for (uint32_t id = 0; id < sw->subscriber_count; id++) {
        switch_clear_subscriber(sw, switch_subscriber(sw, id));
    }
    TM_DELETE(&sw->memory, TM_COLD, sw->connections, tm_connection, sw->connection_capacity);
    TM_DELETE(&sw->memory, TM_COLD, sw->subscribers, tm_subscriber, sw->subscriber_capacity);
    TM_DELETE(&sw->memory, TM_COLD, sw->touched, uint32_t, sw->subscriber_capacity);
    TM_DELETE(&sw->memory, TM_COLD, sw->dirty, uint32_t, sw->connection_capacity);
    TM_DELETE(&sw->memory, TM_COLD, sw->receive, uint8_t, SWITCH_RECEIVE_BYTES + TM_SHAPE_SLACK);
    TM_DELETE(&sw->memory, TM_COLD, sw->attributes, tm_attribute, TM_ATTRIBUTES_MAX);
    TM_DELETE(&sw->memory, TM_COLD, sw->folded_texts, uint8_t, sw->folded_bytes);
    switch_trail_free(sw->trail, &sw->memory);
    TM_DELETE(&sw->memory, TM_COLD, sw->unmatched.bytes, uint8_t, sw->unmatched.size);
    TM_DELETE(&sw->memory, TM_COLD, sw->rows.groups, uint32_t, sw->rows.capacity);
    TM_DELETE(&sw->memory, TM_COLD, sw->rows.handles, uint32_t, sw->rows.capacity);
    TM_DELETE(&sw->memory, TM_COLD, sw->rows.next, uint32_t, sw->rows.capacity);
    TM_DELETE(&sw->memory, TM_COLD, sw->events, tm_event, sw->event_capacity);
    TM_DELETE(&sw->memory, TM_COLD, sw->event_bytes, uint8_t, sw->event_bytes_capacity);
    tm_subscriptions_clear(&sw->subscriptions);
    tm_publishers_clear(&sw->publishers);
    switch_net_free(sw->net, &sw->memory);
    switch_free_remotes(sw);
    tm_spaces_free(sw->spaces);
    switch_free_guards(sw);
    switch_free_buckets(sw);
    if (sw->epoll >= 0) {
        close(sw->epoll);
    }
    if (sw->strangers >= 0) {
        close(sw->strangers);
    }
    tm_memory memory = sw->memory;
    TM_DELETE(&memory, TM_COLD, sw, tm_switch, 1);
}

/* ---- a connection begins ---- */

/* Grow every list that may hold all connections together with them, so that no later append can fail. */
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
    if (connections == NULL) { /* shrink `dirty` to its old capacity; the allocation stays at least that long */
        sw->dirty = TM_RESIZE(&sw->memory, TM_COLD, sw->dirty, uint32_t, capacity, old);
        return false;
    }
    sw->connections = connections;
    sw->connection_capacity = capacity;
    return true;
}

static int watch_new(tm_switch *sw, uint32_t id, int fd) {
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = id};
    return fd < 0 || epoll_ctl(sw->strangers, EPOLL_CTL_ADD, fd, &event) == 0 ? TM_OK : TM_MISUSED;
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

static bool is_admissible(const tm_switch *sw, uint32_t id, const tm_admission *admission) {
    if (!switch_knows(sw, id) || admission == NULL || sw->connections[id].state != CONNECTION_GREETING) {
        return false;
    }
    bool may_be_link = admission->policy == TM_SLOW_DROP_NEWEST && admission->credit_bytes == 0;
    return admission->policy <= TM_SLOW_BLOCK && admission->number != 0 && (!admission->is_link || may_be_link) &&
           switch_knows_bucket(sw, admission->bucket) && (!admission->is_link || admission->bucket == TM_BUCKET_NONE);
}

static int admit(tm_switch *sw, uint32_t id, const tm_admission *admission) {
    tm_connection *connection = switch_at(sw, id);
    connection->admission = *admission;
    connection->onward_bytes_max = admission->frame_bytes_max;
    connection->state = CONNECTION_OPEN;
    switch_begin(sw);
    switch_watch_admitted(sw, id);
    switch_begin_rate(sw, connection);
    switch_grant(sw, id);
    switch_finish(sw);
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

int tm_switch_pace(tm_switch *sw, uint32_t id, uint32_t bucket) {
    if (!switch_knows(sw, id) || !switch_knows_bucket(sw, bucket) || switch_is_link(switch_at(sw, id))) {
        return TM_MISUSED;
    }
    tm_connection *connection = switch_at(sw, id);
    if (connection->state != CONNECTION_OPEN) {
        return TM_OK;
    }
    switch_begin(sw);
    if (connection->admission.bucket != bucket) {
        switch_end_rate(sw, connection);
        connection->admission.bucket = bucket;
        switch_begin_rate(sw, connection);
    }
    switch_grant(sw, id);
    switch_finish(sw);
    return TM_OK;
}

/* ---- a connection ends ---- */

static void leave_durables(tm_switch *sw, uint32_t id) {
    if (switch_at(sw, id)->is_lost) {
        sw->durable->blame(sw, id);
    }
    sw->durable->leave(sw, id);
}

/* Drop the queued output of a connection and release what it owns. */
static void clear(tm_switch *sw, tm_connection *connection) {
    uint64_t bytes;
    uint32_t messages = tm_outbox_messages(&connection->outbox, &bytes);
    switch_count_drop(sw, TM_DROP_CLOSED, messages, bytes);
    connection->traffic.told.dropped[TM_DROP_CLOSED] += messages;
    switch_clear_connection(sw, connection);
    switch_free_border(sw, connection);
}

static void end_waits(tm_switch *sw, uint32_t id) {
    tm_connection *connection = switch_at(sw, id);
    switch_wait_no_more(sw, id);
    switch_follow_no_more(sw, id);
    if (connection->waits_for_log) {
        sw->durable->hold_no_more(sw, id);
    }
    if (switch_is_blocked(connection)) {
        connection->credit.blocker_count = 0;
        sw->blocked_count--;
    }
}

static void finish_one(tm_switch *sw, uint32_t id) {
    tm_connection *connection = switch_at(sw, id);
    if (connection->subscriber != SUBSCRIBER_NONE) {
        switch_detach_subscriber(sw, connection->subscriber);
    }
    if (connection->consumers != 0) {
        leave_durables(sw, id);
    }
    if (connection->remotes != 0) {
        switch_leave_remotes(sw, id);
    }
    switch_end_rate(sw, connection);
    clear(sw, connection);
    connection->state = CONNECTION_CLOSED;
    end_waits(sw, id);
    if (switch_is_link(connection)) {
        switch_leave_neighbour(sw, id);
    }
    switch_unblock(sw);
    switch_tell(sw, (tm_event){.type = TM_EVENT_CLOSED, .connection = id, .code = connection->error});
}

void switch_finish_ended(tm_switch *sw) {
    while (sw->ended != CONNECTION_NONE) {
        uint32_t id = sw->ended;
        sw->ended = switch_at(sw, id)->next;
        finish_one(sw, id);
    }
}

void switch_finish(tm_switch *sw) {
    do {
        switch_finish_ended(sw);
        switch_flush_dirty(sw);
    } while (sw->ended != CONNECTION_NONE);
}

int tm_switch_lose(tm_switch *sw, uint32_t id) {
    if (!switch_knows(sw, id)) {
        return TM_MISUSED;
    }
    switch_begin(sw);
    switch_lose(sw, id, 0);
    switch_finish(sw);
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
    if (connection->told.silent && connection->state == CONNECTION_OPEN && connection->consumers != 0) {
        sw->durable->blame(sw, id);
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
    switch_finish(sw);
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
        *connection = (tm_connection){.fd = -1, .subscriber = SUBSCRIBER_NONE, .next = sw->connection_free};
        sw->connection_free = id;
        sw->connection_live--;
    }
    return TM_OK;
}

int tm_switch_subscriber_free(tm_switch *sw, uint32_t id, uint32_t steps, uint32_t *left) {
    if (!switch_knows_subscriber(sw, id) || left == NULL || switch_subscriber(sw, id)->connection != CONNECTION_NONE) {
        return TM_MISUSED;
    }
    tm_subscriber *subscriber = switch_subscriber(sw, id);
    subscriber->state = SUBSCRIBER_ENDED;
    uint64_t bytes;
    uint32_t messages = tm_outbox_messages(subscriber->waiting, &bytes);
    switch_count_drop(sw, TM_DROP_CLOSED, messages, bytes);
    tm_outbox_clear(subscriber->waiting, &sw->memory);
    *left = switch_forget_subscriber(sw, id, steps);
    tm_memory_give_back(&sw->memory);
    switch_begin(sw);
    switch_unblock(sw);
    switch_finish(sw);
    return TM_OK;
}
