/* write.c - what leaves: queues, what happens when one is full, and the sockets they are written to.
 *
 * Law: a receiver's queue holds at most its queue_bytes_max of data, a single frame excepted where nothing waits; what
 * does not fit is dropped whole, counted by reason and told by a LOST frame where the gap is (a neighbour is told by
 * others, who know which sources it concerns: shed.c). A publisher whose credit is withheld (credit.c) may still use
 * what it has: that is taken past queue_bytes_max, and bounded by its credit and by half of the memory.
 */
#define _GNU_SOURCE
#include "switch/switch.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

/* ---- queues that are full ---- */

static void note_lost(tm_switch *sw, uint32_t id, tm_loss *loss, unsigned reason, uint64_t frames, uint64_t bytes) {
    loss->messages += frames;
    loss->bytes += bytes;
    switch_at(sw, id)->traffic.dropped += frames;
    switch_at(sw, id)->traffic.told.dropped[reason] += (uint32_t)frames;
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
                       switch_block(sw, id, publisher) && has_reserve(sw);
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
    connection->traffic.queued_peak =
        waiting > connection->traffic.queued_peak ? waiting : connection->traffic.queued_peak;
    switch_mark_dirty(sw, id);
    return at;
}

/* ---- sockets ---- */

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
    connection->clocks.sent_ms = sw->now_ms;
    connection->traffic.bytes_out += sent;
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
    } else if (!connection->told.output) {
        connection->told.output = switch_tell(sw, (tm_event){.type = TM_EVENT_OUTPUT, .connection = id});
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

/* ---- connections without a socket ---- */

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
        connection->told.output = false;
        switch_flush(sw, id);
    }
    switch_flush_dirty(sw);
    return TM_OK;
}
