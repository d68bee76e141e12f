/* trace.c - see trace.h.
 *
 * Law: a trace is reported whole, except for rows past TM_TRACE_ROWS, or not at all. Each trace costs Python time at
 * every router that it reaches, so each client has a rate; past it a message goes on untraced.
 */
#include "switch/observe/trace.h"

#include "switch/connections/control.h"
#include "switch/connections/events.h"

#define TRACE_BYTES 12U /* of the extension: type, length and trace id */

void switch_trace(tm_switch *sw, const tm_message *message) {
    tm_trail *trail = message->trail;
    trail->head.queued_ns = tm_clock_unix_ns();
    uint32_t size = sizeof trail->head;
    for (unsigned list = 0; list < TM_TRACE_LISTS; list++) {
        uint32_t count = trail->lists[list].count;
        trail->head.counts[list] = count;
        trail->head.rows[list] = count < TM_TRACE_ROWS ? count : TM_TRACE_ROWS;
        size += trail->head.rows[list] * (uint32_t)sizeof(tm_trace_row);
    }
    tm_event event = {.type = TM_EVENT_TRACED,
                      .connection = message->from,
                      .kind = message->frame[WIRE_KIND],
                      .code = trail->head.reason};
    uint8_t *at = switch_tell_bytes(sw, event, size);
    if (at == NULL) {
        return;
    }
    memcpy(at, &trail->head, sizeof trail->head);
    at += sizeof trail->head;
    for (unsigned list = 0; list < TM_TRACE_LISTS; list++) {
        size_t bytes = trail->head.rows[list] * sizeof(tm_trace_row);
        if (bytes > 0) {
            memcpy(at, trail->lists[list].rows, bytes);
        }
        at += bytes;
    }
}

/* ---- a client's rate of traces ---- */

/* Take a trace from a token bucket that fills with time, stored as what is missing in it; true if there was one. */
static bool take_trace(tm_switch *sw, tm_connection *client) {
    const tm_admission *admission = &client->admission;
    uint64_t gained = (sw->now_ms - client->traces.reckoned_ms) * admission->traces_per_s;
    uint64_t spent = client->traces.spent > gained ? client->traces.spent - gained : 0;
    bool is_affordable = admission->traces_per_s == 0 || spent + 1000 <= admission->traces_burst * UINT64_C(1000);
    client->traces.spent = is_affordable ? spent + 1000 : spent;
    client->traces.reckoned_ms = sw->now_ms;
    return is_affordable;
}

/* Return the offset of the TRACE extension in a sound frame. */
static uint32_t trace_at(const uint8_t *frame) {
    uint32_t at = WIRE_HEADER_BYTES;
    while (tm_load16(frame + at) != WIRE_TRACE) {
        at += 4U + tm_load16(frame + at + 2);
    }
    return at;
}

/* Report an untraced message at most once in a tick, because the report costs as much as a trace. */
static void tell_untraced(tm_switch *sw, const tm_message *message, uint64_t trace) {
    tm_connection *client = switch_at(sw, message->from);
    if (client->told.untraced) {
        return;
    }
    tm_event event = {.type = TM_EVENT_TRACED,
                      .connection = message->from,
                      .kind = message->frame[WIRE_KIND],
                      .code = TM_TRACE_UNTRACED};
    uint8_t *at = switch_tell_bytes(sw, event, sizeof(tm_trace));
    if (at != NULL) {
        client->told.untraced = true;
        uint64_t now_ns = tm_clock_unix_ns();
        tm_trace head = {.trace = trace,
                         .source = sw->options.number,
                         .came_from = client->admission.number,
                         .arrived_ns = now_ns,
                         .queued_ns = now_ns,
                         .reason = TM_TRACE_UNTRACED};
        memcpy(at, &head, sizeof head);
    }
}

/* Remove the TRACE extension and its flag from the frame by moving what precedes it. The frame is in a buffer of the
 * switch, and its first bytes are not read again. */
static void cut_trace(tm_message *message) {
    uint8_t *frame = (uint8_t *)(uintptr_t)message->frame;
    memmove(frame + TRACE_BYTES, frame, trace_at(frame));
    frame += TRACE_BYTES;
    message->frame = frame;
    message->size -= TRACE_BYTES;
    message->extension_size -= TRACE_BYTES;
    wire_store32(frame, message->size);
    wire_store16(frame + WIRE_EXTENSION_SIZE, (uint16_t)message->extension_size);
    frame[WIRE_FLAGS] = (uint8_t)(frame[WIRE_FLAGS] & ~WIRE_FLAG_TRACED);
}

bool switch_afford_trace(tm_switch *sw, tm_message *message, extensions *found) {
    if (take_trace(sw, switch_at(sw, message->from))) {
        return true;
    }
    sw->stats.traces_refused++;
    if (message->is_dry) {
        switch_refuse(sw, message->from, tm_load64(message->frame + WIRE_COUNTER), WIRE_REFUSED_OVERLOADED,
                      "more traces and dry runs than this client may request", 0);
        return false;
    }
    tell_untraced(sw, message, found->trace);
    cut_trace(message);
    found->trace = 0;
    return true;
}
