/* write.c - see write.h.
 *
 * Law: the call that queues output tries to send it before it returns; what the socket does not accept waits until the
 * socket is writable.
 */
#define _GNU_SOURCE
#include "switch/connections/write.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "switch/connections/connection.h"
#include "switch/connections/events.h"
#include "switch/connections/outbox.h"
#include "switch/connections/queue.h"
#include "switch/durable.h"

static void wait_to_write(tm_switch *sw, uint32_t id, bool waits) {
    tm_connection *connection = switch_at(sw, id);
    if (connection->waits_to_write != waits) {
        connection->waits_to_write = waits;
        switch_watch(sw, id);
    }
}

void switch_note_sent(tm_switch *sw, uint32_t id, uint64_t sent) {
    tm_connection *connection = switch_at(sw, id);
    tm_outbox_sent(&connection->outbox, sent);
    connection->clocks.sent_ms = sw->now_ms;
    connection->traffic.bytes_out += sent;
    sw->stats.bytes_out += sent;
    if (connection->consumers != 0) {
        sw->durable->go_on(sw, id);
    }
    if (connection->subscriber != SUBSCRIBER_NONE) {
        switch_note_shorter(sw, connection->subscriber);
    }
}

/* The queue is empty: report pending losses, and shut the connection if it is closing and no far end. */
static void note_empty(tm_switch *sw, uint32_t id) {
    tm_connection *connection = switch_at(sw, id);
    wait_to_write(sw, id, false);
    if (connection->subscriber != SUBSCRIBER_NONE) {
        switch_tell_losses(sw, connection->subscriber);
    }
    if (connection->state == CONNECTION_CLOSING && tm_outbox_size(&connection->outbox) == 0 &&
        !connection->is_far_end) {
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
                switch_lose(sw, id, errno);
            }
            return;
        }
        switch_note_sent(sw, id, (uint64_t)sent);
    }
    note_empty(sw, id);
}

void switch_flush(tm_switch *sw, uint32_t id) {
    tm_connection *connection = switch_at(sw, id);
    if (!switch_is_alive(connection)) {
        return;
    }
    if (connection->subscriber != SUBSCRIBER_NONE) {
        switch_tell_due_losses(sw, connection->subscriber);
    }
    if (connection->is_fed) {
        announce(sw, id);
    } else if (!connection->waits_to_write) {
        send_pieces(sw, id);
    }
}

/* A flush may make other connections dirty (credit for blocked publishers), so this loops until none is left. */
void switch_flush_dirty(tm_switch *sw) {
    while (sw->dirty_count > 0) {
        uint32_t id = sw->dirty[--sw->dirty_count];
        switch_at(sw, id)->is_dirty = false;
        switch_flush(sw, id);
    }
}
