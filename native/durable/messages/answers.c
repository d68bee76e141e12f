/* answers.c - see answers.h.
 *
 * Law: an answer is sent when all that the ACK acknowledges is on disk, which may be at once. At most `answers_max`
 * answers of one connection wait, and at most ANSWER_BYTES_MAX bytes: past either bound the connection ends with
 * OVER_LIMIT. An answer is only for the connection that requested it, never for a later one with its id or client.
 */
#include "durable/messages/answers.h"

#include <errno.h>

#include "base/tested.h"
#include "durable/core/done.h"
#include "durable/messages/losses.h"
#include "durable/tables/waits.h"
#include "switch/connections/connection.h"
#include "switch/connections/control.h"
#include "switch/connections/events.h"
#include "switch/connections/outbox.h"

#define ANSWERS_MAX 1000U
#define ANSWER_BYTES_MAX OUTBOX_URGENT_MAX /* the answers of one commit fit the queue that they go to */

/* ---- the frames ---- */

/* Compose an answer with the request number and ranges of the ACK. NULL: no memory. */
static uint8_t *compose(tm_switch *sw, const tm_said_ack *said, uint32_t *size) {
    wire_begin(&sw->writer, WIRE_ACK);
    wire_array(&sw->writer, 3);
    wire_unsigned(&sw->writer, WIRE_ACK_OF_DELIVER);
    wire_unsigned(&sw->writer, said->request);
    uint32_t ranges = (uint32_t)(said->ranges.end - said->ranges.at);
    *size = sw->writer.size + ranges;
    uint8_t *frame = TM_NEW(&sw->durables->memory, TM_COLD, uint8_t, *size);
    if (frame != NULL) {
        memcpy(frame, sw->writer.bytes, sw->writer.size);
        memcpy(frame + sw->writer.size, said->ranges.at, ranges);
        wire_store32(frame, *size);
    }
    return frame;
}

static void refuse(tm_switch *sw, const tm_wait *wait) {
    wire_begin(&sw->writer, WIRE_ACK);
    wire_array(&sw->writer, 4);
    wire_unsigned(&sw->writer, WIRE_ACK_OF_DELIVER);
    wire_unsigned(&sw->writer, wait->number >> 32);
    wire_array(&sw->writer, 0);
    wire_array(&sw->writer, 1);
    wire_array(&sw->writer, 3);
    wire_unsigned(&sw->writer, (uint32_t)wait->number);
    wire_unsigned(&sw->writer, WIRE_REFUSED_LOG_FAILED);
    wire_text(&sw->writer, "acknowledgement not persisted: the log failed");
    wire_end(&sw->writer);
    switch_send_urgent(sw, wait->connection);
}

static void send(tm_switch *sw, const tm_wait *wait) {
    uint8_t *at = tm_outbox_urge(&switch_at(sw, wait->connection)->outbox, &sw->memory, wait->frame_size);
    if (at == NULL) {
        switch_shut(sw, wait->connection, ENOBUFS); /* the peer does not read its answers */
        return;
    }
    memcpy(at, wait->frame, wait->frame_size);
    switch_mark_dirty(sw, wait->connection);
}

/* ---- waiting ---- */

static void note_waiting(tm_connection *connection, const tm_wait *wait) {
    connection->answers++;
    connection->answer_bytes += wait->frame_size;
}

/* Stop counting an answer as waiting. Return its connection; NULL: that has ended. */
static tm_connection *note_ended(tm_switch *sw, const tm_wait *wait) {
    tm_connection *connection = switch_at(sw, wait->connection);
    if (connection->serial != wait->origin) {
        return NULL;
    }
    connection->answers--;
    connection->answer_bytes -= wait->frame_size;
    return connection;
}

void durable_end_answer(tm_switch *sw, const tm_wait *wait, bool is_written) {
    const tm_connection *connection = note_ended(sw, wait);
    if (connection != NULL && connection->state == CONNECTION_OPEN) {
        (is_written ? send : refuse)(sw, wait);
    }
    TM_DELETE(&sw->durables->memory, TM_COLD, wait->frame, uint8_t, wait->frame_size);
}

