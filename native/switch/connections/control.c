/* control.c - see control.h.
 *
 * Law: a frame is made in `sw->writer` and queued whole or not at all. Confirmations of one connection are collected as
 * ascending ranges and sent as one ACK.
 */
#include "switch/connections/control.h"

#include <errno.h>

#include "switch/connections/connection.h"
#include "switch/connections/outbox.h"

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

static void write_ranges(tm_switch *sw, unsigned list) {
    const tm_confirmations *done = &sw->confirmations;
    wire_array(&sw->writer, done->counts[list]);
    for (uint32_t i = 0; i < done->counts[list]; i++) {
        wire_array(&sw->writer, 2);
        wire_unsigned(&sw->writer, done->first[list][i]);
        wire_unsigned(&sw->writer, done->last[list][i]);
    }
}

/* The storage state stands behind five fields that a PUBLISH does not use; a peer of version 1 gets none of them. */
static void write_ack(tm_switch *sw, uint32_t id) {
    const tm_confirmations *done = &sw->confirmations;
    bool says_stored = (done->counts[STORED_NOT] > 0 || done->counts[STORED] > 0) &&
                       switch_at(sw, id)->admission.version >= WIRE_VERSION_NEWEST;
    wire_begin(&sw->writer, WIRE_ACK);
    wire_array(&sw->writer, says_stored ? 10 : 3);
    wire_unsigned(&sw->writer, WIRE_ACK_OF_PUBLISH);
    wire_unsigned(&sw->writer, 0);
    write_ranges(sw, CONFIRMED);
    if (says_stored) {
        wire_array(&sw->writer, 0);
        wire_unsigned(&sw->writer, 0);
        wire_unsigned(&sw->writer, 0);
        wire_unsigned(&sw->writer, 0);
        wire_text(&sw->writer, "");
        write_ranges(sw, STORED_NOT);
        write_ranges(sw, STORED);
    }
    wire_end(&sw->writer);
}

void switch_send_confirmations(tm_switch *sw, uint32_t id) {
    if (sw->confirmations.counts[CONFIRMED] == 0 || !switch_is_alive(switch_at(sw, id))) {
        return;
    }
    write_ack(sw, id);
    switch_drop_confirmations(sw);
    switch_send_urgent(sw, id);
}

/* Extend the last run, or add one; false: there is no room, or it does not ascend. */
static inline bool gather(tm_confirmations *done, unsigned list, uint64_t first, uint64_t last) {
    uint32_t count = done->counts[list];
    uint64_t before = count > 0 ? done->last[list][count - 1] : 0;
    if (count > 0 && first == before + 1) {
        done->last[list][count - 1] = last;
        return true;
    }
    if (count == SWITCH_RANGES_MAX || (count > 0 && first <= before)) {
        return false;
    }
    done->first[list][count] = first;
    done->last[list][count] = last;
    done->counts[list]++;
    return true;
}

void switch_confirm(tm_switch *sw, uint32_t id, uint64_t counter) {
    tm_confirmations *done = &sw->confirmations;
    if (!gather(done, CONFIRMED, counter, counter)) {
        switch_send_confirmations(sw, id);
        gather(done, CONFIRMED, counter, counter);
    }
}

void switch_confirm_run(tm_switch *sw, uint32_t id, uint64_t first, uint64_t last, tm_storage stored) {
    tm_confirmations *done = &sw->confirmations;
    bool is_full = stored != STORED_UNKNOWN && done->counts[stored] == SWITCH_RANGES_MAX;
    if (is_full || !gather(done, CONFIRMED, first, last)) {
        switch_send_confirmations(sw, id);
        gather(done, CONFIRMED, first, last);
    }
    if (stored != STORED_UNKNOWN) {
        gather(done, stored, first, last); /* every run in this list is also in CONFIRMED, so it ascends here, too */
    }
}

/* A peer of version 1 gets no `newest`, because its ACK has no field for it. */
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
