/* switch_trace.c - the trail of a message that somebody asks about: what arrived, matched and left, for a tm_trace.
 *
 * Law: only such messages cost anything here. A trail is noted while the message goes its way, and is handed up whole
 * or not at all: without memory the message goes its way all the same.
 */
#include "switch_message.h"

tm_trail *switch_trail_begin(tm_switch *sw, const parts *message, const extensions *found) {
    if (found->trace == 0) {
        return NULL;
    }
    if (sw->trail == NULL) {
        sw->trail = TM_NEW(&sw->memory, TM_COLD, tm_trail, 1);
    }
    if (sw->trail != NULL) {
        sw->trail->head = (tm_trace){.trace = found->trace,
                                     .source = message->source,
                                     .came_from = switch_at(sw, message->from)->admission.number,
                                     .arrived_ns = switch_unix_ns(),
                                     .hop_limit = message->frame[WIRE_HOPS],
                                     .is_dry = message->is_dry};
    }
    return sw->trail;
}

void switch_trail_add(tm_trail *trail, unsigned list, uint64_t number, uint64_t id) {
    tm_trace *head = &trail->head;
    if (head->rows[list] < TM_TRACE_ROWS) {
        trail->rows[list][head->rows[list]++] = (tm_trace_row){number, id};
    }
    head->counts[list]++;
}

void switch_trail_end(tm_switch *sw, const parts *message, unsigned reason) {
    tm_trail *trail = message->trail;
    trail->head.reason = (uint8_t)reason;
    trail->head.queued_ns = switch_unix_ns();
    uint32_t size = sizeof trail->head;
    for (unsigned list = 0; list < TM_TRACE_LISTS; list++) {
        size += trail->head.rows[list] * (uint32_t)sizeof(tm_trace_row);
    }
    tm_event event = {
        .type = TM_EVENT_TRACED, .connection = message->from, .kind = message->frame[WIRE_KIND], .code = reason};
    uint8_t *at = switch_tell_bytes(sw, event, size);
    if (at == NULL) {
        return;
    }
    memcpy(at, &trail->head, sizeof trail->head);
    at += sizeof trail->head;
    for (unsigned list = 0; list < TM_TRACE_LISTS; list++) {
        size_t bytes = trail->head.rows[list] * sizeof(tm_trace_row);
        memcpy(at, trail->rows[list], bytes);
        at += bytes;
    }
}
