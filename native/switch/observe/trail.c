/* trail.c - see trail.h.
 *
 * Law: messages that are neither traced nor sampled cost nothing here. A trail is noted while the message is processed;
 * rows without memory are missing in it, and the message is processed all the same.
 */
#include "switch/observe/trail.h"

#include "base/grow.h"
#include "switch/observe/record.h"
#include "switch/observe/trace.h"

void switch_trail_free(tm_trail *trail, tm_memory *memory) {
    for (unsigned list = 0; trail != NULL && list < TRAIL_LISTS; list++) {
        TM_DELETE(memory, TM_COLD, trail->lists[list].rows, tm_trace_row, trail->lists[list].capacity);
    }
    TM_DELETE(memory, TM_COLD, trail, tm_trail, 1);
}

static tm_trail *restart(tm_switch *sw) {
    if (sw->trail == NULL) {
        sw->trail = TM_NEW(&sw->memory, TM_COLD, tm_trail, 1);
    }
    for (unsigned list = 0; sw->trail != NULL && list < TRAIL_LISTS; list++) {
        sw->trail->lists[list].count = 0;
    }
    return sw->trail;
}

tm_trail *switch_trail_new(tm_switch *sw, const tm_message *message, const extensions *found) {
    bool is_recorded = sw->records != NULL && switch_is_recorded(sw, message);
    tm_trail *trail = found->trace != 0 || is_recorded ? restart(sw) : NULL;
    if (trail == NULL) {
        return NULL;
    }
    trail->head = (tm_trace){.trace = found->trace,
                             .source = message->source,
                             .came_from = switch_at(sw, message->from)->admission.number,
                             .arrived_ns = tm_clock_unix_ns(),
                             .hop_limit = message->frame[WIRE_HOPS],
                             .is_dry = message->is_dry};
    trail->matched = 0;
    trail->here = TM_TRACE_NOT_DROPPED;
    trail->is_traced = found->trace != 0;
    trail->is_recorded = is_recorded;
    trail->is_whole = true;
    return trail;
}

void switch_trail_add(tm_switch *sw, unsigned list, uint64_t number, uint64_t id) {
    tm_trail_list *to = &sw->trail->lists[list];
    if (to->count < to->capacity ||
        tm_grow(&sw->memory, TM_COLD, &to->rows, sizeof *to->rows, &to->capacity, to->count + 1)) {
        to->rows[to->count++] = (tm_trace_row){number, id};
    } else {
        sw->trail->is_whole = false;
    }
}

void switch_trail_end(tm_switch *sw, const tm_message *message, unsigned reason) {
    tm_trail *trail = message->trail;
    trail->head.reason = (uint8_t)reason;
    if (trail->is_traced) {
        switch_trace(sw, message);
    }
    if (trail->is_recorded) {
        switch_record(sw, message);
    }
}

void switch_record_refusal(tm_switch *sw, const tm_message *message, unsigned reason) {
    static const extensions NONE = {0};
    if (sw->records == NULL) {
        return;
    }
    tm_message refused = *message;
    if (refused.source == 0) { /* it was refused before it was stamped */
        refused.source = sw->options.number;
        refused.epoch = sw->options.epoch;
    }
    refused.trail = switch_trail_begin(sw, &refused, &NONE);
    if (refused.trail != NULL) {
        refused.trail->head.reason = (uint8_t)reason;
        switch_record(sw, &refused);
    }
}
