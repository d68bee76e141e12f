/* beat.c - see beat.h.
 *
 *     ours   ──sent──────────────────────answered──      offset = theirs - (sent + answered) / 2
 *     theirs ──────────────theirs─────────────────       off by half of the round trip at most
 *
 * Law: the token of a PING from here is the time when it left; a PONG carries the time of the router that answers.
 * Of the heartbeats since tm_switch_clock last returned one, the one with the shortest round trip counts: it waited in
 * the fewest queues.
 */
#include "switch/connections/beat.h"

#include <errno.h>

#include "switch/connections/connection.h"
#include "switch/connections/control.h"
#include "switch/message.h"

#define ROUND_TRIP_MAX_US 10000000U /* longer round trips are ignored, and with them foreign tokens */

/* Decode an unsigned number in any MessagePack encoding; NULL: it is malformed or truncated. */
static const uint8_t *take_unsigned(const uint8_t *at, const uint8_t *end, uint64_t *number) {
    if (at == end || (*at > 0x7f && (*at < 0xcc || *at > 0xcf))) {
        return NULL;
    }
    if (*at <= 0x7f) {
        *number = *at;
        return at + 1;
    }
    unsigned width = 1U << (*at - 0xcc);
    if (end - at <= (ptrdiff_t)width) {
        return NULL;
    }
    *number = 0;
    for (unsigned i = 1; i <= width; i++) {
        *number = *number << 8 | at[i];
    }
    return at + 1 + width;
}

static void answer_ping(tm_switch *sw, uint32_t id, uint64_t token) {
    wire_begin(&sw->writer, WIRE_PONG);
    wire_array(&sw->writer, 2);
    wire_unsigned(&sw->writer, token);
    wire_unsigned(&sw->writer, tm_clock_unix_ns() / 1000);
    wire_end(&sw->writer);
    if (!switch_queue_control(sw, id, TM_LANE_URGENT)) {
        switch_shut(sw, id, ENOBUFS); /* the peer sends PINGs and does not read the answers */
    }
}

static void note_clock(tm_connection *connection, uint64_t sent_us, uint64_t theirs_us) {
    uint64_t now_us = tm_clock_unix_ns() / 1000;
    uint64_t round_trip_us = now_us - sent_us;
    if (sent_us > now_us || round_trip_us > ROUND_TRIP_MAX_US || theirs_us == 0 || theirs_us > INT64_MAX ||
        round_trip_us >= connection->clocks.round_trip_us) {
        return;
    }
    connection->clocks.round_trip_us = round_trip_us;
    connection->clocks.offset_us = (int64_t)(theirs_us - (sent_us + round_trip_us / 2));
}

bool switch_beat(tm_switch *sw, uint32_t id, const uint8_t *frame, uint32_t size) {
    const uint8_t *end = frame + size;
    const uint8_t *at = frame + WIRE_PREFIX_BYTES;
    uint64_t numbers[2] = {0};
    unsigned count = at < end ? *at ^ 0x90U : 0;
    if (count == 0 || count > (frame[WIRE_KIND] == WIRE_PONG ? 2U : 1U)) {
        return false;
    }
    at++;
    for (unsigned i = 0; i < count; i++) {
        at = take_unsigned(at, end, &numbers[i]);
        if (at == NULL) {
            return false;
        }
    }
    if (at != end) {
        return false;
    }
    if (frame[WIRE_KIND] == WIRE_PING) {
        answer_ping(sw, id, numbers[0]);
    } else if (switch_is_link(switch_at(sw, id))) {
        note_clock(switch_at(sw, id), numbers[0], numbers[1]);
    }
    return true;
}

int tm_switch_clock(tm_switch *sw, uint32_t id, int64_t *offset_us, uint64_t *round_trip_us) {
    if (!switch_knows(sw, id) || offset_us == NULL || round_trip_us == NULL) {
        return TM_MISUSED;
    }
    tm_connection *connection = switch_at(sw, id);
    if (connection->clocks.round_trip_us == UINT64_MAX) {
        return TM_ABSENT;
    }
    *offset_us = connection->clocks.offset_us;
    *round_trip_us = connection->clocks.round_trip_us;
    connection->clocks.round_trip_us = UINT64_MAX;
    return TM_OK;
}
