/* poll.c - the sockets that are ready, and periodic work.
 *
 * Law: a poll serves sockets in the order of the system until its time budget is used up: those of admitted peers,
 * then at most STRANGERS_MAX of peers that are not admitted, whose frames Python answers before the next poll. The rest
 * stay ready for that, so that no socket starves, Python does not wait long, and a flood of strangers holds no message
 * up.
 */
#define _GNU_SOURCE
#include <sys/epoll.h>

#include "switch/connections/connection.h"
#include "switch/connections/control.h"
#include "switch/connections/credit.h"
#include "switch/connections/events.h"
#include "switch/connections/outbox.h"
#include "switch/connections/write.h"
#include "switch/durable.h"
#include "switch/forwarding/set_routes.h"
#include "switch/lifecycle.h"
#include "switch/matching/counters.h"
#include "switch/read.h"
#include "switch/remote_stream.h"
#include "switch/resume.h"
#include "switch/state.h"
#include "switch/subscribers/subscriber.h"

#define READY_MAX 64
#define STRANGERS_MAX 2
#define TICKS_BETWEEN_TRIMS 10U
#define EVENT_BYTES_KEPT 65536U
#define CLOCK_EVERY_MS 1000U
#define STOPPED_MS 500U /* between two ticks, which come ten times a second: the process did not run, or its host */

static void serve(tm_switch *sw, const struct epoll_event *ready) {
    uint32_t id = ready->data.u32;
    if (id == STRANGERS_EPOLL_ID) {
        return; /* each poll serves them last */
    }
    if (id == DURABLES_EPOLL_ID) {
        sw->durable->note_log(sw);
        return;
    }
    tm_connection *connection = switch_at(sw, id);
    if (!switch_is_alive(connection)) {
        return; /* it ended while another socket was served */
    }
    if (connection->waits_to_write && (ready->events & (EPOLLOUT | EPOLLERR | EPOLLHUP))) {
        connection->waits_to_write = false;
        switch_flush(sw, id);
        if (switch_is_alive(connection) && !connection->waits_to_write) {
            switch_watch(sw, id);
        }
    }
    if (!switch_is_alive(connection)) {
        return;
    }
    if (!connection->is_deaf && !connection->is_paused && !switch_waits(connection) &&
        (ready->events & (EPOLLIN | EPOLLERR | EPOLLHUP))) {
        switch_read(sw, id);
    } else if (ready->events & (EPOLLERR | EPOLLHUP)) {
        switch_lose(sw, id, 0); /* the peer cannot read the queued output */
    }
}

/* Serve at most `most` ready sockets of an epoll set until `end_us`. */
static void serve_some(tm_switch *sw, int epoll, int most, uint64_t end_us) {
    struct epoll_event ready[READY_MAX];
    int count = epoll_wait(epoll, ready, most, 0);
    for (int i = 0; i < count && sw->event_size < SWITCH_EVENT_BYTES_MAX; i++) {
        serve(sw, &ready[i]);
        switch_finish_ended(sw);
        if (tm_clock_ns() / 1000 >= end_us) {
            break;
        }
    }
}

/* Process what has come for the connections of far ends, as bytes that are fed to them. */
static void take_remote_input(tm_switch *sw) {
    uint32_t at = sw->remotes != NULL ? sw->remotes->working : 0;
    for (tm_remote *remote; (remote = switch_remote_with_input(sw, &at)) != NULL;) {
        tm_remote_bytes input = remote->input;
        remote->input = (tm_remote_bytes){0};
        if (switch_is_alive(switch_at(sw, remote->connection))) {
            switch_take(sw, remote->connection, input.bytes, input.size);
        }
        TM_DELETE(&sw->memory, TM_COLD, input.bytes, uint8_t, input.capacity);
    }
    switch_finish_ended(sw);
}

/* Apply received input to durable subscriptions before anything is sent. */
static void settle_durables(tm_switch *sw) {
    take_remote_input(sw);
    if (sw->durable != NULL) {
        sw->durable->let_go(sw);
        switch_finish_ended(sw);
        sw->durable->turn(sw);
    }
    switch_send_remotes(sw);
}

int tm_switch_poll(tm_switch *sw, uint32_t budget_us, const tm_event **events, size_t *count) {
    if (sw == NULL || events == NULL || count == NULL) {
        return TM_MISUSED;
    }
    switch_begin(sw);
    uint64_t end_us = tm_clock_ns() / 1000 + budget_us;
    serve_some(sw, sw->epoll, READY_MAX, end_us);
    serve_some(sw, sw->strangers, STRANGERS_MAX, end_us);
    switch_catch_up(sw);
    settle_durables(sw);
    switch_finish(sw);
    return switch_end(sw, events, count);
}

