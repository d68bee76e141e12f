/* switch_write.c - what leaves: queues, what happens when one is full, and what the switch itself has to tell.
 *
 * Law: a receiver's queue holds at most its queue_bytes_max of data, a single frame excepted where nothing waits; what
 * does not fit is dropped whole, counted by reason and told by a LOST frame where the gap is (a neighbour is told by
 * others, who know which sources it concerns: switch_shed.c). Credit is withheld from a publisher only for receivers
 * whose policy is to block and whose queue is half full, until it is a quarter full and for at most their block_ms.
 * What such a publisher has credit for is taken meanwhile, past queue_bytes_max: its credit bounds it, and half of the
 * memory.
 */
#define _GNU_SOURCE
#include "switch.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

/* ---- control frames -----------------------------------------------------------------------------------------------
 */

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

/* A peer that has stopped reading what it asks for is cut off. */
static void send_urgent(tm_switch *sw, uint32_t id) {
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
    send_urgent(sw, id);
}

void switch_confirm(tm_switch *sw, uint32_t id, uint64_t counter) {
    tm_confirmations *done = &sw->confirmations;
    uint64_t last = done->count > 0 ? done->last[done->count - 1] : 0;
    if (done->count > 0 && counter == last + 1) {
        done->last[done->count - 1] = counter;
        return;
    }
    if (done->count == SWITCH_RANGES_MAX || (done->count > 0 && counter <= last)) { /* ranges of an ACK ascend */
        switch_send_confirmations(sw, id);
    }
    done->first[done->count] = counter;
    done->last[done->count++] = counter;
}

/* Version 1 has no word for `newest`. */
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
    send_urgent(sw, id);
}

/* ---- credit -------------------------------------------------------------------------------------------------------
 */

/* Withheld while the receiver that blocks lives, has not blocked for too long and still has a long queue. */
static bool still_blocks(tm_switch *sw, uint32_t receiver) {
    const tm_connection *connection = switch_at(sw, receiver);
    return connection->state == CONNECTION_OPEN && !connection->block_spent &&
           sw->now_ms < connection->blocks_until_ms &&
           tm_lane_size(&connection->outbox.ordered) > connection->admission.queue_bytes_max / 4;
}

void switch_grant(tm_switch *sw, uint32_t id) {
    tm_connection *connection = switch_at(sw, id);
    const tm_admission *admission = &connection->admission;
    if (connection->state != CONNECTION_OPEN || sw->is_draining || admission->credit_bytes == 0 ||
        switch_is_blocked(connection) ||
        (connection->granted_frames - connection->used_frames > admission->credit_frames / 2 &&
         connection->granted_bytes - connection->used_bytes > admission->credit_bytes / 2)) {
        return;
    }
    connection->granted_frames = connection->used_frames + admission->credit_frames;
    connection->granted_bytes = connection->used_bytes + admission->credit_bytes;
    wire_begin(&sw->writer, WIRE_CREDIT);
    wire_array(&sw->writer, 2);
    wire_unsigned(&sw->writer, connection->granted_frames);
    wire_unsigned(&sw->writer, connection->granted_bytes);
    wire_end(&sw->writer);
    send_urgent(sw, id);
}

static bool anybody_blocks(tm_switch *sw) {
    for (uint32_t id = 0; id < sw->connection_count; id++) {
        if (still_blocks(sw, id)) {
            return true;
        }
    }
    return false;
}

/* Those receivers are forgotten that the publisher needs to wait for no more; is there none left? */
static bool is_released(tm_switch *sw, tm_connection *publisher) {
    if (publisher->blocker_count > BLOCKERS_MAX) {
        return !anybody_blocks(sw);
    }
    uint8_t left = 0;
    for (uint8_t i = 0; i < publisher->blocker_count; i++) {
        if (still_blocks(sw, publisher->blockers[i])) {
            publisher->blockers[left++] = publisher->blockers[i];
        }
    }
    publisher->blocker_count = left == 0 ? publisher->blocker_count : left; /* until it is let go */
    return left == 0;
}

