/* remote.c - see remote.h.
 *
 * Law: a session ends with the connection of either end. A client that says more to a home than a window holds loses
 * its session, and nothing else: it consumes again.
 */
#include "switch/remote.h"

#include "durable/tables/said.h"
#include "switch/connections/connection.h"
#include "switch/remote_stream.h"

/* Return the near end of a connection that has a consumer, or NULL. */
static tm_remote *end_of(tm_switch *sw, uint32_t connection, uint32_t consumer) {
    for (uint32_t id = switch_at(sw, connection)->remotes; id != 0; id = sw->remotes->rows[id - 1].next) {
        tm_remote *remote = &sw->remotes->rows[id - 1];
        if (remote->is_near && switch_has_consumer(remote, consumer)) {
            return remote;
        }
    }
    return NULL;
}

bool switch_say_to_home(tm_switch *sw, uint32_t connection, const uint8_t *frame, uint32_t size) {
    const uint8_t *body = frame + WIRE_PREFIX_BYTES;
    uint64_t consumer;
    if (frame[WIRE_KIND] == WIRE_ACK) {
        tm_said_ack ack;
        if (!tm_said_read_ack(body, size - WIRE_PREFIX_BYTES, &ack)) {
            return false;
        }
        consumer = ack.subscription;
    } else {
        tm_said_credit credit;
        if (!tm_said_read_credit(body, size - WIRE_PREFIX_BYTES, &credit)) {
            return false;
        }
        consumer = credit.subscription;
    }
    tm_remote *remote = end_of(sw, connection, (uint32_t)consumer);
    if (remote == NULL) {
        return false;
    }
    switch_work_on_remote(sw, remote);
    if (!switch_add_bytes(sw, &remote->flight, frame, size, TM_REMOTE_WINDOW)) {
        switch_break_remote(sw, remote);
    }
    return true;
}

void switch_leave_remotes(tm_switch *sw, uint32_t connection) {
    while (switch_at(sw, connection)->remotes != 0) {
        tm_remote *remote = &sw->remotes->rows[switch_at(sw, connection)->remotes - 1];
        switch_end_remote(sw, remote, switch_at(sw, connection)->is_lost);
    }
}