/* Queue an answer behind the dead letters that are still to be written, or else behind the disk. false: no memory, or
 * too much waits. */
static bool wait_for_disk(tm_switch *sw, uint32_t slot, const tm_wait *wait) {
    tm_durables *durables = sw->durables;
    if (durable_at(sw, slot)->dying == 0) {
        if (tm_waits_reserve(&durables->waits)) {
            tm_waits_add(&durables->waits, wait);
            return true;
        }
        return false;
    }
    tm_durable_answer *answer = TM_NEW(&durables->memory, TM_COLD, tm_durable_answer, 1);
    if (answer != NULL) {
        *answer = (tm_durable_answer){.next = durable_at(sw, slot)->answers, .wait = *wait};
        durable_at(sw, slot)->answers = answer;
    }
    return answer != NULL;
}

void durable_release_answers(tm_switch *sw, tm_durable *durable) {
    while (durable->answers != NULL && tm_waits_reserve(&sw->durables->waits)) {
        tm_durable_answer *answer = durable->answers;
        durable->answers = answer->next;
        answer->wait.n = sw->durables->last_n;
        tm_waits_add(&sw->durables->waits, &answer->wait);
        TM_DELETE(&sw->durables->memory, TM_COLD, answer, tm_durable_answer, 1);
    }
}

void durable_drop_answers(tm_switch *sw, tm_durable *durable) {
    while (durable->answers != NULL) {
        tm_durable_answer *answer = durable->answers;
        durable->answers = answer->next;
        note_ended(sw, &answer->wait);
        TM_DELETE(&sw->durables->memory, TM_COLD, answer->wait.frame, uint8_t, answer->wait.frame_size);
        TM_DELETE(&sw->durables->memory, TM_COLD, answer, tm_durable_answer, 1);
    }
}

/* ---- requesting ---- */

static bool has_room(const tm_switch *sw, const tm_connection *connection, uint32_t size) {
    uint32_t most = sw->durables->options.answers_max;
    return connection->answers < (most > 0 ? most : ANSWERS_MAX) && connection->answer_bytes + size <= ANSWER_BYTES_MAX;
}

/* true if all that was acknowledged is on disk or appended. */
static bool is_noted(const tm_durables *durables) {
    return durables->done_count == 0 && durables->losses == 0 && !durables->is_done_forgotten && !durables->has_failed;
}

void durable_promise(tm_switch *sw, uint32_t id, uint32_t slot, const uint8_t *frame, const tm_said_ack *said) {
    tm_durables *durables = sw->durables;
    tm_connection *connection = switch_at(sw, id);
    durable_flush_losses(sw, slot);
    durable_flush_done(sw);
    tm_wait wait = {.n = durables->last_n,
                    .since_us = tm_clock_ns() / 1000,
                    .origin = connection->serial,
                    .number = said->request << 32 | said->subscription,
                    .kind = WAIT_ANSWER,
                    .connection = id,
                    .count = 1};
    wait.frame = compose(sw, said, &wait.frame_size);
    bool is_promised = wait.frame != NULL && is_noted(durables);
    if (is_promised && !has_room(sw, connection, wait.frame_size)) {
        TM_DELETE(&durables->memory, TM_COLD, wait.frame, uint8_t, wait.frame_size);
        switch_fault(sw, id, WIRE_OVER_LIMIT, frame, "too many ACKs of this connection wait for their answer");
        return;
    }
    note_waiting(connection, &wait);
    if (is_promised && (durables->last_n <= durables->committed || TM_BREAKS(ANSWER_EARLY)) &&
        durable_at(sw, slot)->dying == 0) {
        durable_end_answer(sw, &wait, true);
    } else if (!is_promised || !wait_for_disk(sw, slot, &wait)) {
        durable_end_answer(sw, &wait, false);
    }
}
