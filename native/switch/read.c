/* read.c - see read.h.
 *
 * Law: a frame is processed when its last byte is received; how the bytes were split makes no difference. A length or a
 * kind that is not allowed is refused as soon as it is received, before more is buffered. The rest of a chunk is kept
 * in a buffer of the connection: the few bytes of a short frame, or room for the whole of a long one, into which the
 * next bytes are read directly.
 */
#define _GNU_SOURCE
#include "switch/read.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "switch/connections/beat.h"
#include "switch/connections/connection.h"
#include "switch/connections/control.h"
#include "switch/connections/credit.h"
#include "switch/connections/events.h"
#include "switch/connections/step.h"
#include "switch/connections/write.h"
#include "switch/durable.h"
#include "switch/forwarding/directed.h"
#include "switch/forwarding/order.h"
#include "switch/publish.h"
#include "switch/remote.h"
#include "switch/remote_stream.h"
#include "switch/transit.h"

#define LONG_FRAME_BYTES (SWITCH_RECEIVE_BYTES / 4) /* shorter frames are copied in front of the next chunk */
#define PARTIAL_BYTES_MIN 256U
#define WAITING_BYTES_MAX (4U << 20) /* buffered for a waiting connection without a socket; then it is closed */

/* ---- one frame ---- */

static bool kind_is_known(uint8_t kind) {
    return (kind >= WIRE_PUBLISH && kind <= WIRE_DIRECTED) || (kind >= WIRE_HELLO && kind <= WIRE_REMOTE_HELLO) ||
           (kind >= WIRE_SUBSCRIBE && kind <= WIRE_REPLAY_END) || (kind >= WIRE_LIST_DURABLES && kind <= WIRE_GET) ||
           (kind >= WIRE_TRACE_RECORD && kind <= WIRE_DRY_RUN_REPORT) || (kind >= WIRE_LSA && kind <= WIRE_HELD) ||
           (kind >= WIRE_CUSTODY_ACK && kind <= WIRE_GAP) || kind == WIRE_EPOCH_REFUSED || kind == WIRE_GO_AWAY ||
           (kind >= WIRE_DURABLES && kind <= WIRE_FINISHED) || (kind >= WIRE_EA && kind <= WIRE_ER) ||
           kind == WIRE_SPACE;
}

static bool is_skippable(uint8_t kind) {
    return (kind & WIRE_SKIPPABLE) != 0 || kind == WIRE_OFFER || kind == WIRE_WANTED;
}

static void hand_up(tm_switch *sw, uint32_t id, const uint8_t *frame, uint32_t size) {
    if (!switch_tell_frame(sw, id, TM_EVENT_FRAME, frame, size)) {
        switch_shut(sw, id, ENOMEM);
    }
}

static void take_control(tm_switch *sw, uint32_t id, const uint8_t *frame, uint32_t size) {
    tm_connection *connection = switch_at(sw, id);
    uint8_t kind = frame[WIRE_KIND];
    if (frame[WIRE_FLAGS] != 0 || frame[WIRE_HOPS] != 0) {
        switch_fault(sw, id, WIRE_RESERVED_SET, frame,
                     "flags and hop limit must be 0 in a frame that is no data frame");
        return;
    }
    if (connection->state == CONNECTION_OPEN && (kind == WIRE_PING || kind == WIRE_PONG) &&
        switch_beat(sw, id, frame, size)) {
        return;
    }
    if (connection->consumers != 0 && connection->state == CONNECTION_OPEN &&
        ((kind == WIRE_ACK && sw->durable->take_ack(sw, id, frame, size)) ||
         (kind == WIRE_CREDIT && sw->durable->take_credit(sw, id, frame, size)))) {
        return;
    }
    if (connection->remotes != 0 && (kind == WIRE_ACK || kind == WIRE_CREDIT) && connection->state == CONNECTION_OPEN &&
        switch_say_to_home(sw, id, frame, size)) {
        return;
    }
    if (kind == WIRE_REMOTE && connection->state == CONNECTION_OPEN && switch_is_link(connection)) {
        switch_take_remote(sw, id, frame, size);
        return;
    }
    connection->has_drained |= kind == WIRE_DRAIN;
    hand_up(sw, id, frame, size);
}