void switch_unblock(tm_switch *sw) {
    for (uint32_t id = 0; id < sw->connection_count && sw->blocked_count > 0; id++) {
        tm_connection *publisher = switch_at(sw, id);
        if (switch_is_blocked(publisher) && is_released(sw, publisher)) {
            publisher->blocker_count = 0;
            sw->blocked_count--;
            switch_grant(sw, id);
        }
    }
}

static void note_blocker(tm_switch *sw, tm_connection *publisher, uint32_t receiver) {
    for (uint8_t i = 0; i < publisher->blocker_count && i < BLOCKERS_MAX; i++) {
        if (publisher->blockers[i] == receiver) {
            return;
        }
    }
    sw->blocked_count += publisher->blocker_count == 0;
    if (publisher->blocker_count < BLOCKERS_MAX) {
        publisher->blockers[publisher->blocker_count++] = receiver;
    } else {
        publisher->blocker_count = BLOCKERS_MAX + 1;
    }
}

/* The receiver's queue is half full: the publisher gets no more credit until it is a quarter full. Is it so? */
static bool block(tm_switch *sw, uint32_t receiver, uint32_t publisher) {
    tm_connection *slow = switch_at(sw, receiver);
    tm_connection *fast = switch_at(sw, publisher);
    if (slow->block_spent || publisher == receiver || switch_is_link(fast)) {
        return false;
    }
    if (slow->blocks_until_ms == 0) {
        slow->blocks_until_ms = sw->now_ms + slow->admission.block_ms;
    }
    if (sw->now_ms >= slow->blocks_until_ms) {
        slow->block_spent = true;
        return false;
    }
    note_blocker(sw, fast, receiver);
    return true;
}

/* ---- queues that are full -----------------------------------------------------------------------------------------
 */

static void note_lost(tm_switch *sw, uint32_t id, tm_loss *loss, unsigned reason, uint64_t frames, uint64_t bytes) {
    loss->messages += frames;
    loss->bytes += bytes;
    switch_at(sw, id)->dropped += frames;
    switch_at(sw, id)->told.dropped[reason] += (uint32_t)frames;
    switch_count_drop(sw, reason, frames, bytes);
}

static bool tell_loss(tm_switch *sw, uint32_t id, tm_loss *loss, wire_loss reason, int lane) {
    if (loss->messages == 0) {
        return true;
    }
    wire_begin(&sw->writer, WIRE_LOST);
    wire_array(&sw->writer, 3);
    wire_unsigned(&sw->writer, loss->messages);
    wire_unsigned(&sw->writer, loss->bytes);
    wire_unsigned(&sw->writer, reason);
    wire_end(&sw->writer);
    bool told = switch_queue_control(sw, id, lane);
    if (told) {
        *loss = (tm_loss){0, 0};
    }
    return told;
}

/* The gap of drop-oldest is in front of everything that waits, that of the others behind it. */
void switch_tell_losses(tm_switch *sw, uint32_t id) {
    tm_connection *connection = switch_at(sw, id);
    if (switch_is_link(connection)) {
        connection->lost_full = connection->lost_large = (tm_loss){0, 0};
        return;
    }
    int lane = connection->admission.policy == TM_SLOW_DROP_OLDEST ? TM_LANE_URGENT : TM_LANE_ORDERED;
    tell_loss(sw, id, &connection->lost_full, WIRE_LOST_QUEUE_FULL, lane);
    tell_loss(sw, id, &connection->lost_large, WIRE_LOST_TOO_LARGE, TM_LANE_ORDERED);
}

static bool fits(const tm_connection *connection, uint32_t size) {
    uint32_t waiting = tm_lane_size(&connection->outbox.ordered);
    return waiting == 0 || waiting + (uint64_t)size <= connection->admission.queue_bytes_max;
}

/* May queues grow past their bounds, for what publishers have credit for? */
static bool has_reserve(const tm_switch *sw) {
    return sw->options.memory_bytes_max == 0 || sw->memory.bytes < sw->options.memory_bytes_max / 2;
}

