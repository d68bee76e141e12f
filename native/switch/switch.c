/* switch.c - see switch.h. */
#define _GNU_SOURCE
#include "switch/message.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/grow.h"

/* ---- life ---- */

static int fill(tm_switch *sw) {
    sw->receive = TM_NEW(&sw->memory, TM_COLD, uint8_t, SWITCH_RECEIVE_BYTES + TM_SHAPE_SLACK);
    sw->attributes = TM_NEW(&sw->memory, TM_COLD, tm_attribute, TM_ATTRIBUTES_MAX);
    if (sw->receive == NULL || sw->attributes == NULL ||
        !tm_grow(&sw->memory, TM_COLD, &sw->events, sizeof *sw->events, &sw->event_capacity, SWITCH_EVENTS_MIN)) {
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
    switch_free_keeps(sw);
    for (uint32_t id = 0; id < sw->connection_count; id++) {
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
    tm_spaces_free(sw->spaces);
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
    uint64_t now_ns = tm_clock_ns();
    sw->now_ms = now_ns / 1000000 + sw->ahead_ms;
    if (sw->keeps != NULL) {
        switch_keeps_begin(sw, now_ns / 1000);
    }
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
        if (connection->told.extension) {
            return;
        }
        connection->told.extension = true;
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