/* Count a data frame against its sender's credit; false: the credit is exceeded. */
static bool spend_credit(tm_connection *connection, uint32_t size) {
    tm_credit *credit = &connection->credit;
    credit->used_frames++;
    credit->used_bytes += size;
    return credit->used_frames <= credit->granted_frames && credit->used_bytes <= credit->granted_bytes;
}

static void refuse_kind(tm_switch *sw, uint32_t id, const uint8_t *frame) {
    switch_fault(sw, id, WIRE_UNEXPECTED_KIND, frame, "the peer may not send this frame kind now");
}

/* Process a DELIVER, which no peer may send, or a DIRECTED, which a neighbour may; false: it is another kind. */
static __attribute__((noinline)) bool take_rare(tm_switch *sw, uint32_t id, const uint8_t *frame, uint32_t size) {
    const tm_connection *connection = switch_at(sw, id);
    if (frame[WIRE_KIND] == WIRE_DRY_RUN) {
        return false;
    }
    if (frame[WIRE_KIND] == WIRE_DIRECTED && connection->state == CONNECTION_OPEN && switch_is_link(connection) &&
        connection->admission.version >= WIRE_VERSION_CUSTODY) {
        switch_take_directed(sw, id, frame, size);
    } else {
        refuse_kind(sw, id, frame);
    }
    return true;
}

static void take_data(tm_switch *sw, uint32_t id, const uint8_t *frame, uint32_t size) {
    tm_connection *connection = switch_at(sw, id);
    bool is_link = switch_is_link(connection);
    if (frame[WIRE_KIND] != WIRE_PUBLISH && take_rare(sw, id, frame, size)) {
        return;
    }
    if (connection->state != CONNECTION_OPEN || (connection->has_drained && !is_link)) {
        refuse_kind(sw, id, frame);
    } else if (is_link) {
        switch_transit(sw, id, frame, size, false);
    } else if (!spend_credit(connection, size)) {
        switch_fault(sw, id, WIRE_OVER_LIMIT, frame, "published more than the credit");
    } else {
        switch_publish(sw, id, frame, size);
    }
}

static void take_frame(tm_switch *sw, uint32_t id, const uint8_t *frame, uint32_t size) {
    tm_connection *connection = switch_at(sw, id);
    if (connection->state == CONNECTION_GREETING) {
        connection->greeting_left -= size;
    }
    if (!kind_is_known(frame[WIRE_KIND])) {
        return; /* a skippable kind: beginning_is_allowed rejects all other unknown kinds */
    }
    if (frame[WIRE_RESERVED] != 0) {
        switch_fault(sw, id, WIRE_RESERVED_SET, frame, "byte 7 is reserved and must be 0");
    } else if (frame[WIRE_KIND] < WIRE_DATA_KINDS_END) {
        take_data(sw, id, frame, size);
    } else {
        take_control(sw, id, frame, size);
    }
}

/* true if a frame may begin with these bytes; otherwise a fault is reported */
static bool beginning_is_allowed(tm_switch *sw, uint32_t id, const uint8_t *bytes, size_t left) {
    const tm_connection *connection = switch_at(sw, id);
    uint32_t length = tm_load32(bytes);
    const uint8_t *frame = left > WIRE_KIND ? bytes : NULL;
    if (length < WIRE_PREFIX_BYTES) {
        switch_fault(sw, id, WIRE_TOO_SHORT, frame, "a frame has at least 8 bytes");
    } else if (length > sw->options.frame_bytes_max) {
        switch_fault(sw, id, WIRE_TOO_LONG, frame, "the frame is longer than this router accepts");
    } else if (connection->state == CONNECTION_GREETING && length > connection->greeting_left) {
        switch_fault(sw, id, WIRE_UNAUTHENTICATED, frame, "too many bytes before authentication");
    } else if (frame != NULL && !is_skippable(frame[WIRE_KIND]) && !kind_is_known(frame[WIRE_KIND])) {
        switch_fault(sw, id, WIRE_UNKNOWN_KIND, frame, "unknown frame kind");
    } else {
        return true;
    }
    return false;
}

/* ---- a chunk ---- */

