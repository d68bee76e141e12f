/* switch_trace.c - the trail of a message that somebody asks about, handed up as a tm_trace.
 *
 * Law: it is handed up whole, but for the rows past TM_TRACE_ROWS, or not at all.
 */
#include "switch_message.h"

void switch_trace(tm_switch *sw, const parts *message) {
    tm_trail *trail = message->trail;
    trail->head.queued_ns = switch_unix_ns();
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
