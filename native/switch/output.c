/* output.c - frames that Python sends, and output that it fetches for connections without a socket. */
#include "switch/connections/connection.h"
#include "switch/connections/events.h"
#include "switch/connections/outbox.h"
#include "switch/connections/write.h"
#include "switch/durable.h"
#include "switch/lifecycle.h"
#include "switch/state.h"

int tm_switch_send(tm_switch *sw, uint32_t id, const uint8_t *frames, size_t size, int lane) {
    if (!switch_knows(sw, id) || !switch_is_alive(switch_at(sw, id)) || size > UINT32_MAX / 4) {
        return TM_MISUSED;
    }
    tm_connection *connection = switch_at(sw, id);
    uint64_t data_max = connection->admission.queue_bytes_max;
    if (connection->admission.policy == TM_SLOW_BLOCK && connection->traffic.queued_peak > data_max) {
        data_max = connection->traffic.queued_peak; /* it held messages that publishers had credit for */
    }
    uint64_t bytes_max = OUTBOX_URGENT_MAX + data_max + sw->options.frame_bytes_max;
    if (lane == TM_LANE_ORDERED && tm_lane_size(&connection->outbox.ordered) + size > bytes_max) {
        return TM_TOO_MANY;
    }
    uint8_t *at = lane == TM_LANE_URGENT ? tm_outbox_urge(&connection->outbox, &sw->memory, (uint32_t)size)
                                         : tm_outbox_append(&connection->outbox, &sw->memory, (uint32_t)size);
    if (at == NULL) {
        return TM_TOO_MANY;
    }
    memcpy(at, frames, size);
    switch_begin(sw);
    switch_mark_dirty(sw, id);
    switch_finish(sw);
    return TM_OK;
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
    switch_note_sent(sw, id, size);
    if (tm_outbox_size(&connection->outbox) == 0) {
        connection->told.output = false;
        switch_flush(sw, id);
    }
    if (sw->durable != NULL) {
        sw->durable->turn(sw);
    }
    switch_finish(sw);
    return TM_OK;
}
