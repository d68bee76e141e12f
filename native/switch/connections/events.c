/* events.c - see events.h. */
#define _GNU_SOURCE
#include "switch/connections/events.h"

#include <errno.h>

#include "base/grow.h"
#include "switch/connections/connection.h"
#include "switch/durable.h"

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
    sw->ticked_ms += ms; /* the switch is not taken for stopped meanwhile */
}

/* ---- events ---- */

void switch_begin(tm_switch *sw) {
    uint64_t now_ns = tm_clock_ns();
    sw->now_ms = now_ns / 1000000 + sw->ahead_ms;
    if (sw->durable != NULL) {
        sw->durable->begin(sw, now_ns / 1000);
    }
    if (sw->events_are_out) { /* otherwise they come from a call that returns no events, and stay */
        sw->events_are_out = false;
        sw->event_count = 0;
        sw->event_size = 0;
    }
}

/* Events hold offsets of their bytes, which may have moved; replace them by addresses. */
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

/* Room is kept for the end of every live connection. */
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

/* Aligned, because the bytes may be a struct. */
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
