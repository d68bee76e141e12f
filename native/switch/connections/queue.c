/* queue.c - see queue.h.
 *
 * Law: a receiver's queue holds at most its queue_bytes_max of data, except for a single frame where nothing waits.
 * A frame that does not fit is dropped whole, counted by reason and reported by a LOST frame at the gap (Python reports
 * it to a neighbour, since it knows the sources concerned: link_drops.c). A publisher whose credit is withheld
 * (credit.c) may still use the credit it has: that is accepted past queue_bytes_max, bounded by its credit and by half
 * of the memory.
 */
#include "switch/connections/queue.h"

#include "switch/connections/control.h"
#include "switch/connections/credit.h"
#include "switch/connections/events.h"
#include "switch/connections/outbox.h"
#include "switch/subscribers/subscriber.h"

static bool fits(const tm_outbox *outbox, uint64_t queue_bytes_max, uint32_t size) {
    uint32_t waiting = tm_lane_size(&outbox->ordered);
    return waiting == 0 || waiting + (uint64_t)size <= queue_bytes_max;
}

/* Reserve `size` bytes at the end of a connection's queue; NULL: no memory. */
static uint8_t *append(tm_switch *sw, uint32_t id, uint32_t size) {
    tm_connection *connection = switch_at(sw, id);
    uint8_t *at = tm_outbox_append(&connection->outbox, &sw->memory, size);
    if (at != NULL) {
        uint64_t waiting = tm_lane_size(&connection->outbox.ordered);
        tm_traffic *traffic = &connection->traffic;
        traffic->queued_peak = waiting > traffic->queued_peak ? waiting : traffic->queued_peak;
        switch_mark_dirty(sw, id);
    }
    return at;
}

/* Count dropped frames of a connection; CONNECTION_NONE: of a subscriber without one. */
static void count_lost(tm_switch *sw, uint32_t id, unsigned reason, uint64_t frames, uint64_t bytes) {
    if (id != CONNECTION_NONE) {
        tm_traffic *traffic = &switch_at(sw, id)->traffic;
        traffic->dropped += frames;
        traffic->told.dropped[reason] += (uint32_t)frames;
    }
    switch_count_drop(sw, reason, frames, bytes);
}

/* ---- of a link ---- */

static inline __attribute__((always_inline)) uint8_t *queue_onward(tm_switch *sw, uint32_t id, uint32_t size,
                                                                   uint32_t bytes_max) {
    const tm_connection *link = switch_at(sw, id);
    if (size > bytes_max) {
        if (bytes_max > 0) {
            count_lost(sw, id, TM_DROP_TOO_LARGE, 1, size);
        }
        return NULL;
    }
    if (!fits(&link->outbox, link->admission.queue_bytes_max, size)) {
        count_lost(sw, id, TM_DROP_QUEUE_FULL, 1, size);
        return NULL;
    }
    uint8_t *at = append(sw, id, size);
    if (at == NULL) {
        count_lost(sw, id, TM_DROP_MEMORY, 1, size);
    }
    return at;
}

uint8_t *switch_queue_onward(tm_switch *sw, uint32_t id, uint32_t size) {
    return queue_onward(sw, id, size, switch_at(sw, id)->onward_bytes_max);
}

uint8_t *switch_queue_allowed(tm_switch *sw, uint32_t id, uint32_t size) {
    return queue_onward(sw, id, size, switch_at(sw, id)->admission.frame_bytes_max);
}

/* ---- of a subscriber ---- */

static void note_lost(tm_switch *sw, tm_subscriber *subscriber, tm_loss *loss, unsigned reason, uint64_t frames,
                      uint64_t bytes) {
    loss->messages += frames;
    loss->bytes += bytes;
    subscriber->dropped += frames;
    count_lost(sw, subscriber->connection, reason, frames, bytes);
}

/* Queue the control frame in `sw->writer` for a subscriber; false: no room, or an urgent frame without a connection. */
static bool queue_control(tm_switch *sw, tm_subscriber *subscriber, int lane) {
    if (subscriber->connection != CONNECTION_NONE) {
        return switch_queue_control(sw, subscriber->connection, lane);
    }
    const wire_writer *writer = &sw->writer;
    uint8_t *at = lane == TM_LANE_ORDERED ? tm_outbox_append(subscriber->waiting, &sw->memory, writer->size) : NULL;
    if (at != NULL) {
        memcpy(at, writer->bytes, writer->size);
    }
    return at != NULL;
}

static void tell_loss(tm_switch *sw, tm_subscriber *subscriber, tm_loss *loss, wire_loss reason, int lane) {
    if (loss->messages == 0) {
        return;
    }
    wire_begin(&sw->writer, WIRE_LOST);
    wire_array(&sw->writer, 3);
    wire_unsigned(&sw->writer, loss->messages);
    wire_unsigned(&sw->writer, loss->bytes);
    wire_unsigned(&sw->writer, reason);
    wire_end(&sw->writer);
    if (queue_control(sw, subscriber, lane)) {
        *loss = (tm_loss){0, 0};
    }
}