/* Not inlined: benches count its instructions by its name. */
__attribute__((noinline)) int tm_switch_feed(tm_switch *sw, uint32_t id, const uint8_t *bytes, size_t size,
                                             const tm_event **events, size_t *count) {
    if (!switch_knows(sw, id) || !switch_at(sw, id)->is_fed || events == NULL || count == NULL) {
        return TM_MISUSED;
    }
    switch_begin(sw);
    if (switch_is_alive(switch_at(sw, id))) {
        switch_take(sw, id, bytes, size);
        switch_finish_ended(sw);
    }
    switch_catch_up(sw);
    settle_durables(sw);
    switch_finish(sw);
    return switch_end(sw, events, count);
}

/* ---- time ---- */

/* Send a PING whose token is the time when it left; the PONG then gives the round trip. */
static void ping(tm_switch *sw, uint32_t id) {
    tm_connection *connection = switch_at(sw, id);
    wire_begin(&sw->writer, WIRE_PING);
    wire_array(&sw->writer, 1);
    wire_unsigned(&sw->writer, tm_clock_unix_ns() / 1000);
    wire_end(&sw->writer);
    switch_queue_control(sw, id, TM_LANE_URGENT); /* with a full queue, other output leaves soon */
    connection->clocks.sent_ms = sw->now_ms;
    connection->clocks.pinged_ms = sw->now_ms;
}

static bool is_ping_due(const tm_switch *sw, const tm_connection *connection) {
    if (connection->state != CONNECTION_OPEN || connection->admission.ping_ms == 0) {
        return false;
    }
    bool asks_for_clock = sw->records != NULL && switch_is_link(connection) &&
                          sw->now_ms - connection->clocks.pinged_ms >= CLOCK_EVERY_MS;
    return asks_for_clock || sw->now_ms - connection->clocks.sent_ms >= connection->admission.ping_ms;
}

/* Return for how long the switch has not run before this tick, 0 if the last one is less than STOPPED_MS ago. */
static uint64_t stopped_ms(tm_switch *sw) {
    uint64_t since_ms = sw->now_ms - sw->ticked_ms;
    sw->ticked_ms = sw->now_ms;
    return since_ms < STOPPED_MS ? 0 : since_ms;
}

/* `stopped`: milliseconds in which nothing was read, which are no silence of the peer. */
static void tick(tm_switch *sw, uint32_t id, bool trims, uint64_t stopped) {
    tm_connection *connection = switch_at(sw, id);
    if (!switch_is_alive(connection)) {
        return;
    }
    uint64_t silent_ms = sw->now_ms - connection->clocks.received_ms;
    connection->clocks.received_ms += stopped < silent_ms ? stopped : silent_ms;
    const tm_admission *admission = &connection->admission;
    connection->told.extension = false;
    connection->told.untraced = false;
    if (connection->state == CONNECTION_OPEN && !connection->is_paused && !switch_waits(connection)) {
        if (sw->now_ms - connection->clocks.received_ms >= admission->hold_ms && admission->hold_ms > 0 &&
            !connection->told.silent) {
            connection->told.silent = switch_tell(sw, (tm_event){.type = TM_EVENT_SILENT, .connection = id});
        }
    }
    if (is_ping_due(sw, connection)) {
        ping(sw, id);
    }
    if (trims) {
        tm_outbox_trim(&connection->outbox, &sw->memory);
    }
}

/* Free the room of a long frame that was once handed to Python. */
static void trim_events(tm_switch *sw) {
    if (sw->event_size == 0 && sw->event_bytes_capacity > EVENT_BYTES_KEPT) {
        TM_DELETE(&sw->memory, TM_COLD, sw->event_bytes, uint8_t, sw->event_bytes_capacity);
        sw->event_bytes = NULL;
        sw->event_bytes_capacity = 0;
    }
}

int tm_switch_tick(tm_switch *sw, const tm_event **events, size_t *count) {
    if (sw == NULL || events == NULL || count == NULL) {
        return TM_MISUSED;
    }
    switch_begin(sw);
    trim_events(sw);
    sw->counter_max = switch_counter_max(sw);
    if (sw->net != NULL) {
        switch_expire_routes(sw);
    }
    uint64_t stopped = stopped_ms(sw);
    bool trims = ++sw->ticks % TICKS_BETWEEN_TRIMS == 0;
    for (uint32_t id = 0; id < sw->connection_count; id++) {
        tick(sw, id, trims, stopped);
    }
    for (uint32_t id = 0; trims && id < sw->subscriber_count; id++) {
        if (switch_is_stored(switch_subscriber(sw, id))) {
            tm_outbox_trim(switch_subscriber(sw, id)->waiting, &sw->memory);
        }
    }
    switch_catch_up(sw);
    if (sw->durable != NULL) {
        sw->durable->tick(sw);
    }
    switch_tick_remotes(sw);
    settle_durables(sw);
    switch_unblock(sw);
    switch_grant_rated(sw);
    switch_finish(sw);
    return switch_end(sw, events, count);
}