/* true if the frame is a publish that must wait; its connection then waits */
static __attribute__((noinline)) bool waits(tm_switch *sw, uint32_t id, const uint8_t *frame) {
    const tm_connection *connection = switch_at(sw, id);
    if (frame[WIRE_KIND] != WIRE_PUBLISH || connection->state != CONNECTION_OPEN || switch_is_link(connection) ||
        sw->is_draining) {
        return false;
    }
    if ((sw->holds & SWITCH_WAITS_FOR_STEP) && switch_step_of(sw, frame) == TM_STEP_WAIT) {
        switch_wait(sw, id);
        return true;
    }
    return (sw->holds & SWITCH_WAITS_FOR_LOG) && sw->durable->hold(sw, id, frame);
}

/* Process the complete frames; returns the number of bytes processed. */
static size_t walk(tm_switch *sw, uint32_t id, const uint8_t *bytes, size_t size) {
    size_t at = 0;
    while (size - at >= sizeof(uint32_t) && !switch_at(sw, id)->is_deaf) {
        if (!beginning_is_allowed(sw, id, bytes + at, size - at)) {
            break;
        }
        uint32_t length = tm_load32(bytes + at);
        if (length > size - at) {
            break;
        }
        if (sw->holds != 0 && waits(sw, id, bytes + at)) {
            break;
        }
        if (switch_must_follow(sw, id, bytes + at, length)) {
            switch_follow(sw, id);
            break;
        }
        take_frame(sw, id, bytes + at, length);
        at += length;
    }
    return at;
}

static bool reserve_partial(tm_switch *sw, tm_connection *connection, uint32_t size) {
    if (size + TM_SHAPE_SLACK <= connection->partial.capacity) {
        return true;
    }
    uint32_t wanted = size + TM_SHAPE_SLACK;
    uint32_t capacity = wanted < PARTIAL_BYTES_MIN ? PARTIAL_BYTES_MIN : wanted;
    uint8_t *partial =
        TM_RESIZE(&sw->memory, TM_COLD, connection->partial.bytes, uint8_t, connection->partial.capacity, capacity);
    if (partial == NULL) {
        return false;
    }
    connection->partial.bytes = partial;
    connection->partial.capacity = capacity;
    return true;
}

static void free_partial(tm_switch *sw, tm_connection *connection) {
    TM_DELETE(&sw->memory, TM_COLD, connection->partial.bytes, uint8_t, connection->partial.capacity);
    connection->partial = (tm_partial){0};
}

/* Keep the beginning of a frame for the next chunk, or everything while the connection waits; a long frame gets room
 * for its full length. */
static void keep(tm_switch *sw, uint32_t id, const uint8_t *bytes, size_t size) {
    tm_connection *connection = switch_at(sw, id);
    if (connection->is_deaf || !switch_is_alive(connection)) {
        return;
    }
    uint32_t length = size >= sizeof(uint32_t) ? tm_load32(bytes) : 0;
    uint32_t room = length > LONG_FRAME_BYTES && length > size ? length : (uint32_t)size;
    if (!reserve_partial(sw, connection, room)) {
        switch_shut(sw, id, ENOMEM);
        return;
    }
    memcpy(connection->partial.bytes, bytes, size);
    connection->partial.size = (uint32_t)size;
}

/* Send the confirmations, credit and output that a chunk has caused. */
static void settle(tm_switch *sw, uint32_t id) {
    if (switch_at(sw, id)->state == CONNECTION_OPEN) {
        switch_send_confirmations(sw, id);
        switch_grant(sw, id);
    }
    switch_drop_confirmations(sw);
    switch_flush_dirty(sw);
}

static void note_received(tm_switch *sw, tm_connection *connection, size_t size) {
    connection->clocks.received_ms = sw->now_ms;
    connection->told.silent = false;
    connection->traffic.bytes_in += size;
    sw->stats.bytes_in += size;
}

/* Process a chunk; `bytes` begin with the kept bytes of the previous one. */
static void take_chunk(tm_switch *sw, uint32_t id, const uint8_t *bytes, size_t size) {
    size_t taken = walk(sw, id, bytes, size);
    if (taken < size) {
        keep(sw, id, bytes + taken, size - taken);
    }
    settle(sw, id);
}

/* The buffer is detached first, because a part of it may be kept again. */
void switch_process_partial(tm_switch *sw, uint32_t id) {
    tm_connection *connection = switch_at(sw, id);
    uint8_t *bytes = connection->partial.bytes;
    uint32_t capacity = connection->partial.capacity;
    uint32_t size = connection->partial.size;
    if (bytes == NULL || connection->is_deaf) {
        return;
    }
    connection->partial = (tm_partial){0};
    take_chunk(sw, id, bytes, size);
    TM_DELETE(&sw->memory, TM_COLD, bytes, uint8_t, capacity);
}