/* With drop-oldest the gap is in front of the queue, with other policies behind it. */
void switch_tell_losses(tm_switch *sw, uint32_t id) {
    tm_subscriber *subscriber = switch_subscriber(sw, id);
    int lane = subscriber->terms.policy == TM_SLOW_DROP_OLDEST ? TM_LANE_URGENT : TM_LANE_ORDERED;
    tell_loss(sw, subscriber, &subscriber->lost_full, WIRE_LOST_QUEUE_FULL, lane);
    tell_loss(sw, subscriber, &subscriber->lost_large, WIRE_LOST_TOO_LARGE, TM_LANE_ORDERED);
}

void switch_tell_due_losses(tm_switch *sw, uint32_t id) {
    tm_subscriber *subscriber = switch_subscriber(sw, id);
    if (switch_has_lost(subscriber) && (subscriber->terms.policy == TM_SLOW_DROP_OLDEST ||
                                        tm_lane_size(&switch_outbox_of(sw, subscriber)->ordered) == 0)) {
        switch_tell_losses(sw, id);
    }
}

/* true if queues may grow past their bounds for publishers that have credit */
static bool has_reserve(const tm_switch *sw) {
    return sw->options.memory_bytes_max == 0 || sw->memory.bytes < sw->options.memory_bytes_max / 2;
}

/* Make room by the subscriber's policy; false: the frame must be dropped. */
static bool make_room(tm_switch *sw, tm_subscriber *subscriber, uint32_t size) {
    tm_outbox *outbox = switch_outbox_of(sw, subscriber);
    const tm_terms *terms = &subscriber->terms;
    if (terms->policy == TM_SLOW_DROP_OLDEST) {
        uint64_t over = tm_lane_size(&outbox->ordered) + (uint64_t)size - terms->queue_bytes_max;
        uint64_t frames = 0;
        uint64_t bytes = 0;
        tm_outbox_drop_oldest(outbox, &sw->memory, (uint32_t)over, &frames, &bytes);
        note_lost(sw, subscriber, &subscriber->lost_full, TM_DROP_QUEUE_FULL, frames, bytes);
        return fits(outbox, terms->queue_bytes_max, size);
    }
    bool is_served = subscriber->connection != CONNECTION_NONE;
    if (terms->policy == TM_SLOW_DISCONNECT && is_served && !subscriber->told_slow) {
        tm_event event = {.type = TM_EVENT_SLOW, .connection = subscriber->connection};
        subscriber->told_slow = switch_tell(sw, event);
    }
    return false;
}

uint8_t *switch_queue_delivery(tm_switch *sw, uint32_t id, uint32_t size, uint32_t publisher) {
    tm_subscriber *subscriber = switch_subscriber(sw, id);
    const tm_terms *terms = &subscriber->terms;
    const tm_outbox *outbox = switch_outbox_of(sw, subscriber);
    if (size > terms->frame_bytes_max) {
        note_lost(sw, subscriber, &subscriber->lost_large, TM_DROP_TOO_LARGE, 1, size);
        if (subscriber->connection != CONNECTION_NONE) {
            switch_mark_dirty(sw, subscriber->connection);
        }
        return NULL;
    }
    bool is_promised = terms->policy == TM_SLOW_BLOCK && tm_lane_size(&outbox->ordered) > terms->queue_bytes_max / 2 &&
                       switch_block(sw, id, publisher) && has_reserve(sw);
    if (!fits(outbox, terms->queue_bytes_max, size) && !is_promised && !make_room(sw, subscriber, size)) {
        note_lost(sw, subscriber, &subscriber->lost_full, TM_DROP_QUEUE_FULL, 1, size);
        return NULL;
    }
    if (switch_has_lost(subscriber)) {
        switch_tell_losses(sw, id);
    }
    uint8_t *at = subscriber->connection != CONNECTION_NONE ? append(sw, subscriber->connection, size)
                                                            : tm_outbox_append(subscriber->waiting, &sw->memory, size);
    if (at == NULL) {
        note_lost(sw, subscriber, &subscriber->lost_full, TM_DROP_MEMORY, 1, size);
    }
    return at;
}

void switch_note_shorter(tm_switch *sw, uint32_t id) {
    tm_subscriber *subscriber = switch_subscriber(sw, id);
    if (tm_lane_size(&switch_outbox_of(sw, subscriber)->ordered) > subscriber->terms.queue_bytes_max / 4) {
        return;
    }
    bool was_blocking = subscriber->blocks_until_ms != 0;
    subscriber->block_spent = false;
    subscriber->blocks_until_ms = 0;
    subscriber->told_slow = false;
    if (was_blocking && sw->blocked_count > 0) {
        switch_unblock(sw);
    }
}
