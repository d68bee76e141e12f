/* control.c - the control frames that the switch writes itself, and confirmations among them.
 *
 * Law: a frame is made in `sw->writer` and queued whole or not at all. Confirmations of one connection are gathered as
 * ranges that ascend, and sent as one ACK.
 */
#include "switch/switch.h"

#include <errno.h>

bool switch_queue_control(tm_switch *sw, uint32_t id, int lane) {
    tm_connection *connection = switch_at(sw, id);
    const wire_writer *writer = &sw->writer;
    uint8_t *at = lane == TM_LANE_URGENT ? tm_outbox_urge(&connection->outbox, &sw->memory, writer->size)
                                         : tm_outbox_append(&connection->outbox, &sw->memory, writer->size);
    if (at == NULL) {
        return false;
    }
    memcpy(at, writer->bytes, writer->size);
    switch_mark_dirty(sw, id);
    return true;
}

void switch_send_urgent(tm_switch *sw, uint32_t id) {
    if (!switch_queue_control(sw, id, TM_LANE_URGENT)) {
        switch_shut(sw, id, ENOBUFS);
    }
}

static void write_ack(tm_switch *sw, const tm_confirmations *done) {
    wire_begin(&sw->writer, WIRE_ACK);
    wire_array(&sw->writer, 3);
    wire_unsigned(&sw->writer, WIRE_ACK_OF_PUBLISH);
    wire_unsigned(&sw->writer, 0);
    wire_array(&sw->writer, done->count);
    for (uint32_t i = 0; i < done->count; i++) {
        wire_array(&sw->writer, 2);
        wire_unsigned(&sw->writer, done->first[i]);
        wire_unsigned(&sw->writer, done->last[i]);
    }
    wire_end(&sw->writer);
}

void switch_send_confirmations(tm_switch *sw, uint32_t id) {
    if (sw->confirmations.count == 0 || !switch_is_alive(switch_at(sw, id))) {
        return;
    }
    write_ack(sw, &sw->confirmations);
    sw->confirmations.count = 0;
    switch_send_urgent(sw, id);
}

void switch_confirm_run(tm_switch *sw, uint32_t id, uint64_t first, uint64_t last) {
    tm_confirmations *done = &sw->confirmations;
    uint64_t before = done->count > 0 ? done->last[done->count - 1] : 0;
    if (done->count > 0 && first == before + 1) {
        done->last[done->count - 1] = last;
        return;
    }
    if (done->count == SWITCH_RANGES_MAX || (done->count > 0 && first <= before)) { /* ranges of an ACK ascend */
        switch_send_confirmations(sw, id);
    }
    done->first[done->count] = first;
    done->last[done->count++] = last;
}

void switch_confirm(tm_switch *sw, uint32_t id, uint64_t counter) {
    switch_confirm_run(sw, id, counter, counter);
}

/* A peer that speaks version 1 is not told `newest`: its ACK has no place for it. */
void switch_refuse(tm_switch *sw, uint32_t id, uint64_t counter, wire_refusal code, const char *text, uint64_t newest) {
    bool says_newest = newest > 0 && switch_at(sw, id)->admission.version >= WIRE_VERSION_NEWEST;
    wire_begin(&sw->writer, WIRE_ACK);
    wire_array(&sw->writer, 4);
    wire_unsigned(&sw->writer, WIRE_ACK_OF_PUBLISH);
    wire_unsigned(&sw->writer, 0);
    wire_array(&sw->writer, 0);
    wire_array(&sw->writer, 1);
    wire_array(&sw->writer, says_newest ? 4 : 3);
    wire_unsigned(&sw->writer, counter);
    wire_unsigned(&sw->writer, code);
    wire_text(&sw->writer, text);
    if (says_newest) {
        wire_unsigned(&sw->writer, newest);
    }
    wire_end(&sw->writer);
    switch_send_urgent(sw, id);
}