static bool wants_long_frame(const tm_connection *connection) {
    return connection->partial.size >= sizeof(uint32_t) && tm_load32(connection->partial.bytes) > LONG_FRAME_BYTES;
}

/* Note that `fresh` more bytes of a long frame were read into its own buffer; process it when complete. */
static void take_long(tm_switch *sw, uint32_t id, size_t fresh) {
    tm_connection *connection = switch_at(sw, id);
    connection->partial.size += (uint32_t)fresh;
    if (connection->partial.size < tm_load32(connection->partial.bytes)) {
        return;
    }
    switch_process_partial(sw, id); /* the frame may end the connection, but its bytes stay valid */
}

/* Copy the kept bytes to the front of the chunk. */
static void take_kept(tm_switch *sw, tm_connection *connection) {
    if (connection->partial.size > 0) {
        memcpy(sw->receive, connection->partial.bytes, connection->partial.size);
        connection->partial.size = 0;
    }
}

bool switch_put_back(tm_switch *sw, uint32_t id, const uint8_t *frame, uint32_t size) {
    tm_connection *connection = switch_at(sw, id);
    uint32_t at = connection->partial.put_back;
    if (!reserve_partial(sw, connection, connection->partial.size + size)) {
        return false;
    }
    memmove(connection->partial.bytes + at + size, connection->partial.bytes + at, connection->partial.size - at);
    memcpy(connection->partial.bytes + at, frame, size);
    connection->partial.size += size;
    connection->partial.put_back += size;
    return true;
}

/* Keep bytes that were fed before the caller learned that the connection waits. */
static void keep_behind(tm_switch *sw, uint32_t id, const uint8_t *bytes, size_t size) {
    tm_connection *connection = switch_at(sw, id);
    if (connection->partial.size + size > WAITING_BYTES_MAX ||
        !reserve_partial(sw, connection, connection->partial.size + (uint32_t)size)) {
        switch_shut(sw, id, ENOBUFS);
        return;
    }
    memcpy(connection->partial.bytes + connection->partial.size, bytes, size);
    connection->partial.size += (uint32_t)size;
}

void switch_take(tm_switch *sw, uint32_t id, const uint8_t *bytes, size_t size) {
    note_received(sw, switch_at(sw, id), size);
    while (size > 0 && !switch_at(sw, id)->is_deaf) {
        tm_connection *connection = switch_at(sw, id);
        if (switch_waits(connection)) {
            keep_behind(sw, id, bytes, size);
            return;
        }
        size_t step = size;
        if (wants_long_frame(connection)) {
            size_t missing = tm_load32(connection->partial.bytes) - connection->partial.size;
            step = step < missing ? step : missing;
            memcpy(connection->partial.bytes + connection->partial.size, bytes, step);
            take_long(sw, id, step);
        } else {
            size_t kept = connection->partial.size;
            step = step < SWITCH_RECEIVE_BYTES - kept ? step : SWITCH_RECEIVE_BYTES - kept;
            take_kept(sw, connection);
            memcpy(sw->receive + kept, bytes, step);
            take_chunk(sw, id, sw->receive, kept + step);
        }
        bytes += step;
        size -= step;
    }
}

/* ---- a socket ---- */

void switch_read(tm_switch *sw, uint32_t id) {
    tm_connection *connection = switch_at(sw, id);
    bool is_long = wants_long_frame(connection);
    size_t kept = is_long ? 0 : connection->partial.size;
    uint8_t *to = is_long ? connection->partial.bytes + connection->partial.size : sw->receive + kept;
    size_t room =
        is_long ? tm_load32(connection->partial.bytes) - connection->partial.size : SWITCH_RECEIVE_BYTES - kept;
    ssize_t got = recv(connection->fd, to, room, 0);
    if (got <= 0) {
        if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
            switch_lose(sw, id, got == 0 ? 0 : errno);
        }
        return;
    }
    note_received(sw, connection, (size_t)got);
    if (is_long) {
        take_long(sw, id, (size_t)got);
        return;
    }
    take_kept(sw, connection);
    take_chunk(sw, id, sw->receive, kept + (size_t)got);
    connection = switch_at(sw, id);
    if (connection->partial.size == 0) {
        free_partial(sw, connection);
    }
}