/* Make room by the receiver's policy; false: the frame is to be dropped. */
static bool make_room(tm_switch *sw, uint32_t id, uint32_t size) {
    tm_connection *connection = switch_at(sw, id);
    if (connection->admission.policy == TM_SLOW_DROP_OLDEST) {
        uint64_t over =
            tm_lane_size(&connection->outbox.ordered) + (uint64_t)size - connection->admission.queue_bytes_max;
        uint64_t frames = 0;
        uint64_t bytes = 0;
        tm_outbox_drop_oldest(&connection->outbox, &sw->memory, (uint32_t)over, &frames, &bytes);
        note_lost(sw, id, &connection->lost_full, TM_DROP_QUEUE_FULL, frames, bytes);
        return fits(connection, size);
    }
    if (connection->admission.policy == TM_SLOW_DISCONNECT && !connection->told_slow) {
        connection->told_slow = switch_tell(sw, (tm_event){.type = TM_EVENT_SLOW, .connection = id});
    }
    return false;
}

uint8_t *switch_queue_data(tm_switch *sw, uint32_t id, uint32_t size, uint32_t publisher) {
    tm_connection *connection = switch_at(sw, id);
    if (size > connection->admission.frame_bytes_max) {
        note_lost(sw, id, &connection->lost_large, TM_DROP_TOO_LARGE, 1, size);
        switch_mark_dirty(sw, id);
        return NULL;
    }
    bool is_promised = connection->admission.policy == TM_SLOW_BLOCK &&
                       tm_lane_size(&connection->outbox.ordered) > connection->admission.queue_bytes_max / 2 &&
                       block(sw, id, publisher) && has_reserve(sw);
    if (!fits(connection, size) && !is_promised && !make_room(sw, id, size)) {
        note_lost(sw, id, &connection->lost_full, TM_DROP_QUEUE_FULL, 1, size);
        return NULL;
    }
    if (connection->lost_full.messages + connection->lost_large.messages > 0) {
        switch_tell_losses(sw, id);
    }
    uint8_t *at = tm_outbox_append(&connection->outbox, &sw->memory, size);
    if (at == NULL) {
        note_lost(sw, id, &connection->lost_full, TM_DROP_MEMORY, 1, size);
        return NULL;
    }
    uint32_t waiting = tm_lane_size(&connection->outbox.ordered);
    connection->queued_peak = waiting > connection->queued_peak ? waiting : connection->queued_peak;
    switch_mark_dirty(sw, id);
    return at;
}

/* ---- sockets ------------------------------------------------------------------------------------------------------
 */

void switch_mark_dirty(tm_switch *sw, uint32_t id) {
    tm_connection *connection = switch_at(sw, id);
    if (!connection->is_dirty) {
        connection->is_dirty = true;
        sw->dirty[sw->dirty_count++] = id;
    }
}

void switch_watch(tm_switch *sw, uint32_t id) {
    tm_connection *connection = switch_at(sw, id);
    if (connection->fd < 0 || !switch_is_alive(connection)) {
        return;
    }
    bool reads = !connection->is_deaf && !connection->is_paused && !switch_waits(connection);
    struct epoll_event event = {.events = (reads ? EPOLLIN : 0U) | (connection->waits_to_write ? EPOLLOUT : 0U),
                                .data.u32 = id};
    epoll_ctl(sw->epoll, EPOLL_CTL_MOD, connection->fd, &event);
}

static void wait_to_write(tm_switch *sw, uint32_t id, bool waits) {
    tm_connection *connection = switch_at(sw, id);
    if (connection->waits_to_write != waits) {
        connection->waits_to_write = waits;
        switch_watch(sw, id);
    }
}

/* `sent` bytes have gone; what follows from a shorter queue. */
static void note_sent(tm_switch *sw, uint32_t id, uint64_t sent) {
    tm_connection *connection = switch_at(sw, id);
    tm_outbox_sent(&connection->outbox, sent);
    connection->sent_ms = sw->now_ms;
    connection->bytes_out += sent;
    sw->stats.bytes_out += sent;
    if (tm_lane_size(&connection->outbox.ordered) <= connection->admission.queue_bytes_max / 4) {
        bool was_blocking = connection->blocks_until_ms != 0;
        connection->block_spent = false;
        connection->blocks_until_ms = 0;
        connection->told_slow = false;
        if (was_blocking && sw->blocked_count > 0) {
            switch_unblock(sw);
        }
    }
}

/* Everything has gone: tell what was lost last, and close if that was asked for. */
static void note_empty(tm_switch *sw, uint32_t id) {
    tm_connection *connection = switch_at(sw, id);
    wait_to_write(sw, id, false);
    switch_tell_losses(sw, id);
    if (connection->state == CONNECTION_CLOSING && tm_outbox_size(&connection->outbox) == 0) {
        switch_shut(sw, id, 0);
    }
}

static void announce(tm_switch *sw, uint32_t id) {
    tm_connection *connection = switch_at(sw, id);
    if (tm_outbox_size(&connection->outbox) == 0) {
        note_empty(sw, id);
    } else if (!connection->is_announced) {
        connection->is_announced = switch_tell(sw, (tm_event){.type = TM_EVENT_OUTPUT, .connection = id});
    }
}

static void send_pieces(tm_switch *sw, uint32_t id) {
    tm_connection *connection = switch_at(sw, id);
    while (tm_outbox_size(&connection->outbox) > 0) {
        struct iovec pieces[OUTBOX_PIECES];
        struct msghdr header = {.msg_iov = pieces, .msg_iovlen = (size_t)tm_outbox_pieces(&connection->outbox, pieces)};
        ssize_t sent = sendmsg(connection->fd, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0) {
            if (errno == EAGAIN || errno == EINTR) {
                wait_to_write(sw, id, true);
            } else {
                switch_shut(sw, id, errno);
            }
            return;
        }
        note_sent(sw, id, (uint64_t)sent);
    }
    note_empty(sw, id);
}

void switch_flush(tm_switch *sw, uint32_t id) {
    tm_connection *connection = switch_at(sw, id);
    if (!switch_is_alive(connection)) {
        return;
    }
    if (connection->lost_full.messages + connection->lost_large.messages > 0 &&
        (connection->admission.policy == TM_SLOW_DROP_OLDEST || tm_lane_size(&connection->outbox.ordered) == 0)) {
        switch_tell_losses(sw, id);
    }
    if (connection->is_fed) {
        announce(sw, id);
    } else if (!connection->waits_to_write) {
        send_pieces(sw, id);
    }
}

/* A flush may make others dirty (credit for those who waited): until none is left. */
void switch_flush_dirty(tm_switch *sw) {
    while (sw->dirty_count > 0) {
        uint32_t id = sw->dirty[--sw->dirty_count];
        switch_at(sw, id)->is_dirty = false;
        switch_flush(sw, id);
    }
}

/* ---- connections without a socket ---------------------------------------------------------------------------------
 */

int tm_switch_output(tm_switch *sw, uint32_t id, const uint8_t **bytes, size_t *size) {
    if (!switch_knows(sw, id) || bytes == NULL || size == NULL || !switch_at(sw, id)->is_fed) {
        return TM_MISUSED;
    }
    struct iovec pieces[OUTBOX_PIECES];
    bool any = tm_outbox_pieces(&switch_at(sw, id)->outbox, pieces) > 0;
    *bytes = any ? pieces[0].iov_base : NULL;
    *size = any ? pieces[0].iov_len : 0;
    return TM_OK;
}

int tm_switch_sent(tm_switch *sw, uint32_t id, size_t size) {
    if (!switch_knows(sw, id) || !switch_at(sw, id)->is_fed) {
        return TM_MISUSED;
    }
    tm_connection *connection = switch_at(sw, id);
    if (size > tm_outbox_size(&connection->outbox)) {
        return TM_MISUSED;
    }
    switch_begin(sw);
    note_sent(sw, id, size);
    if (tm_outbox_size(&connection->outbox) == 0) {
        connection->is_announced = false;
        switch_flush(sw, id);
    }
    switch_flush_dirty(sw);
    return TM_OK;
}
